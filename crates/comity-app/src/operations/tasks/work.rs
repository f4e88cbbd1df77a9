//! What the owner of a task says of its work: started, done, failed.

use clap::Args;
use comity_core::limits;
use comity_core::redact::redact;
use comity_core::tasks::Act;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{TaskChange, act};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Begins to work on a task: takes it, if nobody has it, and locks its files, all or none.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct TaskStart {
    /// Which
    #[arg(value_name = "ID")]
    pub id: String,
    /// The number of your claim: refused if it is not the current one
    #[arg(long, value_name = "NUMBER")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}

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

impl Operation for TaskStart {
    const NAME: &'static str = "task_start";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tasks/{id}/start" };
    const COMMAND: &'static [&'static str] = &["task", "start"];
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let start = start(app, caller)?;
        act(app, caller, &self.id, self.attempt, start)
    }
}

/// The start of a task, with locks that last as long as others of the project.
pub(super) fn start(app: &Application, caller: &Caller) -> Result<Act, Failure> {
    let ttl = app.projects().place(caller)?.settings()?.lock.ttl.or(app.config().lock.ttl);
    Ok(Act::Start { ttl: ttl.map_or(limits::LOCK_TTL, |span| span.0) })
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
