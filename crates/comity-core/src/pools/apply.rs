//! How events change pools.

use std::collections::BTreeSet;

use super::event::{FreeCause, PlaceEnding, PoolEvent};
use super::notices::PoolTold;
use super::table::{Pool, Pools};
use super::{PlaceState, PoolKind, QueuePlace, Slot, SlotId, SlotState};
use crate::deadlines::Due;
use crate::event::Record;
use crate::ids::{Principal, Ticket};
use crate::notices::NoticeKind;
use crate::world::World;

pub(super) fn apply(world: &mut World, record: &Record, event: &PoolEvent) {
    let now = world.now;
    if let PoolEvent::Configured { pool, kind, capacity } = event {
        let table = &mut world.pools.by_name;
        let changed = table.entry(pool.clone()).or_insert_with(|| Pool::new(pool, *kind));
        (changed.kind, changed.capacity) = (*kind, *capacity);
        changed.ceiling = changed.used();
        changed.settle();
        forget_if_closed(world, pool);
        return;
    }
    let Some(pool) = world.pools.by_name.get_mut(event.pool()) else { return };
    match event {
        PoolEvent::Configured { .. } => {}
        PoolEvent::Taken { slot, owner, label, ttl, process, ticket, .. } => {
            let state = match pool.kind {
                PoolKind::Tabs => SlotState::Opening,
                PoolKind::Lease => SlotState::Open,
            };
            pool.slots.insert(
                *slot,
                Slot {
                    id: *slot,
                    owner: *owner,
                    label: label.clone(),
                    state,
                    since: now,
                    renewed: now,
                    ttl: *ttl,
                    process: *process,
                    at: None,
                    viewers: BTreeSet::new(),
                },
            );
            let key = ticket.and_then(|ticket| pool.places.get(&ticket)?.key.clone());
            world.pools.last = world.pools.last.max(*slot);
            if let Some(key) = key {
                world.answers.remember(*owner, &key, &record.event);
            }
            watch_slot(world, *slot);
        }
        PoolEvent::Opened { slot, .. } => {
            pool.slots.entry(*slot).and_modify(|slot| slot.state = SlotState::Open);
        }
        PoolEvent::Noted { slot, at, reopened, .. } => {
            let Some(noted) = pool.slots.get_mut(slot) else { return };
            noted.at = Some(at.clone());
            if *reopened {
                let (owner, label) = (noted.owner, noted.label.clone());
                let told =
                    PoolTold::Reopened { slot: pool.words(*slot, label.as_deref()), url: at.url.to_string() };
                world.tell(owner, record.seq, NoticeKind::Pool(told));
            }
        }
        PoolEvent::Freed { slot, owner, label, cause, .. } => {
            pool.slots.remove(slot);
            pool.leave_contexts(*slot);
            pool.settle();
            let words = pool.words(*slot, label.as_deref());
            world.deadlines.set(Due::Slot(*slot), None);
            if is_news(cause) {
                let told = PoolTold::Freed { slot: words, how: cause.words() };
                world.tell(*owner, record.seq, NoticeKind::Pool(told));
            }
            forget_if_closed(world, event.pool());
        }
        PoolEvent::Extended { slot, ttl, .. } => {
            pool.slots.entry(*slot).and_modify(|slot| (slot.renewed, slot.ttl) = (now, Some(*ttl)));
            watch_slot(world, *slot);
        }
        PoolEvent::Queued { .. } => queued(world, record, event),
        PoolEvent::Asked { holder, waiter, .. } => {
            ask_for_space(world, record.seq, event.pool(), *holder, *waiter);
        }
        PoolEvent::Reserved { ticket, who, lasts, .. } => {
            let until = now.plus(*lasts);
            pool.places.entry(*ticket).and_modify(|place| place.state = PlaceState::Reserved { until });
            world.deadlines.set(Due::Place(*ticket), Some(until));
            let told = PoolTold::Reserved { pool: event.pool().to_owned(), lasts: *lasts };
            world.tell(*who, record.seq, NoticeKind::Pool(told));
        }
        PoolEvent::ReservationLapsed { ticket, who, .. } => {
            pool.places.entry(*ticket).and_modify(|place| {
                place.state = PlaceState::Requested;
                place.lapses += 1;
            });
            pool.settle();
            world.deadlines.set(Due::Place(*ticket), None);
            let told = PoolTold::ReservationLapsed { pool: event.pool().to_owned(), in_line: true };
            world.tell(*who, record.seq, NoticeKind::Pool(told));
        }
        PoolEvent::PlaceLeft { ticket, ending, .. } => left(world, record, event.pool(), *ticket, ending),
        PoolEvent::HandedOver { slot, from, to, reason, .. } => {
            let mut label = None;
            pool.slots.entry(*slot).and_modify(|slot| {
                (slot.owner, slot.since, slot.renewed) = (*to, now, now);
                slot.viewers.remove(to);
                label.clone_from(&slot.label);
            });
            let (words, by) = (pool.words(*slot, label.as_deref()), world.name_of(record.by));
            if *from != record.by {
                let told = PoolTold::Moved { slot: words.clone(), to: world.name_of(*to), by: by.clone() };
                world.tell(*from, record.seq, NoticeKind::Pool(told));
            }
            if *to != record.by {
                let told = PoolTold::Given { slot: words, by, reason: reason.as_deref().map(Into::into) };
                world.tell(*to, record.seq, NoticeKind::Pool(told));
            }
            watch_slot(world, *slot);
        }
        PoolEvent::Shared { slot, with, .. } => {
            let mut label = None;
            pool.slots.entry(*slot).and_modify(|slot| {
                slot.viewers.insert(*with);
                label.clone_from(&slot.label);
            });
            let told =
                PoolTold::Shared { slot: pool.words(*slot, label.as_deref()), by: world.name_of(record.by) };
            world.tell(*with, record.seq, NoticeKind::Pool(told));
        }
        PoolEvent::ContextEntered { slot, context, who, .. } => {
            let maker = pool.maker_of(context).unwrap_or(*who);
            pool.context(context, maker).slots.insert(*slot);
        }
        PoolEvent::ContextOpened { context, maker, to, .. } => {
            pool.context(context, *maker).admitted.insert(*to);
            if *to != record.by {
                let told = PoolTold::Admitted { context: context.to_string(), by: world.name_of(record.by) };
                world.tell(*to, record.seq, NoticeKind::Pool(told));
            }
        }
        PoolEvent::Unshared { slot, with, .. } => {
            pool.slots.entry(*slot).and_modify(|slot| {
                slot.viewers.remove(with);
            });
        }
    }
}

/// Whether the owner has to be told: not of what it did itself, and not after its end.
fn is_news(cause: &FreeCause) -> bool {
    match cause {
        FreeCause::GivenBack | FreeCause::Granted | FreeCause::Evicted | FreeCause::OwnerEnded => false,
        FreeCause::TakenAway { .. }
        | FreeCause::Expired
        | FreeCause::Reclaimed { .. }
        | FreeCause::Lost { .. } => true,
    }
}

fn queued(world: &mut World, record: &Record, event: &PoolEvent) {
    let PoolEvent::Queued { pool: name, ticket, who, wait, label, ttl, process, asked } = event else {
        return;
    };
    let now = world.now;
    let Some(pool) = world.pools.by_name.get_mut(name) else { return };
    let deadline = wait.map(|wait| now.plus(wait));
    let state = match deadline {
        Some(deadline) => PlaceState::Waiting { deadline, label: label.clone(), ttl: *ttl },
        None => PlaceState::Requested,
    };
    // A request whose owner now waits keeps its place.
    let (since, lapses) = pool.places.get(ticket).map_or((now, 0), |place| (place.since, place.lapses));
    // A request is answered at once; what comes later is not part of its answer.
    let key = record.key.clone().filter(|_| wait.is_some());
    let (ticket, process) = (*ticket, *process);
    pool.places.insert(ticket, QueuePlace { ticket, who: *who, since, state, lapses, process, key });
    world.ticket = world.ticket.max(ticket);
    world.deadlines.set(Due::Place(ticket), deadline);
    for holder in asked {
        ask_for_space(world, record.seq, name, *holder, *who);
    }
}

fn ask_for_space(world: &mut World, seq: u64, name: &str, holder: Principal, waiter: Principal) {
    let (waiter, now) = (world.name_of(waiter), world.now);
    let Some(pool) = world.pools.by_name.get_mut(name) else { return };
    pool.asked.entry(holder).or_insert(now);
    let (yours, share) = (pool.slots_of(holder).count(), pool.fair_share());
    // An owner that has not read the last notice is not told again.
    let is_same = |what: &NoticeKind| matches!(what, NoticeKind::Pool(PoolTold::SpaceWanted { pool, .. }) if pool == name);
    let agent = holder.agent().and_then(|agent| world.agents.get(agent));
    if agent.is_some_and(|agent| agent.notices.iter().any(|notice| is_same(&notice.what))) {
        return;
    }
    let told = PoolTold::SpaceWanted { pool: name.to_owned(), yours, share, waiter };
    world.tell(holder, seq, NoticeKind::Pool(told));
}

fn left(world: &mut World, record: &Record, name: &str, ticket: Ticket, ending: &PlaceEnding) {
    world.deadlines.set(Due::Place(ticket), None);
    let Some(pool) = world.pools.by_name.get_mut(name) else { return };
    let Some(place) = pool.places.remove(&ticket) else { return };
    match ending {
        // Its slot is given with the next event, so nothing becomes free.
        PlaceEnding::Granted { .. } => pool.settle_asked(),
        PlaceEnding::TimedOut
        | PlaceEnding::Cancelled
        | PlaceEnding::AskerEnded
        | PlaceEnding::Lapsed
        | PlaceEnding::PoolClosed
        | PlaceEnding::PoolShrunk => pool.settle(),
    }
    if let Some(key) = &place.key {
        world.answers.remember(place.who, key, &record.event);
    }
    let pool = name.to_owned();
    let told = match ending {
        PlaceEnding::Lapsed => PoolTold::ReservationLapsed { pool, in_line: false },
        PlaceEnding::PoolClosed if !place.is_blocking() => PoolTold::Closed { pool },
        PlaceEnding::PoolClosed
        | PlaceEnding::PoolShrunk
        | PlaceEnding::Granted { .. }
        | PlaceEnding::TimedOut
        | PlaceEnding::Cancelled
        | PlaceEnding::AskerEnded => return,
    };
    world.tell(place.who, record.seq, NoticeKind::Pool(told));
}

/// A closed pool is forgotten with its last slot.
fn forget_if_closed(world: &mut World, name: &str) {
    let is_over = |pool: &Pool| pool.capacity == 0 && pool.slots.is_empty() && pool.places.is_empty();
    if world.pools.get(name).is_some_and(is_over) {
        world.pools.by_name.remove(name);
    }
}

fn watch_slot(world: &mut World, id: SlotId) {
    let at = world.pools.slot(id).and_then(|(_, slot)| slot.expires_at());
    world.deadlines.set(Due::Slot(id), at);
}

/// Restores the pools, with all deadlines.
pub(crate) fn restore(world: &mut World, facts: Pools) {
    world.pools = facts;
    let World { pools, deadlines, .. } = world;
    for pool in pools.iter() {
        for slot in pool.slots() {
            deadlines.set(Due::Slot(slot.id), slot.expires_at());
        }
        for place in pool.places() {
            let at = match &place.state {
                PlaceState::Waiting { deadline, .. } => Some(*deadline),
                PlaceState::Reserved { until } => Some(*until),
                PlaceState::Requested => None,
            };
            deadlines.set(Due::Place(place.ticket), at);
        }
    }
}
