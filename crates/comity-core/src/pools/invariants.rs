//! What must be true of the pools of every world, checked the slow and obvious way.

use std::collections::BTreeSet;

use super::table::Pool;
use super::{PlaceState, PoolKind, SlotState};
use crate::deadlines::Due;
use crate::ids::Principal;
use crate::limits::{POOL_PLACES_MAX, POOLS_MAX, SLOT_VIEWERS_MAX};
use crate::world::World;

/// The first violated invariant of pools, if there is one.
pub fn check(world: &World) -> Result<(), String> {
    if world.pools.iter().count() > POOLS_MAX {
        return Err("there are too many pools".into());
    }
    let mut numbers = BTreeSet::new();
    for pool in world.pools.iter() {
        check_pool(world, pool).map_err(|wrong| format!("{wrong} in the pool {}: {pool:?}", pool.name))?;
        if let Some(twice) = pool.slots().find(|slot| !numbers.insert(slot.id)) {
            return Err(format!("the slot {} is there twice", twice.id));
        }
    }
    Ok(())
}

fn check_pool(world: &World, pool: &Pool) -> Result<(), &'static str> {
    let reserved = pool.places().filter(|place| matches!(place.state, PlaceState::Reserved { .. })).count();
    let open = pool.slots().filter(|slot| slot.state == SlotState::Open).count();
    let opening = pool.slots().filter(|slot| slot.state == SlotState::Opening).count();
    if open + opening + reserved > pool.capacity.max(pool.ceiling) {
        return Err("more is held and reserved than there is");
    }
    if pool.ceiling > pool.capacity && pool.ceiling > open + opening + reserved {
        return Err("what is held beyond the capacity came back");
    }
    let waits = pool.places().any(|place| !matches!(place.state, PlaceState::Reserved { .. }));
    if waits && open + opening + reserved < pool.capacity {
        return Err("somebody waits, and a slot is free");
    }
    if pool.kind == PoolKind::Lease && opening > 0 {
        return Err("a lease is being opened");
    }
    let lives = |who: Principal| match who {
        Principal::Agent(agent) => world.agents.living(agent).is_ok(),
        Principal::Human => true,
        Principal::System | Principal::Nobody => false,
    };
    if pool.slots().any(|slot| !lives(slot.owner) || !slot.viewers.iter().all(|who| lives(*who))) {
        return Err("somebody who has ended has a slot");
    }
    if pool.places().any(|place| !lives(place.who)) {
        return Err("somebody who has ended waits");
    }
    let mut askers = BTreeSet::new();
    if pool.places().any(|place| !askers.insert((place.who, place.process))) {
        return Err("somebody waits twice");
    }
    if pool.slots().any(|slot| slot.id > world.pools.last || slot.viewers.len() > SLOT_VIEWERS_MAX) {
        return Err("a slot is beyond a bound");
    }
    if pool.places().any(|place| place.ticket > world.ticket || place.lapses > 1)
        || pool.places().count() > POOL_PLACES_MAX
    {
        return Err("a place is beyond a bound");
    }
    // Everything that time has to end must have a deadline.
    let is_watched = |place: &super::QueuePlace| {
        let at = match &place.state {
            PlaceState::Waiting { deadline, .. } => Some(*deadline),
            PlaceState::Reserved { until } => Some(*until),
            PlaceState::Requested => None,
        };
        world.deadlines.of(Due::Place(place.ticket)) == at
    };
    if !pool.places().all(is_watched)
        || !pool.slots().all(|slot| world.deadlines.of(Due::Slot(slot.id)) == slot.expires_at())
    {
        return Err("a deadline is not watched");
    }
    Ok(())
}
