//! Withdraws a request for space.

use std::fmt;

use comity_core::pools::PoolAsk;
use comity_core::{Ask, Event};

use super::must_be_leased;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Withdraw your request for a lease, or give up the reservation you got.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseCancel {
    /// Name of the pool
    pub pool: String,
}

/// Whether there was something to take back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    pub cancelled: bool,
}

impl Operation for LeaseCancel {
    type Output = Cancelled;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Cancelled>, Failure> {
        must_be_leased(&app.engine().world(), &self.pool)?;
        let asks = vec![Ask::Pool(PoolAsk::CancelRequest { pool: self.pool.into() })];
        let finish = |events: &[Event], _: &_, _| Cancelled {
            cancelled: events.iter().any(|event| matches!(event, Event::Pool(_))),
        };
        Ok(Plan::change(asks, finish))
    }
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.cancelled { "you are no longer waiting" } else { "you had not asked for space" })
    }
}
