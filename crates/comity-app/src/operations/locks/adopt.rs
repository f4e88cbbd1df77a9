//! Takes orphaned work over.

use clap::Args;
use comity_core::Ask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LockChanges, changed, must_name_paths, stored_reason};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Takes over uncommitted work that somebody left: its orphaned locks become yours, and its files stay as they are.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Adopt {
    /// Every orphaned lock that overlaps one of these
    #[arg(required = true, value_name = "PATH")]
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// Why, for the log
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for Adopt {
    const NAME: &'static str = "adopt";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/coordination/locks/adopt" };
    const COMMAND: &'static [&'static str] = &["adopt"];
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let finish = |events: &[_]| changed("adopted", events);
        if let Some(events) = app.answered(caller) {
            return Ok(Plan::Answer(finish(&events)));
        }
        let place = app.projects().place(caller)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let asks = vec![Ask::Adopt { project, patterns, reason: stored_reason(self.reason), into: vec![] }];
        Ok(Plan::Change { asks, finish: Box::new(move |events: &[_], _: &_, _| finish(events)) })
    }
}
