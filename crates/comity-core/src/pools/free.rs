//! Giving slots back, and all other ways in which they become free. Those who wait are served by follow-ups.

use super::event::{FreeCause, Loss, PlaceEnding, PoolEvent};
use super::table::Pool;
use super::take::find;
use super::{Slot, SlotId, SlotState, TabLocation, queue, rights};
use crate::checks::{check_reason, only_comity};
use crate::event::Event;
use crate::ids::{AgentId, Principal};
use crate::limits::{RECLAIM_AFTER, RECLAIM_IDLE, SLOTS_KEPT_MIN};
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::world::World;

pub(super) fn freed(pool: &Pool, slot: &Slot, cause: FreeCause) -> Event {
    Event::Pool(PoolEvent::Freed {
        pool: pool.name.clone(),
        slot: slot.id,
        owner: slot.owner,
        label: slot.label.clone(),
        cause,
    })
}

pub(super) fn free(
    world: &World,
    who: Principal,
    slot: SlotId,
    reason: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    check_reason(reason)?;
    let (pool, _) = rights::find(world, slot)?;
    let (pool, slot) = rights::check_owner(world, who, slot, pool.kind.free_verb())?;
    let cause = match slot.owner == who {
        true => FreeCause::GivenBack,
        false => FreeCause::TakenAway { reason: reason.map(Into::into) },
    };
    Ok(vec![freed(pool, slot, cause)])
}

/// A slot that is already gone is not lost again.
pub(super) fn lose(world: &World, who: Principal, slot: SlotId, loss: &Loss) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let lost = world.pools.slot(slot);
    Ok(lost
        .map(|(pool, slot)| freed(pool, slot, FreeCause::Lost { loss: loss.clone() }))
        .into_iter()
        .collect())
}

pub(super) fn mark_opened(world: &World, who: Principal, slot: SlotId) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let (pool, slot) = rights::find(world, slot)?;
    Ok(match slot.state {
        SlotState::Open => vec![],
        SlotState::Opening => {
            vec![Event::Pool(PoolEvent::Opened { pool: pool.name.clone(), slot: slot.id })]
        }
    })
}

/// Where a slot is, if that is new.
pub(super) fn note(
    world: &World,
    who: Principal,
    slot: SlotId,
    at: &TabLocation,
    reopened: bool,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let (pool, slot) = rights::find(world, slot)?;
    if slot.at.as_deref() == Some(at) && !reopened {
        return Ok(vec![]);
    }
    let (pool, at) = (pool.name.clone(), Box::new(at.clone()));
    Ok(vec![Event::Pool(PoolEvent::Noted { pool, slot: slot.id, at, reopened })])
}

/// Frees one's oldest slot for somebody who waits; nothing, if there is a reason not to.
pub(super) fn grant(world: &World, who: Principal, name: &str) -> Result<Vec<Event>, Refusal> {
    let pool = find(world, name)?;
    if why_not_granted(pool, who).is_some() {
        return Ok(vec![]);
    }
    let oldest = pool.oldest_of(who);
    Ok(oldest.map(|slot| freed(pool, slot, FreeCause::Granted)).into_iter().collect())
}

/// Why `who` should keep what it has, if there is a reason.
pub fn why_not_granted(pool: &Pool, who: Principal) -> Option<String> {
    let Some(first) = pool.in_line().next() else {
        return Some(format!("nobody waits for {}; what you have is safe", pool.name));
    };
    if first.who == who {
        return Some("you are first in line yourself".into());
    }
    let own = pool.slots_of(who).count();
    if own > 0 && pool.oldest_of(who).is_none() {
        return Some("the commands that you took them for still run".into());
    }
    let can_spare = own > SLOTS_KEPT_MIN || pool.is_over_share(who) && pool.without_slot().next().is_some();
    (!can_spare).then(|| match own {
        0 => "you have none".into(),
        _ => format!("you only have {own}; nobody has to go below its share, which is {}", pool.fair_share()),
    })
}

/// Takes back an idle slot for somebody who waits without one, from an owner with more than its share who was asked.
pub(super) fn reclaim(
    world: &World,
    who: Principal,
    slot: SlotId,
    idle: Millis,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let (pool, slot) = rights::find(world, slot)?;
    let no = |problem: &str| {
        Err(Refusal::NotAllowed {
            problem: format!("{} stays: {problem}", pool.words(slot.id, None)),
            hint: "look again later".into(),
        })
    };
    let waits_long = |since| world.now.since(since) >= RECLAIM_AFTER;
    let Some(waiter) = pool.without_slot().find(|place| waits_long(place.since)) else {
        return no("nobody without a slot has waited for long");
    };
    if slot.owner.agent().is_none() {
        return no("it is the human's");
    }
    if slot.process.is_some() {
        return no("it was taken for a process, which runs");
    }
    if !pool.is_over_share(slot.owner) {
        return no("its owner has no more than its share");
    }
    if idle < RECLAIM_IDLE {
        return no("it is in use");
    }
    // Nothing is taken from an owner that was not told why, or had no time to choose.
    let Some(asked) = pool.asked.get(&slot.owner) else {
        let (holder, waiter) = (slot.owner, waiter.who);
        return Ok(vec![Event::Pool(PoolEvent::Asked { pool: pool.name.clone(), holder, waiter })]);
    };
    if !waits_long(*asked) {
        return no("its owner was asked a moment ago");
    }
    Ok(vec![freed(pool, slot, FreeCause::Reclaimed { idle })])
}

pub(crate) fn lapse_slot(world: &World, slot: SlotId) -> Vec<Event> {
    let lapsed = world.pools.slot(slot);
    lapsed.map(|(pool, slot)| freed(pool, slot, FreeCause::Expired)).into_iter().collect()
}

/// What becomes of an ending agent's slots and places.
pub(crate) fn ended_events(world: &World, agent: AgentId) -> Vec<Event> {
    let who = Principal::Agent(agent);
    let mut events = Vec::new();
    for pool in world.pools.iter() {
        let places = pool.places().filter(|place| place.who == who);
        events.extend(places.map(|place| queue::left(&pool.name, place, PlaceEnding::AskerEnded)));
        events.extend(pool.slots_of(who).map(|slot| freed(pool, slot, FreeCause::OwnerEnded)));
    }
    events
}
