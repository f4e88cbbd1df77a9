//! Tasks: what there is to do, in which order, and whose it is.
//!
//! Whether a task is pending, ready or blocked is a function of the graph ([`graph`]); everything else is a state
//! that an event put it in. A task is done only when somebody says so, with evidence.

mod acts;
mod ask;
mod assign;
mod claim;
mod declare;
mod event;
mod feature;
pub mod graph;
mod invariants;
mod notices;
mod past;
mod refusal;
mod similar;
mod steer;
mod table;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{Principal, ProjectId};
use crate::paths::PathPattern;
use crate::roles::DEFAULT_ROLE;
use crate::time::Timestamp;

use acts::decide;
pub use ask::{BriefChange, TaskAct, TaskAsk, TaskDraft, TaskRef};
pub(crate) use assign::ready_for;
pub use assign::{Opening, openings};
pub(crate) use assign::{WAIT_RULES, given_to, in_the_way, must_be_open, without_anybody};
pub(crate) use claim::{ended_events, unstarted_events};
pub use event::{NewTask, ReturnCause, TaskEvent};
pub(crate) use feature::{ASSIGNMENT, STUCK};
pub use graph::Readiness;
pub use invariants::check;
pub use notices::TaskTold;
pub use past::{AttemptEnd, PastAttempt};
pub use refusal::TaskRefusal;
pub use similar::{Similarity, likeness};
pub(crate) use table::TaskFacts;
use table::apply;
pub use table::{IdleAgent, TaskTable};

/// What a task is about, as declared.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Brief {
    /// In a few words.
    pub title: Box<str>,
    /// In full.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: Box<str>,
    /// Who can do it; a developer if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Box<str>>,
    /// The team that it is for; anybody if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<Box<str>>,
    pub priority: Priority,
    /// What it will change: locked while it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathPattern>,
    /// Whether somebody else has to accept the work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub review: bool,
}

/// Which of several tasks goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    Urgent,
    High,
    #[default]
    Normal,
    /// When there is nothing else to do.
    Low,
}

/// Something to do: its dependencies, its owner, and its result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// An older task has a smaller one.
    pub number: u64,
    pub project: ProjectId,
    /// Unique in the project.
    pub id: Box<str>,
    pub brief: Brief,
    /// The tasks that come first, by number. Those that are no longer remembered ended long ago.
    pub depends_on: BTreeSet<u64>,
    pub creator: Principal,
    pub since: Timestamp,
    /// The number of the current or next claim; acts with an earlier one are refused.
    pub attempt: u32,
    /// How many claimants were lost since it was declared, retried or reopened.
    pub lost: u32,
    /// The newest failed attempts, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub past: Vec<PastAttempt>,
    pub state: TaskState,
    /// What the graph says, kept up to date.
    #[serde(skip)]
    pub(crate) standing: Readiness,
}

/// Where a task is in its life cycle.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum TaskState {
    /// Nobody works on it: pending, ready or blocked, as the graph says.
    Open {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        claim: Option<Claim>,
    },
    Running {
        by: Principal,
        since: Timestamp,
    },
    /// The work is done, and somebody else has to accept it.
    InReview {
        by: Principal,
        evidence: Box<str>,
        since: Timestamp,
    },
    Paused {
        /// Who goes on with it later.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        owner: Option<Principal>,
        since: Timestamp,
    },
    /// Final, unless it is reopened.
    Done {
        by: Principal,
        evidence: Box<str>,
        at: Timestamp,
    },
    /// It can be retried.
    Failed {
        reason: Box<str>,
        at: Timestamp,
    },
    /// It need not be done; what depends on it goes on. Final, unless it is reopened.
    Skipped {
        by: Principal,
        at: Timestamp,
    },
    /// It is not wanted; what depends on it cannot go on. Final, unless it is reopened.
    Cancelled {
        by: Principal,
        at: Timestamp,
    },
}

/// Somebody has claimed a task.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    pub by: Principal,
    pub since: Timestamp,
    /// When it goes to somebody else, if it was assigned automatically and is not started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_by: Option<Timestamp>,
}

/// A task's state, in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TaskStatus {
    /// Something has to be done first.
    Pending,
    Ready,
    /// Something that has to be done first failed or was cancelled.
    Blocked,
    Running,
    /// Somebody has to accept the work.
    InReview,
    Paused,
    Done,
    Failed,
    /// It need not be done.
    Skipped,
    /// It is not wanted.
    Cancelled,
}

impl TaskStatus {
    /// In the order of a board.
    pub const ALL: [TaskStatus; 10] = [
        TaskStatus::Pending,
        TaskStatus::Ready,
        TaskStatus::Blocked,
        TaskStatus::Running,
        TaskStatus::InReview,
        TaskStatus::Paused,
        TaskStatus::Done,
        TaskStatus::Failed,
        TaskStatus::Skipped,
        TaskStatus::Cancelled,
    ];

    pub fn word(self) -> &'static str {
        match self {
            TaskStatus::Pending => "pending",
            TaskStatus::Ready => "ready",
            TaskStatus::Blocked => "blocked",
            TaskStatus::Running => "running",
            TaskStatus::InReview => "in review",
            TaskStatus::Paused => "paused",
            TaskStatus::Done => "done",
            TaskStatus::Failed => "failed",
            TaskStatus::Skipped => "skipped",
            TaskStatus::Cancelled => "cancelled",
        }
    }
}

impl Priority {
    pub fn word(self) -> &'static str {
        match self {
            Priority::Urgent => "urgent",
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        }
    }
}

impl TaskState {
    /// Whether it is final, unless reopened.
    pub fn is_terminal(&self) -> bool {
        matches!(self, TaskState::Done { .. } | TaskState::Skipped { .. } | TaskState::Cancelled { .. })
    }

    pub fn claim(&self) -> Option<Claim> {
        if let TaskState::Open { claim } = self { *claim } else { None }
    }

    /// Who has it: claimed it, works on it, or goes on with it later.
    pub fn owner(&self) -> Option<Principal> {
        match self {
            TaskState::Open { claim } => claim.map(|claim| claim.by),
            TaskState::Running { by, .. } => Some(*by),
            TaskState::Paused { owner, .. } => *owner,
            TaskState::InReview { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Skipped { .. }
            | TaskState::Cancelled { .. } => None,
        }
    }

    /// Whose work it is or was, as shown.
    pub fn worker(&self) -> Option<Principal> {
        match self {
            TaskState::InReview { by, .. } | TaskState::Done { by, .. } => Some(*by),
            TaskState::Open { .. }
            | TaskState::Running { .. }
            | TaskState::Paused { .. }
            | TaskState::Failed { .. }
            | TaskState::Skipped { .. }
            | TaskState::Cancelled { .. } => self.owner(),
        }
    }
}

impl Task {
    pub fn status(&self) -> TaskStatus {
        match &self.state {
            TaskState::Open { .. } => match self.standing {
                Readiness::Pending => TaskStatus::Pending,
                Readiness::Ready => TaskStatus::Ready,
                Readiness::Blocked => TaskStatus::Blocked,
            },
            TaskState::Running { .. } => TaskStatus::Running,
            TaskState::InReview { .. } => TaskStatus::InReview,
            TaskState::Paused { .. } => TaskStatus::Paused,
            TaskState::Done { .. } => TaskStatus::Done,
            TaskState::Failed { .. } => TaskStatus::Failed,
            TaskState::Skipped { .. } => TaskStatus::Skipped,
            TaskState::Cancelled { .. } => TaskStatus::Cancelled,
        }
    }

    pub fn name(&self) -> TaskRef {
        TaskRef { project: self.project, task: self.id.clone() }
    }

    /// The role that can do it.
    pub fn role(&self) -> &str {
        self.brief.role.as_deref().unwrap_or(DEFAULT_ROLE)
    }

    /// Whether its owner works on it, or is about to.
    pub fn is_taken(&self) -> bool {
        self.state.claim().is_some() || matches!(self.state, TaskState::Running { .. })
    }

    pub(crate) fn shares_files_with(&self, other: &Task) -> bool {
        self.project == other.project
            && self
                .brief
                .files
                .iter()
                .any(|mine| other.brief.files.iter().any(|theirs| crate::paths::overlaps(mine, theirs)))
    }
}
