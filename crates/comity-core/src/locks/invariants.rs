//! What must be true of agents, locks and the queue.

use std::collections::BTreeSet;

use super::waiting::next_grant;
use super::{Hold, Lock};
use crate::ids::Principal;
use crate::paths::overlaps;
use crate::wait_graph::Waits;
use crate::world::World;

/// The first violated invariant of agents, locks and the queue, if there is one.
pub fn check(world: &World) -> Result<(), String> {
    exclusive(world)?;
    agents_release(world)?;
    names(world)?;
    queue(world)
}

/// Locks that exclude each other do not overlap, unless one holder has both.
fn exclusive(world: &World) -> Result<(), String> {
    let locks: Vec<&Lock> = world.locks.iter().collect();
    for (at, a) in locks.iter().enumerate() {
        if a.fence > world.fence {
            return Err(format!("{:?} is beyond the last fence", a.fence));
        }
        for b in &locks[at + 1..] {
            let collide = a.holder != b.holder
                && a.wanted.project == b.wanted.project
                && a.wanted.mode.excludes(b.wanted.mode)
                && overlaps(&a.wanted.pattern, &b.wanted.pattern);
            if collide {
                return Err(format!("held twice: {a:?} and {b:?}"));
            }
        }
    }
    Ok(())
}

/// An ended agent holds nothing and waits for nothing; only locks that may cover uncommitted work are kept.
fn agents_release(world: &World) -> Result<(), String> {
    let is_live =
        |who: Principal| who.agent().is_none_or(|id| world.agents.get(id).is_some_and(|a| a.is_live()));
    if let Some(lock) = world.locks.iter().find(|lock| lock.hold == Hold::Held && !is_live(lock.holder)) {
        return Err(format!("held by somebody who has ended: {lock:?}"));
    }
    if let Some(wait) = world.locks.waits().find(|wait| !is_live(wait.who)) {
        return Err(format!("waits though it has ended: {wait:?}"));
    }
    Ok(())
}

fn names(world: &World) -> Result<(), String> {
    let mut names = BTreeSet::new();
    match world.agents.live().find(|agent| !names.insert(&agent.profile.name)) {
        Some(agent) => Err(format!("two live agents are called {}", agent.profile.name)),
        None => Ok(()),
    }
}

/// Nobody in the queue could be served, and nobody waits in a cycle. Places close no cycle that locks do not close.
fn queue(world: &World) -> Result<(), String> {
    if let Some(grant) = next_grant(world) {
        return Err(format!("a waiter was left standing: {grant:?}"));
    }
    let lines = world.pools.iter().flat_map(|pool| pool.in_line().map(|place| place.who));
    let askers = world.agents.live().map(|agent| Principal::Agent(agent.id));
    let waiting: BTreeSet<Principal> =
        world.locks.waits().map(|wait| wait.who).chain(lines).chain(askers).collect();
    let waits = Waits::all(world);
    match waiting.into_iter().find_map(|who| waits.cycle(who)) {
        Some(cycle) => Err(format!("they wait for ever: {cycle}")),
        None => Ok(()),
    }
}
