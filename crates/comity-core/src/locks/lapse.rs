//! What time, and the end of a holder, do to locks and waits.

use super::{Hold, Lock, LockMode, ReleaseCause, WaitEnding};
use crate::event::Event;
use crate::ids::{Fence, Ticket};
use crate::limits::FILES_LEFT_MAX;
use crate::world::World;

/// A lock's time ran out. An exclusive one is kept from others until its files were looked at.
pub(crate) fn lapse(world: &World, fence: Fence) -> Vec<Event> {
    let Some(lock) = world.locks.get(fence) else { return vec![] };
    let path = lock.path();
    match (lock.hold, lock.wanted.mode) {
        (Hold::Held, LockMode::Exclusive) => vec![Event::LockLapsed { fence, path }],
        (Hold::Held, LockMode::Shared) => vec![Event::LockExpired { fence, path }],
        // Nobody could tell in time whether there is work in it: then there may be.
        (Hold::Lapsed, _) => vec![Event::LockOrphaned { fence, path, files: vec![] }],
        (Hold::Orphaned, _) => vec![],
    }
}

/// The files of a lapsed or orphaned lock were looked at: these have uncommitted work, or none has.
pub(crate) fn inspected(world: &World, fence: Fence, left: Option<&[Box<str>]>) -> Vec<Event> {
    let Some(lock) = world.locks.get(fence) else { return vec![] };
    let path = lock.path();
    let has_ended = lock.holder.agent().is_some_and(|agent| world.agents.living(agent).is_err());
    match (lock.hold, left) {
        (Hold::Held, _) => vec![],
        // Nobody could tell which files when it was orphaned; now somebody can.
        (Hold::Orphaned, Some(files)) if files.is_empty() || !lock.left.is_empty() => vec![],
        (Hold::Lapsed | Hold::Orphaned, Some(files)) => {
            let files = files.iter().take(FILES_LEFT_MAX).cloned().collect();
            vec![Event::LockOrphaned { fence, path, files }]
        }
        (Hold::Lapsed | Hold::Orphaned, None) if has_ended => vec![lock.released(ReleaseCause::HolderEnded)],
        (Hold::Lapsed | Hold::Orphaned, None) => vec![Event::LockExpired { fence, path }],
    }
}

impl Lock {
    /// What becomes of it when its holder ends. One that was for editing is kept from others until its files were looked at:
    /// half-done work is nobody's to go on with by accident.
    pub(crate) fn left(&self) -> Event {
        match self.wanted.mode {
            LockMode::Exclusive => Event::LockLapsed { fence: self.fence, path: self.path() },
            LockMode::Shared => self.released(ReleaseCause::HolderEnded),
        }
    }
}

pub(crate) fn time_out(world: &World, ticket: Ticket) -> Vec<Event> {
    match world.locks.wait(ticket) {
        Some(_) => vec![Event::WaitEnded { ticket, ending: WaitEnding::TimedOut }],
        None => vec![],
    }
}
