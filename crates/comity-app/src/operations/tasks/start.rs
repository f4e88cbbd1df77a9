//! Starts a task.

use comity_core::limits;
use comity_core::tasks::TaskAct;

use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Start work on a task: take it, if nobody has it, and lock its files, all or none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskStart {
    /// Id of the task
    pub id: String,
    /// The number of your claim: refused if it is not the current one
    pub attempt: Option<u32>,
}

impl Operation for TaskStart {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let start = start(app, caller)?;
        act(app, caller, &self.id, self.attempt, start)
    }
}

/// The start of a task, with locks that last as long as others of the project.
pub(super) fn start(app: &Application, caller: &Caller) -> Result<TaskAct, Failure> {
    let ttl = app.projects().place(caller)?.settings()?.lock.ttl.or(app.config().lock.ttl);
    Ok(TaskAct::Start { ttl: ttl.map_or(limits::LOCK_TTL, |span| span.0) })
}
