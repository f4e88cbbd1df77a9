//! Says that a task is done.

use clap::Args;
use comity_core::redact::redact;
use comity_core::tasks::Act;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Says that your task is done, with evidence: a commit, the tests that pass. Its files are unlocked.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskDone {
    /// Which
    #[arg(value_name = "ID")]
    pub id: String,
    /// What shows that it is done
    #[arg(long, value_name = "TEXT")]
    pub evidence: String,
    /// The number of your claim: refused if it is not the current one
    #[arg(long, value_name = "NUMBER")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

impl Operation for TaskDone {
    const NAME: &'static str = "task_done";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tasks/{id}/done" };
    const COMMAND: &'static [&'static str] = &["task", "done"];
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let done = Act::Done { evidence: redact(&self.evidence).into() };
        act(app, caller, &self.id, self.attempt, done)
    }
}
