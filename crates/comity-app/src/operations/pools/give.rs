//! Hands a lease over.

use comity_core::pools::PoolAsk;
use comity_core::{Ask, Principal};

use super::{LeaseChange, changed, meant, stored_reason};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Hand a lease over to another agent, which is told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseGive {
    /// The pool, or the lease's number
    pub lease: String,
    /// The agent's name or id; "human" for the person
    pub to: String,
    /// Why, for the new holder
    pub reason: Option<String>,
}

impl Operation for LeaseGive {
    type Output = LeaseChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LeaseChange>, Failure> {
        let finish = |events: &[_]| changed("handed over", events);
        if let Some(events) = app.answered(caller) {
            return Ok(Plan::Answer(finish(&events)));
        }
        let world = app.engine().world();
        let slot = meant(&world, caller.who, &self.lease)?;
        let to = match self.to.as_str() {
            "human" => Principal::Human,
            name => Principal::Agent(world.agents.find(name)?.id),
        };
        let asks = vec![Ask::Pool(PoolAsk::HandOver { slot, to, reason: stored_reason(self.reason) })];
        Ok(Plan::change(asks, move |events: &[_], _: &_, _| finish(events)))
    }
}
