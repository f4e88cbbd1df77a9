//! Shows one task.

use clap::Args;
use comity_core::tasks::TaskRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskView;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Shows one task in full.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskGet {
    /// Which
    #[arg(value_name = "ID")]
    pub id: String,
}

impl Operation for TaskGet {
    const NAME: &'static str = "task_get";
    const TOOL: &'static str = "TaskGet";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "GET", path: "/api/tasks/{id}" };
    const COMMAND: &'static [&'static str] = &["task", "get"];
    type Output = TaskView;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskView>, Failure> {
        let on = TaskRef { project: app.projects().place(caller)?.project(), task: self.id.into() };
        let now = app.engine().now();
        let world = app.engine().world();
        Ok(Plan::Answer(TaskView::of(world.tasks.find(&on)?, &world, now)))
    }
}
