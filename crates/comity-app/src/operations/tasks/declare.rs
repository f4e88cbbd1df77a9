//! Declares many tasks at once.

use super::add::{TaskAdd, TasksAdded, declare_all};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Declare many tasks at once, all or none, in any order; cycles are refused with their path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskDeclare {
    /// A JSON or TOML document with a list of tasks; - is standard input
    pub tasks: Tasks,
}

/// A list of tasks.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Tasks(pub Vec<TaskAdd>);

impl Operation for TaskDeclare {
    type Output = TasksAdded;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TasksAdded>, Failure> {
        declare_all(app, caller, self.tasks.0)
    }
}
