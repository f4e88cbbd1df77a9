//! Gives a lease more time.

use clap::Args;
use comity_core::Ask;
use comity_core::pools::PoolAsk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LeaseChange, changed, meant};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::span::Span;

/// Gives a lease more time, counted from now.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct LeaseExtend {
    /// The pool, or the lease's number
    #[arg(value_name = "POOL|ID")]
    pub lease: String,
    /// How long it lasts from now on, such as 1h
    #[arg(long, value_name = "SPAN")]
    pub ttl: Span,
}

impl Operation for LeaseExtend {
    const NAME: &'static str = "lease_extend";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/leases/extend" };
    const COMMAND: &'static [&'static str] = &["lease", "extend"];
    type Output = LeaseChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LeaseChange>, Failure> {
        let slot = meant(&app.engine().world(), caller.who, &self.lease)?;
        let asks = vec![Ask::Pool(PoolAsk::Extend { slot, ttl: self.ttl.0 })];
        Ok(Plan::Change { asks, finish: Box::new(|events: &[_], _: &_, _| changed("extended", events)) })
    }
}
