//! What happened to tasks.

use serde::{Deserialize, Serialize};

use super::{Brief, Likeness, TaskRef};
use crate::event::{EventType, durable, live};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::time::Millis;

/// A task as it was declared.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    /// Its number.
    pub number: u64,
    /// Its name.
    pub id: Box<str>,
    /// What it is about.
    pub brief: Brief,
    /// What comes first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub depends_on: Vec<Box<str>>,
}

/// Why a task is nobody's again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnCause {
    /// Its owner gave it back.
    GivenBack,
    /// Its owner ended.
    OwnerEnded,
    /// Its owner did not start it in time.
    NotStarted,
}

/// What happened to tasks. Whoever has to be told besides the owner is named: the leader, by `tell`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TaskEvent {
    /// Tasks were declared.
    Declared {
        /// In which project.
        project: ProjectId,
        /// All of them.
        tasks: Vec<NewTask>,
    },
    /// A task waits for further ones.
    Linked {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// What comes first, too.
        depends_on: Vec<Box<str>>,
    },
    /// Somebody took a task.
    Claimed {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Who.
        by: Principal,
        /// The number of this claim.
        attempt: u32,
    },
    /// A task was given to somebody.
    Assigned {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// To whom.
        to: Principal,
        /// The number of this claim.
        attempt: u32,
        /// It goes to somebody else if it is not started by then.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        start_within: Option<Millis>,
    },
    /// Work on a task began; its files are locked.
    Started {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Who works on it.
        by: Principal,
        /// The number of the claim.
        attempt: u32,
    },
    /// The work is there, and somebody else has to accept it.
    Reported {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Whose work.
        by: Principal,
        /// The number of the claim.
        attempt: u32,
        /// What shows that it is done.
        evidence: Box<str>,
        /// Who has to be told.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    /// A task was done.
    Completed {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Whose work.
        by: Principal,
        /// The number of the claim.
        attempt: u32,
        /// What shows it.
        evidence: Box<str>,
    },
    /// The work was not accepted.
    SentBack {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Who goes on with it, if somebody does.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        owner: Option<Principal>,
        /// The number of the next claim.
        attempt: u32,
        /// Why.
        reason: Box<str>,
    },
    /// A task is nobody's again.
    Returned {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Who had it.
        from: Principal,
        /// The number of the next claim.
        attempt: u32,
        /// Why.
        cause: ReturnCause,
    },
    /// A task was tried in vain.
    Failed {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// Who had it.
        by: Principal,
        /// The number of the claim.
        attempt: u32,
        /// Why.
        reason: Box<str>,
        /// Who has to be told.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    /// Nobody is to work on it for now.
    Paused {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
    },
    /// It goes on.
    Resumed {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
    },
    /// What failed is tried again.
    Retried {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// The number of the next claim.
        attempt: u32,
    },
    /// An ended one was taken back. What was begun because of its end goes on.
    Reopened {
        /// Which.
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
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
    },
    /// It is not wanted.
    Cancelled {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
    },
    /// Two tasks look like the same work.
    LooksLike {
        /// Which.
        #[serde(flatten)]
        on: TaskRef,
        /// The other one.
        other: Box<str>,
        /// How they are alike.
        likeness: Likeness,
        /// Who has to be told.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        tell: Option<AgentId>,
    },
    /// An agent waits for work.
    Sought {
        /// Which agent.
        agent: AgentId,
        /// In which project.
        project: ProjectId,
        /// How long at most.
        wait: Millis,
    },
    /// An agent waits for work no more.
    GaveUp {
        /// Which agent.
        agent: AgentId,
        /// The cycle it was part of, if the wait was ended for it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        deadlock: Option<Box<str>>,
    },
}

impl TaskEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            TaskEvent::Declared { .. } => durable("task_declared", "task:declared"),
            TaskEvent::Linked { .. } => durable("task_linked", "task:linked"),
            TaskEvent::Claimed { .. } => durable("task_claimed", "task:claimed"),
            TaskEvent::Assigned { .. } => durable("delegated", "task:assigned"),
            TaskEvent::Started { .. } => durable("task_started", "task:started"),
            TaskEvent::Reported { .. } => durable("task_reported", "task:in_review"),
            TaskEvent::Completed { .. } => durable("task_completed", "task:completed"),
            TaskEvent::SentBack { .. } => durable("task_sent_back", "task:sent_back"),
            TaskEvent::Returned { .. } => durable("delegation_cancelled", "task:returned"),
            TaskEvent::Failed { .. } => durable("task_failed", "task:failed"),
            TaskEvent::Paused { .. } => durable("task_paused", "task:paused"),
            TaskEvent::Resumed { .. } => durable("task_resumed", "task:resumed"),
            TaskEvent::Retried { .. } => durable("task_retried", "task:retried"),
            TaskEvent::Reopened { .. } => durable("task_reopened", "task:reopened"),
            TaskEvent::Skipped { .. } => durable("task_skipped", "task:skipped"),
            TaskEvent::Cancelled { .. } => durable("task_cancelled", "task:cancelled"),
            TaskEvent::LooksLike { .. } => durable("task_looks_like", "task:looks_like"),
            TaskEvent::Sought { .. } => live("task_sought", "task:sought"),
            TaskEvent::GaveUp { .. } => live("task_sought_in_vain", "task:sought_in_vain"),
        }
    }

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
