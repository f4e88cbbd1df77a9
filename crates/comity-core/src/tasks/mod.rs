//! Tasks: what there is to do, in which order, and whose it is.
//!
//! Whether a task is pending, ready or blocked is a function of the graph ([`graph`]); everything else is a state that
//! an event put it in. A task is done only by somebody who says so, with evidence.

mod acts;
mod ask;
mod assign;
mod claim;
mod declare;
mod event;
pub mod graph;
pub(crate) mod invariants;
mod notices;
mod similar;
mod steer;
mod table;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{Principal, ProjectId};
use crate::paths::PathPattern;
use crate::roles::DEFAULT_ROLE;
use crate::time::Timestamp;

pub(crate) use acts::decide;
pub use ask::{Act, Draft, TaskAsk, TaskRef};
pub use assign::{Opening, openings};
pub(crate) use assign::{need, next_assignment, next_stuck, seekers};
pub(crate) use claim::{ended_events, unstarted_events};
pub use event::{NewTask, ReturnCause, TaskEvent};
pub use graph::Standing;
pub use notices::TaskTold;
pub use similar::{Likeness, likeness};
pub use table::{Seeker, Tasks};
pub(crate) use table::{TaskFacts, apply};

/// What a task is about, as it was declared.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Brief {
    /// What is to be done, in a few words.
    pub title: Box<str>,
    /// What is to be done, in full.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub description: Box<str>,
    /// Who can do it; a developer, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Box<str>>,
    /// The team that it is for; anybody, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<Box<str>>,
    /// Which of several goes first.
    pub priority: Priority,
    /// What it is going to change: locked while it runs.
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
    /// Before all others.
    Urgent,
    /// Early.
    High,
    /// As usual.
    #[default]
    Normal,
    /// When nothing else is to be done.
    Low,
}

/// One task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// A number that grows; an older task has a smaller one.
    pub number: u64,
    /// In which project.
    pub project: ProjectId,
    /// Its name, unique in the project.
    pub id: Box<str>,
    /// What it is about.
    pub brief: Brief,
    /// The numbers of the tasks that come first. One that is no longer remembered ended long ago.
    pub depends_on: BTreeSet<u64>,
    /// Who declared it.
    pub creator: Principal,
    /// Since when.
    pub since: Timestamp,
    /// The number of the present or next claim; an act of an earlier one is refused.
    pub attempt: u32,
    /// How many claimants were lost since it was declared, retried or reopened.
    pub lost: u32,
    /// Where it is.
    pub state: State,
    /// What the graph says of it, kept up to date.
    #[serde(skip)]
    pub(crate) standing: Standing,
}

/// Where a task is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum State {
    /// Nobody works on it: pending, ready or blocked, as the graph says.
    Open {
        /// Who is going to.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        claim: Option<Claim>,
    },
    /// Somebody works on it.
    Running {
        /// Who.
        by: Principal,
        /// Since when.
        since: Timestamp,
    },
    /// The work is there, and somebody else has to accept it.
    InReview {
        /// Whose work.
        by: Principal,
        /// What shows that it is done.
        evidence: Box<str>,
        /// Since when.
        since: Timestamp,
    },
    /// It is not to be worked on for now.
    Paused {
        /// Who goes on with it later.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        owner: Option<Principal>,
        /// Since when.
        since: Timestamp,
    },
    /// It was done. Final, unless it is reopened.
    Done {
        /// Whose work.
        by: Principal,
        /// What shows it.
        evidence: Box<str>,
        /// When.
        at: Timestamp,
    },
    /// It was tried in vain; it can be retried.
    Failed {
        /// Why.
        reason: Box<str>,
        /// When.
        at: Timestamp,
    },
    /// It need not be done; what depends on it goes on. Final, unless it is reopened.
    Skipped {
        /// Who said so.
        by: Principal,
        /// When.
        at: Timestamp,
    },
    /// It is not wanted; what depends on it cannot go on. Final, unless it is reopened.
    Cancelled {
        /// Who said so.
        by: Principal,
        /// When.
        at: Timestamp,
    },
}

/// Somebody is going to work on a task.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Who.
    pub by: Principal,
    /// Since when.
    pub since: Timestamp,
    /// When it goes to somebody else, if it was given by code and is not started.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_by: Option<Timestamp>,
}

/// Where a task is, in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// Something has to be done first.
    Pending,
    /// It can be started.
    Ready,
    /// Something that has to be done first failed or was cancelled.
    Blocked,
    /// Somebody works on it.
    Running,
    /// Somebody has to accept the work.
    InReview,
    /// It is not to be worked on for now.
    Paused,
    /// It was done.
    Done,
    /// It was tried in vain.
    Failed,
    /// It need not be done.
    Skipped,
    /// It is not wanted.
    Cancelled,
}

impl Status {
    /// All, in the order of a board.
    pub const ALL: [Status; 10] = [
        Status::Pending,
        Status::Ready,
        Status::Blocked,
        Status::Running,
        Status::InReview,
        Status::Paused,
        Status::Done,
        Status::Failed,
        Status::Skipped,
        Status::Cancelled,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Ready => "ready",
            Status::Blocked => "blocked",
            Status::Running => "running",
            Status::InReview => "in review",
            Status::Paused => "paused",
            Status::Done => "done",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Cancelled => "cancelled",
        }
    }
}

impl Priority {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Priority::Urgent => "urgent",
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        }
    }
}

impl State {
    /// Whether nothing follows, unless it is reopened.
    pub fn is_terminal(&self) -> bool {
        matches!(self, State::Done { .. } | State::Skipped { .. } | State::Cancelled { .. })
    }

    /// Who is going to work on it.
    pub fn claim(&self) -> Option<Claim> {
        if let State::Open { claim } = self { *claim } else { None }
    }

    /// Who has it: who is going to work on it, does so, or goes on with it later.
    pub fn owner(&self) -> Option<Principal> {
        match self {
            State::Open { claim } => claim.map(|claim| claim.by),
            State::Running { by, .. } => Some(*by),
            State::Paused { owner, .. } => *owner,
            State::InReview { .. }
            | State::Done { .. }
            | State::Failed { .. }
            | State::Skipped { .. }
            | State::Cancelled { .. } => None,
        }
    }

    /// Whose work it is or was, as people read it.
    pub fn worker(&self) -> Option<Principal> {
        match self {
            State::InReview { by, .. } | State::Done { by, .. } => Some(*by),
            State::Open { .. }
            | State::Running { .. }
            | State::Paused { .. }
            | State::Failed { .. }
            | State::Skipped { .. }
            | State::Cancelled { .. } => self.owner(),
        }
    }
}

impl Task {
    /// Where it is, in a word.
    pub fn status(&self) -> Status {
        match &self.state {
            State::Open { .. } => match self.standing {
                Standing::Pending => Status::Pending,
                Standing::Ready => Status::Ready,
                Standing::Blocked => Status::Blocked,
            },
            State::Running { .. } => Status::Running,
            State::InReview { .. } => Status::InReview,
            State::Paused { .. } => Status::Paused,
            State::Done { .. } => Status::Done,
            State::Failed { .. } => Status::Failed,
            State::Skipped { .. } => Status::Skipped,
            State::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// Its name in asks and events.
    pub fn name(&self) -> TaskRef {
        TaskRef { project: self.project, task: self.id.clone() }
    }

    /// The role that can do it.
    pub fn role(&self) -> &str {
        self.brief.role.as_deref().unwrap_or(DEFAULT_ROLE)
    }

    /// Whether somebody has it who is at work on it, or is about to be.
    pub fn is_taken(&self) -> bool {
        self.state.claim().is_some() || matches!(self.state, State::Running { .. })
    }

    /// Whether both want to change the same file.
    pub(crate) fn shares_files_with(&self, other: &Task) -> bool {
        self.project == other.project
            && self
                .brief
                .files
                .iter()
                .any(|mine| other.brief.files.iter().any(|theirs| crate::paths::overlaps(mine, theirs)))
    }
}
