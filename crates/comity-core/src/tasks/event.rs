//! What happened to tasks.

use serde::{Deserialize, Serialize};

use super::{Brief, Similarity, TaskRef};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::paths::PathPattern;
use crate::time::Millis;

/// A task as it was declared.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    pub number: u64,
    pub id: Box<str>,
    pub brief: Brief,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub depends_on: Vec<Box<str>>,
}

/// Why a task is nobody's again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnCause {
    /// Its owner gave it back.
    GivenBack,
    OwnerEnded,
    /// Its owner did not start it in time.
    NotStarted,
}

/// What happened to tasks. Whoever has to be told besides the owner is named: the leader, by `tell`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TaskEvent {
    Declared {
        project: ProjectId,
        tasks: Vec<NewTask>,
    },
    /// A task waits for further ones, or says something else.
    Linked {
        #[serde(flatten)]
        on: TaskRef,
        depends_on: Vec<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Box<str>>,
        /// All that it is going to change.
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
    /// A task was given to somebody.
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
    /// Work on a task began; its files are locked.
    Started {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        /// The number of the claim.
        attempt: u32,
    },
    /// The work is there, and somebody else has to accept it.
    Reported {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        /// The number of the claim.
        attempt: u32,
        evidence: Box<str>,
        /// Who has to be told.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    Completed {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        /// The number of the claim.
        attempt: u32,
        evidence: Box<str>,
    },
    /// The work was not accepted.
    SentBack {
        #[serde(flatten)]
        on: TaskRef,
        /// Who goes on with it, if somebody does.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        owner: Option<Principal>,
        /// The number of the next claim.
        attempt: u32,
        reason: Box<str>,
    },
    /// A task is nobody's again.
    Returned {
        #[serde(flatten)]
        on: TaskRef,
        from: Principal,
        /// The number of the next claim.
        attempt: u32,
        cause: ReturnCause,
    },
    /// A task was tried in vain.
    Failed {
        #[serde(flatten)]
        on: TaskRef,
        by: Principal,
        /// The number of the claim.
        attempt: u32,
        reason: Box<str>,
        /// Who has to be told.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    /// Nobody is to work on it for now.
    Paused {
        #[serde(flatten)]
        on: TaskRef,
    },
    Resumed {
        #[serde(flatten)]
        on: TaskRef,
    },
    /// What failed is tried again.
    Retried {
        #[serde(flatten)]
        on: TaskRef,
        /// The number of the next claim.
        attempt: u32,
    },
    /// An ended one was taken back. What was begun because of its end goes on.
    Reopened {
        #[serde(flatten)]
        on: TaskRef,
        /// The number of the next claim.
        attempt: u32,
        /// What depends on it and was begun already.
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
        /// Who has to be told.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    /// An agent waits for work.
    Sought {
        agent: AgentId,
        project: ProjectId,
        wait: Millis,
    },
    /// An agent waits for work no more.
    GaveUp {
        agent: AgentId,
        /// The cycle it was part of, if the wait was ended for it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        deadlock: Option<Box<str>>,
    },
}

impl TaskEvent {
    /// The task that it is about, if it is about one.
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
