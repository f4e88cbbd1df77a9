//! Taking locks: all or none, at once or by a place in the queue.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::graph::needs_of;
use super::waiting::{Obstacle, obstacles};
use super::{LockEvent, LockMode, ReleaseCause, Wanted};
use crate::calls;
use crate::checks::check_reason;
use crate::decide::AskResult;
use crate::event::Event;
use crate::ids::{Fence, Principal, Ticket};
use crate::limits::{
    HOLDERS_SHOWN_MAX, INSPECTION_MAX, LOCK_TTL_MAX, LOCK_TTL_MIN, LOCKS_MAX, LOCKS_PER_HOLDER_MAX,
    PATHS_PER_ASK_MAX, WAIT_MAX, WAITS_MAX, WAITS_PER_HOLDER_MAX,
};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::wait_graph::Waits;
use crate::world::World;

/// Grants everything in `wants`, or queues the ask, or says who is in the way.
pub(crate) fn lock(
    world: &World,
    who: Principal,
    wants: &[Wanted],
    wait: Option<Millis>,
) -> Result<AskResult, Refusal> {
    check_bounds(world, who, wants, wait)?;
    let in_the_way: Vec<(&Wanted, Vec<Obstacle<'_>>)> = wants
        .iter()
        .map(|wanted| (wanted, obstacles(world, who, wanted, None)))
        .filter(|(_, obstacles)| !obstacles.is_empty())
        .collect();
    let Some((first, obstacles)) = in_the_way.first() else {
        return Ok(AskResult::Done(grant_events(world, who, wants, None).0));
    };
    // A lapsed lock is free as soon as its files were looked at: whoever asks gets that short wait for nothing.
    let all_lapsed = in_the_way.iter().flat_map(|(_, obstacles)| obstacles).all(Obstacle::is_lapsed);
    let wait = if all_lapsed { Some(wait.unwrap_or_default().max(INSPECTION_MAX)) } else { wait };
    let Some(wait) = wait else {
        return Err(locked(world, first, obstacles));
    };
    let needs = in_the_way.iter().flat_map(|(wanted, _)| needs_of(world, who, wanted, &BTreeSet::new()));
    needs.fold(Waits::of(world), |waits, need| waits.with(who, need)).check(who)?;
    check_queue(world, who)?;
    let ticket = Ticket(world.ticket.0 + 1);
    Ok(AskResult::Parked(
        ticket,
        Event::Lock(LockEvent::WaitStarted { ticket, who, wants: wants.to_vec(), wait }),
    ))
}

/// Grants everything in `wants`, or says who is in the way; nobody waits, not even for a lapsed lock.
pub(crate) fn lock_at_once(world: &World, who: Principal, wants: &[Wanted]) -> Result<Vec<Event>, Refusal> {
    check_bounds(world, who, wants, None)?;
    for wanted in wants {
        let obstacles = obstacles(world, who, wanted, None);
        if !obstacles.is_empty() {
            return Err(locked(world, wanted, &obstacles));
        }
    }
    Ok(grant_events(world, who, wants, None).0)
}

/// The events that give `who` everything in `wants`, and the fence of each.
pub(super) fn grant_events(
    world: &World,
    who: Principal,
    wants: &[Wanted],
    ticket: Option<Ticket>,
) -> (Vec<Event>, Vec<Fence>) {
    let mut next = world.fence.0;
    let mut events = Vec::with_capacity(wants.len());
    let mut fences: Vec<Fence> = Vec::with_capacity(wants.len());
    for (at, wanted) in wants.iter().enumerate() {
        let twin = wants[..at].iter().position(|other| same_target(other, wanted));
        if let Some(twin) = twin {
            fences.push(fences[twin]);
            continue;
        }
        let wanted = &strongest(wanted, &wants[at + 1..]);
        let own = world.locks.own(who, wanted.project, &wanted.pattern);
        if let Some(own) = own
            .filter(|own| own.wanted.mode >= wanted.mode && own.wanted.with_children >= wanted.with_children)
        {
            let (fence, path, ttl, reason) = (own.fence, own.path(), wanted.ttl, wanted.reason.clone());
            events.push(Event::Lock(LockEvent::Renewed { fence, path, ttl, reason }));
            fences.push(fence);
            continue;
        }
        if let Some(own) = own {
            events.push(own.released(ReleaseCause::Upgraded));
        }
        next += 1;
        let fence = Fence(next);
        events.push(Event::Lock(LockEvent::Acquired {
            fence,
            holder: who,
            wanted: wanted.clone().into_owned(),
            ticket,
        }));
        fences.push(fence);
    }
    (events, fences)
}

/// The want with the mode, the TTL and the reach of the strongest of those on the same pattern.
fn strongest<'a>(wanted: &'a Wanted, others: &[Wanted]) -> Cow<'a, Wanted> {
    let twins = || others.iter().filter(|other| same_target(other, wanted));
    let mode = twins().map(|twin| twin.mode).fold(wanted.mode, Ord::max);
    let ttl = twins().map(|twin| twin.ttl).fold(wanted.ttl, Ord::max);
    let with_children = wanted.with_children || twins().any(|twin| twin.with_children);
    if (mode, ttl, with_children) == (wanted.mode, wanted.ttl, wanted.with_children) {
        return Cow::Borrowed(wanted);
    }
    Cow::Owned(Wanted { mode, ttl, with_children, ..wanted.clone() })
}

fn same_target(a: &Wanted, b: &Wanted) -> bool {
    a.project == b.project && a.pattern == b.pattern
}

fn locked(world: &World, wanted: &Wanted, obstacles: &[Obstacle<'_>]) -> Refusal {
    let shown = obstacles.iter().take(HOLDERS_SHOWN_MAX);
    Refusal::Locked {
        path: wanted.pattern.readable(),
        holders: shown.map(|obstacle| obstacle.view(world, world.now)).collect(),
        waiting: world.locks.waits_overlapping(wanted.project, &wanted.pattern).len(),
    }
}

fn check_bounds(
    world: &World,
    who: Principal,
    wants: &[Wanted],
    wait: Option<Millis>,
) -> Result<(), Refusal> {
    let limit = |problem: String, hint: &str| Err(Refusal::LimitReached { problem, hint: hint.into() });
    if who == Principal::System || wants.is_empty() {
        return Err(Refusal::bad_input(
            "nothing to lock was named",
            format!("name a path: {}", call(calls::LOCK, [("paths", ["PATH"].into())])),
        ));
    }
    check_path_count(wants.len())?;
    for wanted in wants {
        if wanted.ttl < LOCK_TTL_MIN || wanted.ttl > LOCK_TTL_MAX {
            return Err(Refusal::bad_input(
                format!("a TTL of {} is not possible", wanted.ttl),
                format!("give one from {LOCK_TTL_MIN} to {LOCK_TTL_MAX}, such as 5m"),
            ));
        }
        check_reason(wanted.reason.as_deref())?;
    }
    if wait.is_some_and(|wait| wait > WAIT_MAX) {
        return Err(Refusal::bad_input("the wait is too long", format!("wait at most {WAIT_MAX}")));
    }
    let held = world.locks.by_holder.get(&who).map_or(0, BTreeSet::len);
    // What waits will be held one day, so it counts.
    let coming: usize = world.locks.waiting(who).map(|wait| wait.wants.len()).sum();
    let is_new = |wanted: &&Wanted| world.locks.own(who, wanted.project, &wanted.pattern).is_none();
    let own_full = held + coming + wants.len() > LOCKS_PER_HOLDER_MAX;
    if own_full && held + coming + wants.iter().filter(is_new).count() > LOCKS_PER_HOLDER_MAX {
        return limit(
            format!("you hold {held} locks and wait for {coming}, of {LOCKS_PER_HOLDER_MAX} at most"),
            "release some, or lock directories",
        );
    }
    let all_full = world.locks.len() + wants.len() > LOCKS_MAX;
    if all_full && world.locks.len() + wants.iter().filter(is_new).count() > LOCKS_MAX {
        return limit(format!("{LOCKS_MAX} locks are held already"), "release some");
    }
    Ok(())
}

/// The paths of one ask have a bound.
pub(super) fn check_path_count(count: usize) -> Result<(), Refusal> {
    if count <= PATHS_PER_ASK_MAX {
        return Ok(());
    }
    Err(Refusal::LimitReached {
        problem: format!("{count} paths are more than the {PATHS_PER_ASK_MAX} of one ask"),
        hint: "name a directory or a glob instead".into(),
    })
}

fn check_queue(world: &World, who: Principal) -> Result<(), Refusal> {
    let own = world.locks.waits_of(who).count();
    if own >= WAITS_PER_HOLDER_MAX || world.locks.waits.len() >= WAITS_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("{own} of your asks wait already, {} in all", world.locks.waits.len()),
            hint: "let some of them be served first".into(),
        });
    }
    Ok(())
}

impl LockMode {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            LockMode::Shared => "shared",
            LockMode::Exclusive => "exclusive",
        }
    }
}
