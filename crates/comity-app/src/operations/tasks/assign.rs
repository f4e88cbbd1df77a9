//! Assigns a task.

use comity_core::tasks::TaskAct;

use super::list::owner;
use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Assign a task to an agent, which is told; whoever has it loses it. For whoever declared it, leaders and people.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskAssign {
    /// Id of the task
    pub id: String,
    /// The agent's name or id; "human" for the person
    pub to: String,
}

impl Operation for TaskAssign {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let to = owner(&app.engine().world(), caller, &self.to)?;
        act(app, caller, &self.id, None, TaskAct::Assign { to })
    }
}
