//! Gives a task to somebody.

use clap::Args;
use comity_core::tasks::Act;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::owner;
use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Gives a task to an agent, which is told; whoever has it loses it: for who declared it, leaders and people.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskAssign {
    /// Which
    #[arg(value_name = "ID")]
    pub id: String,
    /// The agent's name or id; "human" for the person
    #[arg(value_name = "AGENT")]
    pub to: String,
}

impl Operation for TaskAssign {
    const NAME: &'static str = "task_assign";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tasks/{id}/assign" };
    const COMMAND: &'static [&'static str] = &["task", "assign"];
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let to = owner(&app.engine().world(), caller, &self.to)?;
        act(app, caller, &self.id, None, Act::Assign { to })
    }
}
