//! Whose a slot is: nobody else may use it, but its owner can let others look.

use super::event::PoolEvent;
use super::table::Pool;
use super::{PoolKind, PoolRefusal, Slot, SlotId, SlotOwner, contexts, waits};
use crate::calls;
use crate::checks::check_reason;
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::SLOT_VIEWERS_MAX;
use crate::next_call::call;
use crate::permissions::mode_of;
use crate::refusal::Refusal;
use crate::roles::Mode;
use crate::world::World;

/// The slot, if `who` may do this with it: its owner, the human or Comity itself.
pub fn check_owner<'a>(
    world: &'a World,
    who: Principal,
    slot: SlotId,
    verb: &str,
) -> Result<(&'a Pool, &'a Slot), Refusal> {
    let (pool, slot) = find(world, slot)?;
    match who {
        Principal::Human | Principal::System => Ok((pool, slot)),
        Principal::Agent(_) if slot.owner == who => Ok((pool, slot)),
        Principal::Agent(_) | Principal::Nobody => Err(not_yours(world, pool, slot, verb)),
    }
}

/// The slot, if `who` may look at it: also those it is shared with.
pub(crate) fn check_viewer<'a>(
    world: &'a World,
    who: Principal,
    slot: SlotId,
    verb: &str,
) -> Result<(&'a Pool, &'a Slot), Refusal> {
    let (pool, found) = find(world, slot)?;
    match found.viewers.contains(&who) {
        true => Ok((pool, found)),
        false => check_owner(world, who, slot, verb),
    }
}

/// What somebody does with a tab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TabUse {
    /// Looks at it: those it is shared with may.
    Looks,
    /// Navigates or closes it: only its owner may.
    Steers,
    /// Acts in its page, which may change something elsewhere, or passes it on: its owner may, unless it is in plan
    /// mode.
    Acts,
}

/// The tab, if `who` may use it like this.
pub fn check_use<'a>(
    world: &'a World,
    who: Principal,
    slot: SlotId,
    how: TabUse,
    verb: &str,
) -> Result<(&'a Pool, &'a Slot), Refusal> {
    let found = match how {
        TabUse::Looks => check_viewer(world, who, slot, verb)?,
        TabUse::Steers | TabUse::Acts => check_owner(world, who, slot, verb)?,
    };
    match (how, who) {
        (TabUse::Acts, Principal::Agent(agent)) if mode_of(world, agent) == Mode::Plan => {
            Err(Refusal::NotAllowed {
                problem: format!("you are in plan mode: you may look at pages, not {verb} one"),
                hint: "read, navigate and take pictures; to act, submit your plan first".into(),
            })
        }
        _ => Ok(found),
    }
}

/// The slot, if `who` may pass it on or share it. In other hands, a tab is as good as an act in it.
fn check_giver<'a>(
    world: &'a World,
    who: Principal,
    slot: SlotId,
    verb: &str,
) -> Result<(&'a Pool, &'a Slot), Refusal> {
    match find(world, slot)?.0.kind {
        PoolKind::Tabs => check_use(world, who, slot, TabUse::Acts, verb),
        PoolKind::Lease => check_owner(world, who, slot, verb),
    }
}

pub(super) fn find(world: &World, slot: SlotId) -> Result<(&Pool, &Slot), Refusal> {
    world.pools.slot(slot).ok_or_else(|| Refusal::NotFound {
        problem: format!("nobody has a slot {slot}"),
        hint: format!("see what is held with: {}", call(calls::LEASES, [])),
    })
}

fn not_yours(world: &World, pool: &Pool, slot: &Slot, verb: &str) -> Refusal {
    let owner = match slot.owner {
        Principal::Agent(agent) => agent.to_string(),
        Principal::Human | Principal::System | Principal::Nobody => world.name_of(slot.owner),
    };
    Refusal::Pool(PoolRefusal::Ownership {
        verb: verb.to_owned(),
        noun: pool.kind.noun(),
        slot: slot.id.0,
        owner: SlotOwner { id: owner, name: world.name_of(slot.owner) },
    })
}

pub(super) fn hand_over(
    world: &World,
    who: Principal,
    slot: SlotId,
    to: Principal,
    reason: Option<&str>,
) -> Result<Vec<Event>, Refusal> {
    check_reason(reason)?;
    let (pool, slot) = check_giver(world, who, slot, "hand over")?;
    check_receiver(world, to)?;
    if slot.process.is_some() {
        let problem = format!("{} ends with the process that it was taken for", pool.words(slot.id, None));
        return Err(Refusal::NotAllowed { problem, hint: "take one that is not bound to a process".into() });
    }
    if slot.owner == to {
        return Ok(vec![]);
    }
    contexts::check_given(world, pool, who, slot, to)?;
    waits::check_given(world, pool, Some(slot.id), to)?;
    Ok(vec![Event::Pool(PoolEvent::HandedOver {
        pool: pool.name.clone(),
        slot: slot.id,
        from: slot.owner,
        to,
        reason: reason.map(Into::into),
    })])
}

pub(super) fn share(
    world: &World,
    who: Principal,
    slot: SlotId,
    with: Principal,
) -> Result<Vec<Event>, Refusal> {
    let (pool, slot) = check_giver(world, who, slot, "share")?;
    check_receiver(world, with)?;
    if slot.owner == with || slot.viewers.contains(&with) {
        return Ok(vec![]);
    }
    if slot.viewers.len() >= SLOT_VIEWERS_MAX {
        let problem = format!("{} is shared with {SLOT_VIEWERS_MAX} others", pool.words(slot.id, None));
        return Err(Refusal::LimitReached { problem, hint: "unshare it with one of them first".into() });
    }
    Ok(vec![Event::Pool(PoolEvent::Shared { pool: pool.name.clone(), slot: slot.id, with })])
}

pub(super) fn unshare(
    world: &World,
    who: Principal,
    slot: SlotId,
    with: Principal,
) -> Result<Vec<Event>, Refusal> {
    let (pool, slot) = check_giver(world, who, slot, "unshare")?;
    if !slot.viewers.contains(&with) {
        return Ok(vec![]);
    }
    Ok(vec![Event::Pool(PoolEvent::Unshared { pool: pool.name.clone(), slot: slot.id, with })])
}

pub(super) fn check_receiver(world: &World, who: Principal) -> Result<(), Refusal> {
    match who {
        Principal::Agent(agent) => world.agents.living(agent).map(drop),
        Principal::Human => Ok(()),
        Principal::System | Principal::Nobody => {
            Err(Refusal::bad_input(format!("{who} has no slots"), "name an agent"))
        }
    }
}
