//! Gives a lease back.

use clap::Args;
use comity_core::Ask;
use comity_core::pools::PoolAsk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LeaseChange, changed, meant, stored_reason};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Gives a lease back; whoever waits gets it at once.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct LeaseFree {
    /// The pool, or the lease's number
    #[arg(value_name = "POOL|ID")]
    pub lease: String,
    /// Why, for its holder, if it is not yours
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for LeaseFree {
    const NAME: &'static str = "lease_free";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/leases/free" };
    const COMMAND: &'static [&'static str] = &["lease", "free"];
    type Output = LeaseChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LeaseChange>, Failure> {
        let finish = |events: &[_]| changed("freed", events);
        if let Some(events) = app.answered(caller) {
            return Ok(Plan::Answer(finish(&events)));
        }
        let slot = meant(&app.engine().world(), caller.who, &self.lease)?;
        let asks = vec![Ask::Pool(PoolAsk::Free { slot, reason: stored_reason(self.reason) })];
        Ok(Plan::Change { asks, finish: Box::new(move |events: &[_], _: &_, _| finish(events)) })
    }
}
