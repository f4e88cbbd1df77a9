//! Gives a lease back.

use comity_core::pools::{PoolAsk, SlotId};
use comity_core::{Ask, Principal, Refusal, World};

use super::{LeaseChange, ListLeases, changed, meant, stored_reason};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::tasks::owner;

/// Release a lease to whoever is waiting.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseFree {
    /// The pool, or the lease's number
    pub lease: String,
    /// Whose lease, if it isn't yours
    pub from: Option<String>,
    /// Why, for its holder, if it isn't yours
    pub reason: Option<String>,
}

/// The lease that is meant; refused unless it belongs to this owner.
fn of_whom(world: &World, from: Principal, lease: &str) -> Result<SlotId, Refusal> {
    let slot = meant(world, from, lease)?;
    let owner = world.pools.slot(slot).map(|(_, slot)| slot.owner);
    match owner.filter(|owner| *owner != from) {
        None => Ok(slot),
        Some(owner) => Err(Refusal::NotAllowed {
            problem: format!("lease {slot} is {}'s", world.name_of(owner)),
            hint: format!("see whose they are with: {}", next_call::<ListLeases>([])),
        }),
    }
}

impl Operation for LeaseFree {
    type Output = LeaseChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LeaseChange>, Failure> {
        let finish = |events: &[_]| changed("freed", events);
        if let Some(events) = app.answered(caller) {
            return Ok(Plan::Answer(finish(&events)));
        }
        let world = app.engine().world();
        let slot = match self.from.as_deref() {
            Some(name) => of_whom(&world, owner(&world, caller, name)?, &self.lease)?,
            None => meant(&world, caller.who, &self.lease)?,
        };
        drop(world);
        let asks = vec![Ask::Pool(PoolAsk::Free { slot, reason: stored_reason(self.reason) })];
        Ok(Plan::change(asks, move |events: &[_], _: &_, _| finish(events)))
    }
}
