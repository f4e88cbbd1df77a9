//! Who waits for whom in the queue of a pool.

use std::fmt;

use super::table::Pool;
use super::{PoolKind, QueuePlace, Slot, SlotId};
use crate::agents::Process;
use crate::features::WaitedFor;
use crate::ids::{Principal, Ticket};
use crate::refusal::Refusal;
use crate::wait_graph::{Need, WaitRules, Waits};
use crate::world::World;

pub(crate) const WAIT_RULES: WaitRules =
    WaitRules { needs, waiting_for: |world, who| Box::new(waiting_for(world, who)), gives_way: false };

/// What somebody waits for in the queue of a pool.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum SlotWait<'a> {
    /// A slot.
    Free(&'a Pool),
    /// Whoever is ahead of it in line.
    Turn(&'a Pool),
}

impl<'a> SlotWait<'a> {
    pub(crate) fn pool(self) -> &'a Pool {
        let (SlotWait::Free(pool) | SlotWait::Turn(pool)) = self;
        pool
    }
}

impl fmt::Display for SlotWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlotWait::Free(pool) if pool.kind == PoolKind::Tabs => f.write_str("a tab"),
            SlotWait::Free(pool) => write!(f, "a lease of {}", pool.name),
            SlotWait::Turn(pool) => write!(f, "its turn for {}", pool.name),
        }
    }
}

/// What the asks of `who` that wait for a slot need.
fn needs<'a>(waits: &Waits<'a>, who: Principal) -> Vec<Need<'a>> {
    let mut needs = Vec::new();
    for pool in waits.world.pools.iter() {
        let resized = waits.supposed.pool_size.filter(|(name, _)| *name == &*pool.name);
        let capacity = resized.map_or(pool.capacity, |(_, capacity)| capacity);
        let waiting = |place: &&QueuePlace| place.who == who && place.is_blocking();
        for place in pool.places().filter(waiting).filter(|place| Some(place.ticket) != waits.except) {
            needs.extend(needs_at(pool, capacity, who, place.ticket));
        }
    }
    needs
}

/// What an ask at this place needs: a slot from anybody, and that the one ahead of it gets on.
fn needs_at(pool: &Pool, capacity: usize, who: Principal, ticket: Ticket) -> Vec<Need<'_>> {
    let before = pool.in_line().take_while(|place| place.ticket < ticket);
    let before = before.filter(|place| keeps_its_slot(place) && place.who != who).last();
    let turn = before.map(|place| Need::of(WaitedFor::Slot(SlotWait::Turn(pool)), [place.who]));
    slot_needed(pool, capacity).into_iter().chain(turn).collect()
}

/// Refuses to let `who` wait at this place if somebody would then wait for ever: those behind wait for it.
pub(super) fn check_waiting(
    world: &World,
    pool: &Pool,
    who: Principal,
    ticket: Ticket,
    process: Option<Process>,
) -> Result<(), Refusal> {
    let own = needs_at(pool, pool.capacity, who, ticket).into_iter().map(|need| (who, need));
    let behind = pool.in_line().filter(|place| {
        process.is_none() && place.ticket > ticket && place.is_blocking() && place.who != who
    });
    let behind = behind.map(|place| (place.who, Need::of(WaitedFor::Slot(SlotWait::Turn(pool)), [who])));
    let waits = own.chain(behind).fold(Waits::of(world), |waits, (who, need)| waits.with(who, need));
    waits.check(who)
}

/// Those in line who would wait for ever if the pool had this capacity.
pub(super) fn stuck_with<'a>(
    world: &'a World,
    pool: &'a Pool,
    capacity: usize,
) -> impl Iterator<Item = &'a QueuePlace> {
    let mut waits = Waits::of(world);
    waits.supposed.pool_size = Some((&pool.name, capacity));
    pool.in_line().filter(move |place| place.is_blocking() && waits.cycle(place.who).is_some())
}

/// Whether the waiter has to get on before its slot comes back; a slot for a process comes back when that ends.
fn keeps_its_slot(place: &QueuePlace) -> bool {
    place.is_blocking() && place.process.is_none()
}

/// How many slots have to be given back before one is free, and by whom. A slot that was taken for a process comes
/// back with its end, whatever its owner waits for, and a reserved one goes to the next in time.
fn slot_needed(pool: &Pool, capacity: usize) -> Option<Need<'_>> {
    let by_themselves = pool.slots().filter(|slot| slot.process.is_some()).count() + pool.reserved();
    let count = (pool.used() + 1).saturating_sub(capacity).saturating_sub(by_themselves);
    let owners: Vec<Principal> = given_back(pool).map(|slot| slot.owner).collect();
    let free = WaitedFor::Slot(SlotWait::Free(pool));
    (count > 0 && !owners.is_empty()).then(|| Need::several(free, owners, count))
}

fn given_back(pool: &Pool) -> impl Iterator<Item = &Slot> {
    pool.slots().filter(|slot| slot.process.is_none())
}

/// Refuses to give `to` a slot (one that somebody has, or the one reserved for it) if those waiting for one would
/// then wait for ever.
pub(super) fn check_given(
    world: &World,
    pool: &Pool,
    slot: Option<SlotId>,
    to: Principal,
) -> Result<(), Refusal> {
    let others = || pool.slots().filter(|other| Some(other.id) != slot);
    let kept_for_others = pool.reserved() - usize::from(slot.is_none());
    let by_themselves = others().filter(|slot| slot.process.is_some()).count() + kept_for_others;
    let count = (pool.used() + 1).saturating_sub(pool.capacity).saturating_sub(by_themselves);
    if count == 0 {
        return Ok(());
    }
    let owners = others().filter(|slot| slot.process.is_none()).map(|slot| slot.owner);
    let need = Need::several(WaitedFor::Slot(SlotWait::Free(pool)), owners.chain([to]), count);
    let mut waits = Waits::of(world);
    for place in pool.in_line().filter(|place| place.is_blocking()) {
        waits = waits.with(place.who, need.clone());
    }
    waits.check(to)
}

/// Everybody who may wait for a slot of `who`, or for `who` to move up in line.
fn waiting_for(world: &World, who: Principal) -> impl Iterator<Item = Principal> {
    world.pools.iter().flat_map(move |pool| {
        let has_some = slot_needed(pool, pool.capacity).is_some_and(|need| need.from.contains_key(&who));
        let first = pool.in_line().find(|place| keeps_its_slot(place) && place.who == who);
        let from = if has_some { Some(Ticket(0)) } else { first.map(|place| place.ticket) };
        let behind = pool.in_line().filter(move |place| from.is_some_and(|from| place.ticket > from));
        behind.filter(move |place| place.is_blocking() && place.who != who).map(|place| place.who)
    })
}
