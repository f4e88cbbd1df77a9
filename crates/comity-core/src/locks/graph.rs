//! Who waits for whom, by locks and by places in the queue.
//!
//! A place counts only while its owner does not itself wait for the other (see [`super::waiting`]). So no cycle
//! contains a place in the queue of locks, and a deadlock is a cycle of everything else.

use std::collections::BTreeSet;

use super::waiting::{collide, conflicts};
use super::{LockWait, Wanted};
use crate::features::{self, WaitedFor};
use crate::ids::{Fence, Principal};
use crate::wait_graph::{Need, WaitRules, Waits};
use crate::world::World;

pub(crate) const WAIT_RULES: WaitRules = WaitRules {
    needs,
    waiting_for: |world, holder| Box::new(blocked_by_locks(world, holder).map(|wait| wait.who)),
    gives_way: false,
};

/// Those of `candidates` that may wait for `top`, for anything, perhaps indirectly. Every overlapping place ahead
/// counts here, and so does everyone who is only one of several that could give something.
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
        let behind = blocked_by_places(world, blocker).map(|wait| wait.who);
        let waiting = features::WAIT_RULES.iter().flat_map(|rules| (rules.waiting_for)(world, blocker));
        for waiter in behind.chain(waiting) {
            if found.insert(waiter) {
                open.push(waiter);
            }
        }
    }
    found.remove(&top);
    found
}

/// The waiting asks that a lock like this blocks, whoever holds it; including the holder's own.
pub(super) fn against<'a>(world: &'a World, wanted: &Wanted) -> impl Iterator<Item = &'a LockWait> {
    let waits = world.locks.waits_overlapping(wanted.project, &wanted.pattern);
    waits.into_iter().filter(|wait| wants_against(wait, wanted))
}

/// What the asks of `who` in the queue need: every lock in their way.
fn needs<'a>(waits: &Waits<'a>, who: Principal) -> Vec<Need<'a>> {
    let asks = waits.world.locks.waiting(who).filter(|wait| Some(wait.ticket) != waits.except);
    let wants = asks.flat_map(|wait| &wait.wants);
    wants.flat_map(|wanted| needs_of(waits.world, who, wanted, &waits.supposed.locks_gone)).collect()
}

/// What blocks `wanted`: a need for each holder.
pub(super) fn needs_of<'a>(
    world: &'a World,
    who: Principal,
    wanted: &'a Wanted,
    gone: &BTreeSet<Fence>,
) -> Vec<Need<'a>> {
    let locks = conflicts(world, who, wanted.project, &wanted.pattern, wanted.mode, usize::MAX);
    let kept = locks.iter().filter(|lock| !gone.contains(&lock.fence));
    let holders: BTreeSet<Principal> = kept.map(|lock| lock.holder).collect();
    let what = WaitedFor::Path(&wanted.pattern);
    holders.into_iter().map(|holder| Need::of(what, [holder])).collect()
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
