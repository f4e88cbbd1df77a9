//! What happened to tasks.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Brief, Readiness, Similarity, Task, TaskRef, TaskState};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::paths::PathPattern;
use crate::time::{Millis, Timestamp};

/// A task as declared.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    pub number: u64,
    pub id: Box<str>,
    pub brief: Brief,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub depends_on: Vec<Box<str>>,
}

impl NewTask {
    /// The task, open and without what comes first.
    pub(super) fn open(&self, project: ProjectId, creator: Principal, since: Timestamp) -> Task {
        Task {
            number: self.number,
            project,
            id: self.id.clone(),
            brief: self.brief.clone(),
            depends_on: BTreeSet::new(),
            creator,
            since,
            attempt: 1,
            lost: 0,
            past: Vec::new(),
            state: TaskState::Open { claim: None },
            standing: Readiness::default(),
        }
    }
}

/// Why a task has no owner again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnCause {
    GivenBack,
    OwnerEnded,
    NotStarted,
}

/// What happened to tasks. `tell` is the leader who has to be told, besides the owner.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TaskEvent {
    Declared {
        project: ProjectId,
        tasks: Vec<NewTask>,
    },
    /// A task depends on further ones, or its brief changed.
    Linked {
        #[serde(flatten)]
        on: TaskRef,
        depends_on: Vec<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<PathPattern>>,
    },
    Claimed {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        /// The number of this claim.
        attempt: u32,
    },
    Assigned {
        #[serde(flatten)]
        on: TaskRef,
        to: Principal,
        /// The number of this claim.
        attempt: u32,
        /// It goes to somebody else if it is not started by then.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        start_within: Option<Millis>,
    },
    /// Work on a task began, with its files locked.
    Started {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        attempt: u32,
    },
    /// The work is done, and has to be accepted.
    Reported {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        attempt: u32,
        evidence: Box<str>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    Completed {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        attempt: u32,
        evidence: Box<str>,
    },
    /// The work was rejected.
    SentBack {
        #[serde(flatten)]
        on: TaskRef,
        /// Who goes on with it, if anybody.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        owner: Option<Principal>,
        /// The number of the next claim.
        attempt: u32,
        reason: Box<str>,
    },
    /// A task has no owner again.
    Returned {
        #[serde(flatten)]
        on: TaskRef,
        from: Principal,
        /// The number of the next claim.
        attempt: u32,
        cause: ReturnCause,
    },
    Failed {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        attempt: u32,
        reason: Box<str>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    Paused {
        #[serde(flatten)]
        on: TaskRef,
    },
    Resumed {
        #[serde(flatten)]
        on: TaskRef,
    },
    /// A failed task is tried again.
    Retried {
        #[serde(flatten)]
        on: TaskRef,
        /// The number of the next claim.
        attempt: u32,
    },
    /// An ended task is open again. What was begun because of its end goes on.
    Reopened {
        #[serde(flatten)]
        on: TaskRef,
        /// The number of the next claim.
        attempt: u32,
        /// Tasks that depend on it and were begun.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        begun: Vec<Box<str>>,
    },
    /// It need not be done.
    Skipped {
        #[serde(flatten)]
        on: TaskRef,
    },
    /// It is not wanted.
    Cancelled {
        #[serde(flatten)]
        on: TaskRef,
    },
    /// Two tasks look like the same work.
    LooksLike {
        #[serde(flatten)]
        on: TaskRef,
        other: Box<str>,
        likeness: Similarity,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    /// An agent waits for work.
    Sought {
        agent: AgentId,
        project: ProjectId,
        wait: Millis,
    },
    /// An agent stopped waiting for work.
    GaveUp {
        agent: AgentId,
        /// The cycle that its wait was part of, if that ended it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        deadlock: Option<Box<str>>,
    },
}

impl TaskEvent {
    /// The task that it is about, if any.
    pub fn on(&self) -> Option<&TaskRef> {
        match self {
            TaskEvent::Declared { .. } | TaskEvent::Sought { .. } | TaskEvent::GaveUp { .. } => None,
            TaskEvent::Linked { on, .. }
            | TaskEvent::Claimed { on, .. }
            | TaskEvent::Assigned { on, .. }
            | TaskEvent::Started { on, .. }
            | TaskEvent::Reported { on, .. }
            | TaskEvent::Completed { on, .. }
            | TaskEvent::SentBack { on, .. }
            | TaskEvent::Returned { on, .. }
            | TaskEvent::Failed { on, .. }
            | TaskEvent::Paused { on }
            | TaskEvent::Resumed { on }
            | TaskEvent::Retried { on, .. }
            | TaskEvent::Reopened { on, .. }
            | TaskEvent::Skipped { on }
            | TaskEvent::Cancelled { on }
            | TaskEvent::LooksLike { on, .. } => Some(on),
        }
    }
}
