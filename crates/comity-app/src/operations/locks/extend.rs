//! Gives locks more time.

use clap::Args;
use comity_core::Ask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LockChanges, changed, must_name_paths, stored_reason};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::span::Span;

/// Gives locks more time, counted from now: your own, those of agents you lead, or anybody's if you are the human.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Extend {
    /// Every lock that overlaps one of these
    #[arg(required = true, value_name = "PATH")]
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
    /// The time from now on, such as 30m
    #[arg(long, value_name = "SPAN")]
    pub ttl: Span,
    /// Why, for the holder
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for Extend {
    const NAME: &'static str = "extend";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/coordination/locks/extend" };
    const COMMAND: &'static [&'static str] = &["extend"];
    type Output = LockChanges;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockChanges>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place(caller)?;
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        let finish = Box::new(|events: &[_], _: &_, _| changed("extended", events));
        let asks =
            vec![Ask::Extend { project, patterns, ttl: self.ttl.0, reason: stored_reason(self.reason) }];
        Ok(Plan::Change { asks, finish })
    }
}
