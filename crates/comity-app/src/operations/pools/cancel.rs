//! Takes a request for space back.

use std::fmt;

use clap::Args;
use comity_core::pools::PoolAsk;
use comity_core::{Ask, Event};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::must_be_leased;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Takes back your request for space, or the reservation that you got.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct LeaseCancel {
    /// The pool
    #[arg(value_name = "POOL")]
    pub pool: String,
}

/// Whether there was something to take back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    /// Whether there was.
    pub cancelled: bool,
}

impl Operation for LeaseCancel {
    const NAME: &'static str = "lease_cancel";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/leases/cancel" };
    const COMMAND: &'static [&'static str] = &["lease", "cancel"];
    type Output = Cancelled;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Cancelled>, Failure> {
        must_be_leased(&app.engine().world(), &self.pool)?;
        let asks = vec![Ask::Pool(PoolAsk::CancelRequest { pool: self.pool.into() })];
        let finish = Box::new(|events: &[Event], _: &_, _| Cancelled {
            cancelled: events.iter().any(|event| matches!(event, Event::Pool(_))),
        });
        Ok(Plan::Change { asks, finish })
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.cancelled { "you wait no more" } else { "you had not asked for space" })
    }
}
