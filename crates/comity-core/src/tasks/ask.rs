//! What can be asked about tasks.

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

/// A task that is to be declared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskDraft {
    /// Its name; one is made if there is none.
    pub id: Option<Box<str>>,
    pub brief: Brief,
    /// What comes first: tasks that are there, or that are declared with it.
    pub depends_on: Vec<Box<str>>,
}

/// What of a task is said anew.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BriefChange {
    pub title: Option<Box<str>>,
    /// All that it is going to change.
    pub files: Option<Vec<PathPattern>>,
}

/// What can be asked about tasks.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskAsk {
    /// Declares tasks, all or none, in any order.
    Declare { project: ProjectId, tasks: Vec<TaskDraft> },
    /// Lets a task wait for further ones, or changes what it says.
    Link { on: TaskRef, depends_on: Vec<Box<str>>, change: BriefChange },
    /// Claims the task that is most worth doing.
    ClaimNext { project: ProjectId },
    /// Does something with one task.
    Act {
        on: TaskRef,
        /// The claim that the caller means; the present one, if nothing is said.
        attempt: Option<u32>,
        act: TaskAct,
    },
    /// The calling agent waits for work.
    Seek { project: ProjectId, wait: Millis },
    /// The calling agent waits no more: it takes what it was given, if something was.
    Take,
}

/// What can be done with a task.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskAct {
    /// Takes it, if it is ready and nobody has it.
    Claim,
    /// Begins to work on it, with its files locked; takes it first, if nobody has it.
    Start {
        /// How long the locks last without a sign of life.
        ttl: Millis,
    },
    /// Says that it is done.
    Done {
        evidence: Box<str>,
    },
    /// Says that it cannot be done.
    Fail {
        reason: Box<str>,
    },
    /// Gives it back, for somebody else.
    GiveBack,
    /// Accepts the work of somebody else.
    Accept,
    /// Does not accept the work of somebody else.
    SendBack {
        reason: Box<str>,
    },
    Assign {
        to: Principal,
    },
    /// Lets nobody work on it for now.
    Pause,
    Resume,
    Retry,
    /// Takes an ended one back.
    Reopen,
    /// It need not be done.
    Skip,
    /// It is not wanted.
    Cancel,
}
