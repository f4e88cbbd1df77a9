//! Who waits for whom, by locks and by places in the queue.
//!
//! A place counts only while whoever has it does not itself wait for the other (see [`super::waiting`]). So no
//! cycle ever contains a place in the queue of locks, and a deadlock is a cycle of everything else.

use std::collections::BTreeSet;

use super::waiting::{collide, conflicts};
use super::{LockWait, Wanted};
use crate::ids::{Fence, Principal, Ticket};
use crate::wait_graph::{Need, WaitedFor};
use crate::world::World;
use crate::{permissions, pools, tasks};

/// Those of `candidates` that may wait for `top`, whatever for and perhaps by way of others. Every overlapping place
/// before one's own counts here, and so does everybody of whom only one has to give something.
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
        let by_locks = blocked_by_locks(world, blocker).chain(blocked_by_places(world, blocker));
        let by_others = pools::waiting_for(world, blocker)
            .chain(permissions::waiting_for(world, blocker))
            .chain(tasks::waiting_for(world, blocker));
        for waiter in by_locks.map(|wait| wait.who).chain(by_others) {
            if found.insert(waiter) {
                open.push(waiter);
            }
        }
    }
    found.remove(&top);
    found
}

/// The waiting asks that a lock like this keeps waiting, whoever has it; its holder's own are among them.
pub(super) fn against<'a>(world: &'a World, wanted: &Wanted) -> impl Iterator<Item = &'a LockWait> {
    let waits = world.locks.waits_overlapping(wanted.project, &wanted.pattern);
    waits.into_iter().filter(|wait| wants_against(wait, wanted))
}

/// What the asks of `who` in the queue need, but for the one at `except`: every lock in their way, but for those that
/// were given away.
pub(crate) fn needs<'a>(
    world: &'a World,
    who: Principal,
    except: Option<Ticket>,
    given_away: &BTreeSet<Fence>,
) -> Vec<Need<'a>> {
    let waits = world.locks.waiting(who).filter(|wait| Some(wait.ticket) != except);
    let wants = waits.flat_map(|wait| &wait.wants);
    wants.flat_map(|wanted| needs_of(world, who, wanted, given_away)).collect()
}

/// What is in the way of `wanted`: a need for each holder.
pub(super) fn needs_of<'a>(
    world: &'a World,
    who: Principal,
    wanted: &'a Wanted,
    given_away: &BTreeSet<Fence>,
) -> Vec<Need<'a>> {
    let locks = conflicts(world, who, wanted.project, &wanted.pattern, wanted.mode, usize::MAX);
    let kept = locks.iter().filter(|lock| !given_away.contains(&lock.fence));
    let holders: BTreeSet<Principal> = kept.map(|lock| lock.holder).collect();
    let what = WaitedFor::Path(&wanted.pattern);
    holders.into_iter().map(|holder| Need::of(what, [holder])).collect()
}

/// Everybody who waits for a lock that `holder` has.
pub(crate) fn waiting_for(world: &World, holder: Principal) -> impl Iterator<Item = Principal> {
    blocked_by_locks(world, holder).map(|wait| wait.who)
}

fn blocked_by_locks(world: &World, holder: Principal) -> impl Iterator<Item = &LockWait> {
    let locks = world.locks.of(holder);
    locks.flat_map(move |lock| against(world, &lock.wanted)).filter(move |wait| wait.who != holder)
}

fn blocked_by_places(world: &World, who: Principal) -> impl Iterator<Item = &LockWait> {
    world.locks.waiting(who).flat_map(move |before| {
        let behind = before.wants.iter().flat_map(move |wanted| against(world, wanted));
        behind.filter(move |wait| wait.ticket > before.ticket && wait.who != who)
    })
}

pub(super) fn wants_against(wait: &LockWait, wanted: &Wanted) -> bool {
    wait.wants.iter().any(|other| collide(wanted, other))
}
