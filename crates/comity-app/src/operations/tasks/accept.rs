//! Accepts work that is in review.

use comity_core::tasks::TaskAct;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

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
