//! Who waits for whom by the queue of a pool.

use std::collections::BTreeSet;

use super::table::Pool;
use super::{Place, SlotId};
use crate::agents::Process;
use crate::ids::{Principal, Ticket};
use crate::refusal::Refusal;
use crate::wait_graph::{Need, Waits, What};
use crate::world::World;

/// Adds what the asks of `who` that wait for a slot need, but for the one at `except`.
pub(crate) fn needs<'a>(world: &'a World, who: Principal, except: Option<Ticket>, needs: &mut Vec<Need<'a>>) {
    for pool in world.pools.iter() {
        let waiting = |place: &&Place| place.who == who && place.is_blocking();
        for place in pool.places().filter(waiting).filter(|place| Some(place.ticket) != except) {
            needs.extend(needs_at(pool, who, place.ticket));
        }
    }
}

/// What an ask at this place in the line needs: a slot of anybody, and that whoever is before it gets on.
fn needs_at(pool: &Pool, who: Principal, ticket: Ticket) -> Vec<Need<'_>> {
    let before = pool.in_line().take_while(|place| place.ticket < ticket);
    let before = before.filter(|place| keeps_its_slot(place) && place.who != who).last();
    let turn = before.map(|place| Need { what: What::Turn(pool), from: [place.who].into() });
    let slot = slot_needed(pool).map(|from| Need { what: What::Slot(pool), from });
    slot.into_iter().chain(turn).collect()
}

/// Refuses to let `who` wait at this place in the line, if somebody would wait for ever then: those behind it wait for it.
pub(super) fn check_waiting(
    world: &World,
    pool: &Pool,
    who: Principal,
    ticket: Ticket,
    process: Option<Process>,
) -> Result<(), Refusal> {
    let own = needs_at(pool, who, ticket).into_iter().map(|need| (who, need));
    let behind = pool.in_line().filter(|place| {
        process.is_none() && place.ticket > ticket && place.is_blocking() && place.who != who
    });
    let behind = behind.map(|place| (place.who, Need { what: What::Turn(pool), from: [who].into() }));
    let waits = own.chain(behind).fold(Waits::of(world), |waits, (who, need)| waits.with(who, need));
    waits.check(who)
}

/// Whether whoever waits here has to get on before its slot comes back; one that it gets for a process ends with that.
fn keeps_its_slot(place: &Place) -> bool {
    place.is_blocking() && place.process.is_none()
}

/// Who would have to give back a slot, if none comes back by itself: one that is kept for somebody goes to the next in time.
fn slot_needed(pool: &Pool) -> Option<BTreeSet<Principal>> {
    slot_from(pool, None).filter(|from| !from.is_empty() && pool.reserved() == 0)
}

/// Refuses to make `to` the owner of a slot, of one that somebody has or of the one that is kept for it, if those who
/// wait for one would wait for ever then.
pub(super) fn check_given(
    world: &World,
    pool: &Pool,
    slot: Option<SlotId>,
    to: Principal,
) -> Result<(), Refusal> {
    let kept_for_others = pool.reserved() - usize::from(slot.is_none());
    let Some(mut from) = slot_from(pool, slot).filter(|_| kept_for_others == 0) else { return Ok(()) };
    from.insert(to);
    let mut waits = Waits::of(world);
    for place in pool.in_line().filter(|place| place.is_blocking()) {
        waits = waits.with(place.who, Need { what: What::Slot(pool), from: from.clone() });
    }
    waits.check(to)
}

/// Whoever could give back a slot, but for this one; `None` if one comes back by itself.
fn slot_from(pool: &Pool, except: Option<SlotId>) -> Option<BTreeSet<Principal>> {
    // One that was taken for a process ends with it, whatever its owner waits for.
    let others = pool.slots().filter(|slot| Some(slot.id) != except);
    others.map(|slot| slot.process.is_none().then_some(slot.owner)).collect()
}

/// Everybody who may wait for a slot that `who` has, or for it to get on in the line.
pub(crate) fn waiting_for(world: &World, who: Principal) -> impl Iterator<Item = Principal> {
    world.pools.iter().flat_map(move |pool| {
        let has_some = slot_needed(pool).is_some_and(|from| from.contains(&who));
        let first = pool.in_line().find(|place| keeps_its_slot(place) && place.who == who);
        let from = if has_some { Some(Ticket(0)) } else { first.map(|place| place.ticket) };
        let behind = pool.in_line().filter(move |place| from.is_some_and(|from| place.ticket > from));
        behind.filter(move |place| place.is_blocking() && place.who != who).map(|place| place.who)
    })
}
