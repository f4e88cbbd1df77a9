//! Sends work back that is in review.

use comity_core::redact::redact;
use comity_core::tasks::TaskAct;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Send someone else's work in review back, saying what must change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSendBack {
    /// Id of the task
    pub id: String,
    /// What must change
    pub reason: String,
}

impl Operation for TaskSendBack {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        act(app, caller, &self.id, None, TaskAct::SendBack { reason: redact(&self.reason).into() })
    }
}
