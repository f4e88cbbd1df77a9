//! Sends work in review back.

use comity_core::redact::redact;
use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

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
