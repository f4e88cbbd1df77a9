//! Accepts work in review.

use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Accept someone else's work that is in review.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskAccept {
    /// Id of the task
    pub id: String,
}

impl Operation for TaskAccept {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, TaskAct::Accept)
    }
}
