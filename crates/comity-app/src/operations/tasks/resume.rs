//! Resumes a paused task.

use comity_core::tasks::TaskAct;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Resume a paused task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskResume {
    /// Id of the task
    pub id: String,
}

impl Operation for TaskResume {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, TaskAct::Resume)
    }
}
