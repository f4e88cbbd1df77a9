//! Reports that a task cannot be done.

use comity_core::redact::redact;
use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Report that your task can't be done; your leader is told, and whatever depends on it is blocked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFail {
    /// Id of the task
    pub id: String,
    /// What stands in the way
    pub reason: String,
    /// The number of your claim: refused if it is not the current one
    pub attempt: Option<u32>,
}

impl Operation for TaskFail {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let fail = TaskAct::Fail { reason: redact(&self.reason).into() };
        act(app, caller, &self.id, self.attempt, fail)
    }
}
