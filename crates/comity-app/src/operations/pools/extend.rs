//! Gives a lease more time.

use comity_core::Ask;
use comity_core::pools::PoolAsk;

use super::{LeaseChange, changed, meant};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::span::Span;

/// Give a lease more time, counted from now.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseExtend {
    /// The pool, or the lease's number
    pub lease: String,
    /// How long from now, such as 1h
    pub ttl: Span,
}

impl Operation for LeaseExtend {
    type Output = LeaseChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LeaseChange>, Failure> {
        let slot = meant(&app.engine().world(), caller.who, &self.lease)?;
        let asks = vec![Ask::Pool(PoolAsk::Extend { slot, ttl: self.ttl.0 })];
        Ok(Plan::change(asks, |events: &[_], _: &_, _| changed("extended", events)))
    }
}
