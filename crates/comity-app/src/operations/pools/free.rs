//! Gives a lease back.

use comity_core::Ask;
use comity_core::pools::PoolAsk;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{LeaseChange, changed, meant, stored_reason};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Release a lease; whoever is waiting gets it at once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseFree {
    /// The pool, or the lease's number
    pub lease: String,
    /// Why, for its holder, if it is not yours
    pub reason: Option<String>,
}

impl Operation for LeaseFree {
    type Output = LeaseChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LeaseChange>, Failure> {
        let finish = |events: &[_]| changed("freed", events);
        if let Some(events) = app.answered(caller) {
            return Ok(Plan::Answer(finish(&events)));
        }
        let slot = meant(&app.engine().world(), caller.who, &self.lease)?;
        let asks = vec![Ask::Pool(PoolAsk::Free { slot, reason: stored_reason(self.reason) })];
        Ok(Plan::change(asks, move |events: &[_], _: &_, _| finish(events)))
    }
}
