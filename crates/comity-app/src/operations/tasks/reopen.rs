//! Reopens a task that had ended.

use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Reopen a task that is done, failed, skipped or cancelled. Tasks that started after it continue.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskReopen {
    /// Id of the task
    pub id: String,
}

impl Operation for TaskReopen {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, TaskAct::Reopen)
    }
}
