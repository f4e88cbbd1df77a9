//! Asks of tasks.

use serde::{Deserialize, Serialize};

use super::Brief;
use crate::ids::{Principal, ProjectId};
use crate::paths::PathPattern;
use crate::time::Millis;

/// A task by its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskRef {
    pub project: ProjectId,
    pub task: Box<str>,
}

/// A task to be declared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskDraft {
    /// Made up if `None`.
    pub id: Option<Box<str>>,
    pub brief: Brief,
    /// Tasks that come first: existing ones, or ones declared with it.
    pub depends_on: Vec<Box<str>>,
}

/// Changes to a task's brief.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BriefChange {
    pub title: Option<Box<str>>,
    pub files: Option<Vec<PathPattern>>,
}

/// Asks about tasks.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskAsk {
    /// All or none, in any order.
    Declare { project: ProjectId, tasks: Vec<TaskDraft> },
    /// Makes a task depend on further ones, or changes its brief.
    Link { on: TaskRef, depends_on: Vec<Box<str>>, change: BriefChange },
    /// Claims the task that is most worth doing.
    ClaimNext { project: ProjectId },
    Act {
        on: TaskRef,
        /// The claim that the caller means; `None` means the current one.
        attempt: Option<u32>,
        act: TaskAct,
    },
    /// The calling agent waits for work.
    Seek { project: ProjectId, wait: Millis },
    /// The calling agent stops waiting, and takes what it was given, if anything.
    Take,
}

/// What can be done with a task.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskAct {
    /// Takes it, if it is ready and nobody has it.
    Claim,
    /// Begins to work on it, with its files locked; claims it first, if nobody has it.
    Start {
        /// How long the locks last without a sign of life.
        ttl: Millis,
    },
    Done {
        evidence: Box<str>,
    },
    Fail {
        reason: Box<str>,
    },
    GiveBack,
    /// Accepts somebody else's work.
    Accept,
    /// Rejects somebody else's work.
    SendBack {
        reason: Box<str>,
    },
    Assign {
        to: Principal,
    },
    /// Nobody may work on it for now.
    Pause,
    Resume,
    Retry,
    /// Takes an ended one up again.
    Reopen,
    /// It need not be done.
    Skip,
    /// It is not wanted.
    Cancel,
}
