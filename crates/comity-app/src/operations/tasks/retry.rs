//! Tries a failed task again.

use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Retry a failed task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRetry {
    /// Id of the task
    pub id: String,
}

impl Operation for TaskRetry {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, TaskAct::Retry)
    }
}
