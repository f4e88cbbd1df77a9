//! What time does to locks and waits.

use super::{Hold, LockMode, WaitEnding};
use crate::event::Event;
use crate::ids::{Fence, Ticket};
use crate::world::World;

/// A lock's time ran out. An exclusive one is kept from others until its files were looked at.
pub(crate) fn lapse(world: &World, fence: Fence) -> Vec<Event> {
    let Some(lock) = world.locks.get(fence) else { return vec![] };
    let path = lock.path();
    match (lock.hold, lock.wanted.mode) {
        (Hold::Held, LockMode::Exclusive) => vec![Event::LockLapsed { fence, path }],
        (Hold::Held, LockMode::Shared) => vec![Event::LockExpired { fence, path }],
        // Nobody could tell in time whether there is work in it: then there may be.
        (Hold::Lapsed, _) => vec![Event::LockOrphaned { fence, path }],
        (Hold::Orphaned, _) => vec![],
    }
}

/// The files of a lapsed lock were looked at.
pub(crate) fn inspected(world: &World, fence: Fence, dirty: bool) -> Vec<Event> {
    let Some(lock) = world.locks.get(fence) else { return vec![] };
    let path = lock.path();
    match lock.hold {
        Hold::Lapsed if dirty => vec![Event::LockOrphaned { fence, path }],
        Hold::Lapsed => vec![Event::LockExpired { fence, path }],
        Hold::Held | Hold::Orphaned => vec![],
    }
}

pub(crate) fn time_out(world: &World, ticket: Ticket) -> Vec<Event> {
    match world.locks.wait(ticket) {
        Some(_) => vec![Event::WaitEnded { ticket, ending: WaitEnding::TimedOut }],
        None => vec![],
    }
}
