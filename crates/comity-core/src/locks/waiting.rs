//! The queue: who is in whose way, cycles of waiting, and whose turn it is.
//!
//! First come, first served, where asks overlap: nobody overtakes a waiter that wants the same path. One exception
//! avoids deadlocks: whoever a waiter waits for may go on taking what it needs. Conversely, nobody takes something
//! that is wanted by a waiter for whom it waits itself with another ask.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::acquire::grant_events;
use super::graph::{dependants, wants_against};
use super::table::expires_at;
use super::{Hold, HolderView, Lock, LockEvent, LockMode, LockWait, ReleaseCause, WaitEnding, Wanted};
use crate::event::Event;
use crate::features::WaitedFor;
use crate::ids::{Fence, Principal, ProjectId, Ticket};
use crate::paths::PathPattern;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::wait_graph::{Need, Waits};
use crate::world::World;

/// What keeps an ask from being granted.
pub(super) enum Obstacle<'a> {
    Lock(&'a Lock),
    /// Somebody's place in the queue, and what is wanted there.
    Place(&'a LockWait, &'a Wanted),
}

/// The locks of others that collide with `pattern` in this mode; at most `limit`.
pub fn conflicts<'a>(
    world: &'a World,
    who: Principal,
    project: ProjectId,
    pattern: &PathPattern,
    mode: LockMode,
    limit: usize,
) -> Vec<&'a Lock> {
    let mut found: Vec<&Lock> = Vec::new();
    let Some(index) = world.locks.index.get(&project) else { return found };
    let _ = index.visit_overlaps(pattern, |fence| {
        if let Some(lock) = world.locks.get(Fence(fence))
            && lock.holder != who
            && mode.excludes(lock.wanted.mode)
            && !found.iter().any(|other| other.fence == lock.fence)
        {
            found.push(lock);
        }
        if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found
}

/// Whether a lock keeps `who` from writing there: another's does, unless its holder is above and shares it with those
/// below.
pub fn keeps_from_writing(world: &World, who: Principal, lock: &Lock) -> bool {
    let is_from_above = || match (lock.holder, who) {
        (Principal::Agent(above), Principal::Agent(below)) => world.agents.is_ancestor(above, below),
        _ => false,
    };
    lock.holder != who && !(lock.wanted.with_children && lock.hold == Hold::Held && is_from_above())
}

/// Everything that keeps `who` from getting `wanted` at this place in the queue (`None`: at its end).
pub(super) fn obstacles<'a>(
    world: &'a World,
    who: Principal,
    wanted: &Wanted,
    place: Option<Ticket>,
) -> Vec<Obstacle<'a>> {
    if is_own(world, who, wanted) {
        return Vec::new();
    }
    let locks = conflicts(world, who, wanted.project, &wanted.pattern, wanted.mode, usize::MAX);
    let places = places_first(world, who, wanted, place);
    let places = places.into_iter().filter_map(|wait| {
        let theirs = wait.wants.iter().find(|theirs| collide(wanted, theirs))?;
        Some(Obstacle::Place(wait, theirs))
    });
    locks.into_iter().map(Obstacle::Lock).chain(places).collect()
}

/// Asking again for what one holds is in nobody's way.
fn is_own(world: &World, who: Principal, wanted: &Wanted) -> bool {
    let own = world.locks.own(who, wanted.project, &wanted.pattern);
    own.is_some_and(|lock| lock.wanted.mode >= wanted.mode)
}

/// The places in the queue that go before this one: earlier ones, and those that `who` waits for with another ask.
fn places_first<'a>(
    world: &'a World,
    who: Principal,
    wanted: &Wanted,
    place: Option<Ticket>,
) -> Vec<&'a LockWait> {
    let mut others = world.locks.waits_overlapping(wanted.project, &wanted.pattern);
    others.retain(|wait| wait.who != who && wants_against(wait, wanted));
    if others.is_empty() {
        return others;
    }
    let earlier = |wait: &LockWait| place.is_none_or(|place| wait.ticket < place);
    let candidates: BTreeSet<Principal> =
        others.iter().filter(|wait| earlier(wait)).map(|wait| wait.who).collect();
    let dependants =
        if candidates.is_empty() { BTreeSet::new() } else { dependants(world, who, &candidates) };
    // Taking what they wait for, while waiting for them, would be a deadlock.
    let what = WaitedFor::Path(&wanted.pattern);
    let after = others
        .iter()
        .fold(Waits::of(world).without(place), |waits, other| waits.with(other.who, Need::of(what, [who])));
    let stuck = after.stuck_from(who);
    others.retain(|wait| stuck.contains_key(&wait.who) || earlier(wait) && !dependants.contains(&wait.who));
    others
}

pub(super) fn collide(a: &Wanted, b: &Wanted) -> bool {
    a.project == b.project && a.mode.excludes(b.mode) && crate::paths::overlaps(&a.pattern, &b.pattern)
}

/// Whom `who` currently waits for.
pub fn waits_for(world: &World, who: Principal) -> BTreeSet<Principal> {
    let mut blockers = BTreeSet::new();
    for wait in world.locks.waiting(who) {
        for wanted in &wait.wants {
            blockers.extend(obstacles(world, who, wanted, Some(wait.ticket)).iter().map(Obstacle::who));
        }
    }
    blockers
}

/// The events that serve the first ask that can be served, if there is one.
pub(crate) fn next_grant(world: &World) -> Option<Vec<Event>> {
    world.locks.waits().find_map(|wait| {
        // Locks first: most asks in a long queue wait for one, and places cost more to judge.
        let unlocked = |wanted: &Wanted| {
            conflicts(world, wait.who, wanted.project, &wanted.pattern, wanted.mode, 1).is_empty()
        };
        let first = |wanted: &Wanted| {
            is_own(world, wait.who, wanted)
                || places_first(world, wait.who, wanted, Some(wait.ticket)).is_empty()
        };
        if !wait.wants.iter().all(unlocked) || !wait.wants.iter().all(first) {
            return None;
        }
        let (mut events, fences) = grant_events(world, wait.who, &wait.wants, Some(wait.ticket));
        events.push(Event::Lock(LockEvent::WaitEnded {
            ticket: wait.ticket,
            ending: WaitEnding::Granted { fences },
        }));
        Some(events)
    })
}

pub(crate) fn cancel_wait(world: &World, who: Principal, ticket: Ticket) -> Result<Vec<Event>, Refusal> {
    match world.locks.wait(ticket) {
        None => Ok(vec![]),
        Some(wait) if wait.who == who || who == Principal::System => {
            Ok(vec![Event::Lock(LockEvent::WaitEnded { ticket, ending: WaitEnding::Cancelled })])
        }
        Some(_) => Err(Refusal::NotAllowed {
            problem: "this is somebody else's place in the queue".into(),
            hint: "only the agent that waits may give up its wait".into(),
        }),
    }
}

/// The ticket of a remembered ask that is still queued.
pub(crate) fn still_waiting(world: &World, answer: &[Event]) -> Option<Ticket> {
    answer.iter().find_map(|event| match event {
        Event::Lock(LockEvent::WaitStarted { ticket, .. }) => {
            world.locks.wait(*ticket).map(|wait| wait.ticket)
        }
        _ => None,
    })
}

impl Obstacle<'_> {
    pub(super) fn who(&self) -> Principal {
        match self {
            Obstacle::Lock(lock) => lock.holder,
            Obstacle::Place(wait, _) => wait.who,
        }
    }

    pub(super) fn is_lapsed(&self) -> bool {
        matches!(self, Obstacle::Lock(lock) if lock.hold == Hold::Lapsed)
    }

    pub(super) fn view(&self, world: &World, now: Timestamp) -> HolderView {
        match self {
            Obstacle::Lock(lock) => lock.view(world, now),
            Obstacle::Place(wait, wanted) => HolderView {
                holder: world.name_of(wait.who),
                agent: wait.who.agent(),
                path: wanted.pattern.readable(),
                mode: wanted.mode,
                state: "waiting",
                reason: wanted.reason.as_deref().map(str::to_owned),
                age_ms: now.since(wait.since),
                expires_in_ms: Some(wait.deadline.since(now)),
            },
        }
    }
}

impl Lock {
    pub fn path(&self) -> Box<str> {
        self.wanted.pattern.readable().into()
    }

    pub(crate) fn released(&self, cause: ReleaseCause) -> Event {
        Event::Lock(LockEvent::Released { fence: self.fence, path: self.path(), cause })
    }

    /// The lock as shown to somebody whom it keeps out.
    pub fn view(&self, world: &World, now: Timestamp) -> HolderView {
        HolderView {
            holder: world.name_of(self.holder),
            agent: self.holder.agent(),
            path: self.wanted.pattern.readable(),
            mode: self.wanted.mode,
            state: self.hold.word(),
            reason: self.wanted.reason.as_deref().map(str::to_owned),
            // Orphaned work is as old as its orphaning.
            age_ms: now.since(if self.hold == Hold::Orphaned { self.renewed } else { self.since }),
            expires_in_ms: expires_at(world, self).map(|at| at.since(now)),
        }
    }

    /// When it expires without a further sign of life, if it is in force and its holder's process is not watched.
    pub fn expires_at(&self, world: &World) -> Option<Timestamp> {
        expires_at(world, self)
    }

    /// Whether it is in force at `now`; the timer only records what this says.
    pub fn is_live(&self, world: &World, now: Timestamp) -> bool {
        self.hold == Hold::Held && self.expires_at(world).is_none_or(|at| now < at)
    }
}
