//! Says that a task cannot be done.

use clap::Args;
use comity_core::redact::redact;
use comity_core::tasks::Act;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Says that your task cannot be done; your leader is told, and what depends on it is blocked.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskFail {
    /// Which
    #[arg(value_name = "ID")]
    pub id: String,
    /// What stands in the way
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The number of your claim: refused if it is not the current one
    #[arg(long, value_name = "NUMBER")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

impl Operation for TaskFail {
    const NAME: &'static str = "task_fail";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tasks/{id}/fail" };
    const COMMAND: &'static [&'static str] = &["task", "fail"];
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let fail = Act::Fail { reason: redact(&self.reason).into() };
        act(app, caller, &self.id, self.attempt, fail)
    }
}
