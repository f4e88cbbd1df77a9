//! Reports a task as done.

use comity_core::redact::redact;
use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Report your task as done, with evidence: a commit, the tests that pass. Its files are unlocked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskDone {
    /// Id of the task
    pub id: String,
    /// What shows that it is done
    pub evidence: String,
    /// The number of your claim: refused if it is not the current one
    pub attempt: Option<u32>,
}

impl Operation for TaskDone {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let done = TaskAct::Done { evidence: redact(&self.evidence).into() };
        act(app, caller, &self.id, self.attempt, done)
    }
}
