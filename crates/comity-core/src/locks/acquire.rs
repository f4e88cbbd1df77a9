//! Taking locks: all or none, at once or through the queue.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::graph::needs_of;
use super::waiting::{Obstacle, obstacles};
use super::{HolderView, LockEvent, LockMode, LockRefusal, ReleaseCause, Wanted};
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
use crate::permissions::mode_of;
use crate::refusal::Refusal;
use crate::roles::Mode;
use crate::time::Millis;
use crate::wait_graph::Waits;
use crate::world::World;

/// Grants everything in `wants`, queues the ask, or says who is in the way.
pub(crate) fn lock(
    world: &World,
    who: Principal,
    wants: &[Wanted],
    wait: Option<Millis>,
) -> Result<AskResult, Refusal> {
    check_bounds(world, who, wants, wait)?;
    let in_the_way = in_the_way(world, who, wants);
    if in_the_way.is_empty() {
        return Ok(AskResult::Done(grant_events(world, who, wants, None).0));
    }
    // A lapsed lock is free as soon as its files are inspected, so everybody may wait that long.
    let all_lapsed = in_the_way.iter().flat_map(|(_, obstacles)| obstacles).all(Obstacle::is_lapsed);
    let wait = if all_lapsed { Some(wait.unwrap_or_default().max(INSPECTION_MAX)) } else { wait };
    let Some(wait) = wait else {
        return Err(locked(world, wants, &in_the_way));
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

/// Grants everything in `wants`, or says who is in the way. Nobody waits, not even for a lapsed lock.
pub(crate) fn lock_at_once(world: &World, who: Principal, wants: &[Wanted]) -> Result<Vec<Event>, Refusal> {
    check_bounds(world, who, wants, None)?;
    let in_the_way = in_the_way(world, who, wants);
    if !in_the_way.is_empty() {
        return Err(locked(world, wants, &in_the_way));
    }
    Ok(grant_events(world, who, wants, None).0)
}

/// The wants that are not free, and what is in their way.
fn in_the_way<'a>(
    world: &'a World,
    who: Principal,
    wants: &'a [Wanted],
) -> Vec<(&'a Wanted, Vec<Obstacle<'a>>)> {
    let obstacles = wants.iter().map(|wanted| (wanted, obstacles(world, who, wanted, None)));
    obstacles.filter(|(_, obstacles)| !obstacles.is_empty()).collect()
}

/// The events that grant everything in `wants`, and the fences.
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

/// The want with the strongest mode, TTL and reach of those on the same pattern.
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

/// The refusal that lists what is not free (up to a limit) and everything that was asked for.
fn locked(world: &World, wants: &[Wanted], in_the_way: &[(&Wanted, Vec<Obstacle<'_>>)]) -> Refusal {
    let mut holders: Vec<HolderView> = Vec::new();
    // The first obstacle of each path goes before the second of any.
    let deepest = in_the_way.iter().map(|(_, obstacles)| obstacles.len()).max().unwrap_or_default();
    for at in 0..deepest.min(HOLDERS_SHOWN_MAX) {
        for obstacle in in_the_way.iter().filter_map(|(_, obstacles)| obstacles.get(at)) {
            let view = obstacle.view(world, world.now);
            if holders.len() < HOLDERS_SHOWN_MAX && !holders.contains(&view) {
                holders.push(view);
            }
        }
    }
    let waits = in_the_way.iter().flat_map(|(wanted, _)| {
        world.locks.waits_overlapping(wanted.project, &wanted.pattern).into_iter().map(|wait| wait.ticket)
    });
    let mut paths = in_the_way.iter().map(|(wanted, _)| wanted.pattern.readable());
    Refusal::Lock(LockRefusal::Locked {
        path: paths.next().unwrap_or_default(),
        also: paths.collect(),
        asked: wants.iter().map(|wanted| wanted.pattern.readable()).collect(),
        holders,
        waiting: waits.collect::<BTreeSet<Ticket>>().len(),
    })
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
    if who.agent().is_some_and(|agent| mode_of(world, agent) == Mode::Plan) {
        return Err(Refusal::NotAllowed {
            problem: "you are in plan mode: you change nothing, so no path is locked for you".into(),
            hint: "look around, then submit your plan".into(),
        });
    }
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
    // Waiting asks count, too: they will be held one day.
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

pub(super) fn check_path_count(count: usize) -> Result<(), Refusal> {
    if count <= PATHS_PER_ASK_MAX {
        return Ok(());
    }
    Err(Refusal::LimitReached {
        problem: format!("{count} paths are too many; one call takes at most {PATHS_PER_ASK_MAX}"),
        hint: "name a directory or a glob instead".into(),
    })
}

fn check_queue(world: &World, who: Principal) -> Result<(), Refusal> {
    let own = world.locks.waits_of(who).count();
    if own >= WAITS_PER_HOLDER_MAX || world.locks.waits.len() >= WAITS_MAX {
        return Err(Refusal::LimitReached {
            problem: format!(
                "{own} of your requests are already waiting, {} in all",
                world.locks.waits.len()
            ),
            hint: "wait for some of them first".into(),
        });
    }
    Ok(())
}

impl LockMode {
    pub fn word(self) -> &'static str {
        match self {
            LockMode::Shared => "shared",
            LockMode::Exclusive => "exclusive",
        }
    }
}
