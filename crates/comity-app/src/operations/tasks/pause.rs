//! Pauses a task.

use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Pause a task: nobody works on it for now; its owner keeps it, and its files are unlocked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPause {
    /// Id of the task
    pub id: String,
}

impl Operation for TaskPause {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, TaskAct::Pause)
    }
}
