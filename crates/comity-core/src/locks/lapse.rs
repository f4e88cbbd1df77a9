//! What time does to locks and waits.

use super::{Hold, LockMode, WaitEnding};
use crate::event::Event;
use crate::ids::{Fence, Ticket};
use crate::world::World;

/// A lock's time ran out. An exclusive one is kept from others until its files were looked at.
pub(crate) fn lapse(world: &World, fence: Fence) -> Vec<Event> {
    match world.locks.get(fence).map(|lock| (lock.hold, lock.wanted.mode)) {
        Some((Hold::Held, LockMode::Exclusive)) => vec![Event::LockLapsed { fence }],
        Some((Hold::Held, LockMode::Shared)) => vec![Event::LockExpired { fence }],
        // Nobody could tell in time whether there is work in it: then there may be.
        Some((Hold::Lapsed, _)) => vec![Event::LockOrphaned { fence }],
        Some((Hold::Orphaned, _)) | None => vec![],
    }
}

/// The files of a lapsed lock were looked at.
pub(crate) fn inspected(world: &World, fence: Fence, dirty: bool) -> Vec<Event> {
    match world.locks.get(fence).map(|lock| lock.hold) {
        Some(Hold::Lapsed) if dirty => vec![Event::LockOrphaned { fence }],
        Some(Hold::Lapsed) => vec![Event::LockExpired { fence }],
        Some(Hold::Held | Hold::Orphaned) | None => vec![],
    }
}

pub(crate) fn time_out(world: &World, ticket: Ticket) -> Vec<Event> {
    match world.locks.wait(ticket) {
        Some(_) => vec![Event::WaitEnded { ticket, ending: WaitEnding::TimedOut }],
        None => vec![],
    }
}
