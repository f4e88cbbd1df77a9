//! Who waits for whom, by locks and by places in the queue, and the cycles that must not be.
//!
//! A place counts only while whoever has it does not itself wait for the other (see [`super::waiting`]). So no
//! cycle ever contains a place, and a deadlock is a cycle of locks alone.

use std::collections::BTreeSet;

use super::waiting::{collide, conflicts};
use super::{Wait, Wanted};
use crate::ids::{Principal, Ticket};
use crate::world::World;

/// Everybody for whose locks `who` waits, perhaps by way of others; the ask at `except` is left out.
pub(super) fn lock_reach(world: &World, who: Principal, except: Option<Ticket>) -> BTreeSet<Principal> {
    let mut reached = lock_blockers(world, who, except);
    let mut open: Vec<Principal> = reached.iter().copied().collect();
    while let Some(next) = open.pop() {
        for blocker in lock_blockers(world, next, None) {
            if reached.insert(blocker) {
                open.push(blocker);
            }
        }
    }
    reached
}

/// The names around the cycle that `who` would close by waiting for locks of `blockers`, if it would.
pub(super) fn cycle(world: &World, who: Principal, blockers: &BTreeSet<Principal>) -> Option<Vec<String>> {
    let mut paths: Vec<Vec<Principal>> = blockers.iter().map(|blocker| vec![who, *blocker]).collect();
    let mut seen: BTreeSet<Principal> = blockers.clone();
    while let Some(path) = paths.pop() {
        let last = *path.last()?;
        for next in lock_blockers(world, last, None) {
            let longer = [&path[..], &[next]].concat();
            if next == who {
                return Some(longer.into_iter().map(|one| world.name_of(one)).collect());
            }
            if seen.insert(next) {
                paths.push(longer);
            }
        }
    }
    None
}

/// Those of `candidates` that wait for `top`, perhaps by way of others. Every overlapping place before one's own
/// counts here.
pub(super) fn dependants(
    world: &World,
    top: Principal,
    candidates: &BTreeSet<Principal>,
) -> BTreeSet<Principal> {
    let mut found = BTreeSet::from([top]);
    let mut open = vec![top];
    while let Some(blocker) = open.pop() {
        if candidates.is_subset(&found) {
            break;
        }
        for wait in blocked_by_locks(world, blocker).chain(blocked_by_places(world, blocker)) {
            if found.insert(wait.who) {
                open.push(wait.who);
            }
        }
    }
    found.remove(&top);
    found
}

/// The waiting asks that a lock like this keeps waiting, whoever has it; its holder's own are among them.
pub(super) fn against<'a>(world: &'a World, wanted: &Wanted) -> impl Iterator<Item = &'a Wait> {
    let waits = world.locks.waits_overlapping(wanted.project, &wanted.pattern);
    waits.into_iter().filter(|wait| wants_against(wait, wanted))
}

/// Everybody whose locks keep an ask of `who` waiting; the ask at `except` is left out.
pub(crate) fn lock_blockers(world: &World, who: Principal, except: Option<Ticket>) -> BTreeSet<Principal> {
    let mut blockers = BTreeSet::new();
    for wait in world.locks.waiting(who).filter(|wait| Some(wait.ticket) != except) {
        for wanted in &wait.wants {
            let locks = conflicts(world, who, wanted.project, &wanted.pattern, wanted.mode, usize::MAX);
            blockers.extend(locks.iter().map(|lock| lock.holder));
        }
    }
    blockers
}

fn blocked_by_locks(world: &World, holder: Principal) -> impl Iterator<Item = &Wait> {
    let locks = world.locks.of(holder);
    locks.flat_map(move |lock| against(world, &lock.wanted)).filter(move |wait| wait.who != holder)
}

fn blocked_by_places(world: &World, who: Principal) -> impl Iterator<Item = &Wait> {
    world.locks.waiting(who).flat_map(move |before| {
        let behind = before.wants.iter().flat_map(move |wanted| against(world, wanted));
        behind.filter(move |wait| wait.ticket > before.ticket && wait.who != who)
    })
}

pub(super) fn wants_against(wait: &Wait, wanted: &Wanted) -> bool {
    wait.wants.iter().any(|other| collide(wanted, other))
}
