//! What becomes of locks and waits when time runs out, or their holder ends.

use super::release::hand_to;
use super::waiting::collide;
use super::{Hold, Lock, LockEvent, LockMode, ReleaseCause, WaitEnding};
use crate::agents::{Ending, Life};
use crate::event::Event;
use crate::ids::{AgentId, Fence, Principal, Ticket};
use crate::limits::FILES_LEFT_MAX;
use crate::world::World;

/// A lock expired. An exclusive one is kept from others until its files are inspected.
pub(crate) fn lapse(world: &World, fence: Fence) -> Vec<Event> {
    let Some(lock) = world.locks.get(fence) else { return vec![] };
    let path = lock.path();
    match (lock.hold, lock.wanted.mode) {
        (Hold::Held, LockMode::Exclusive) => vec![Event::Lock(LockEvent::Lapsed { fence, path })],
        (Hold::Held, LockMode::Shared) => vec![Event::Lock(LockEvent::Expired { fence, path })],
        // Nobody could tell in time whether there is uncommitted work, so there may be.
        (Hold::Lapsed, _) => orphaned(world, lock, vec![]),
        (Hold::Orphaned, _) => vec![],
    }
}

/// The files of a lapsed or orphaned lock were inspected: `left` is the uncommitted work in them, if any.
pub(crate) fn inspected(world: &World, fence: Fence, left: Option<&[Box<str>]>) -> Vec<Event> {
    let Some(lock) = world.locks.get(fence) else { return vec![] };
    let path = lock.path();
    let has_ended = lock.holder.agent().is_some_and(|agent| world.agents.living(agent).is_err());
    match (lock.hold, left) {
        (Hold::Held, _) => vec![],
        // It was not known which files when it was orphaned; now it is.
        (Hold::Orphaned, Some(files)) if files.is_empty() || !lock.left.is_empty() => vec![],
        (Hold::Lapsed | Hold::Orphaned, Some(files)) => returned(world, lock).unwrap_or_else(|| {
            let files = files.iter().take(FILES_LEFT_MAX).cloned().collect();
            orphaned(world, lock, files)
        }),
        (Hold::Lapsed | Hold::Orphaned, None) if has_ended => vec![lock.released(ReleaseCause::HolderEnded)],
        (Hold::Lapsed | Hold::Orphaned, None) => vec![Event::Lock(LockEvent::Expired { fence, path })],
    }
}

/// Passes the work of a sub-agent that is done to the agent that asked for it, while that lives.
fn returned(world: &World, lock: &Lock) -> Option<Vec<Event>> {
    let holder = world.agents.get(lock.holder.agent()?)?;
    let is_done = matches!(holder.life, Life::Ended { ending: Ending::Completed, .. });
    holder.profile.within.as_ref().filter(|_| is_done)?;
    let asked_by = world.agents.living(holder.profile.parent?).ok()?;
    let reason = Some(format!("{} is done", holder.profile.name).into());
    hand_to(world, vec![lock], Principal::Agent(asked_by.id), reason).ok()
}

/// Keeps a lock until somebody decides about its work. Those waiting for it are told now: it may take long.
fn orphaned(world: &World, lock: &Lock, files: Vec<Box<str>>) -> Vec<Event> {
    let (fence, path, wanted) = (lock.fence, lock.path(), &lock.wanted);
    let mut events = vec![Event::Lock(LockEvent::Orphaned { fence, path, files })];
    if lock.hold == Hold::Lapsed {
        let waits = world.locks.waits_overlapping(wanted.project, &wanted.pattern).into_iter();
        let in_vain = waits.filter(|wait| {
            wait.who != lock.holder && wait.wants.iter().any(|theirs| collide(theirs, wanted))
        });
        let ending = WaitEnding::Orphaned;
        events.extend(
            in_vain.map(|wait| {
                Event::Lock(LockEvent::WaitEnded { ticket: wait.ticket, ending: ending.clone() })
            }),
        );
    }
    events
}

pub(crate) fn waits_ended(world: &World, agent: AgentId) -> Vec<Event> {
    let waits = world.locks.waits_of(Principal::Agent(agent));
    waits.map(|ticket| Event::Lock(LockEvent::WaitEnded { ticket, ending: WaitEnding::AskerEnded })).collect()
}

/// What becomes of the locks of an agent that ends.
pub(crate) fn left_behind(world: &World, agent: AgentId) -> Vec<Event> {
    world.locks.live_of(Principal::Agent(agent)).map(Lock::left).collect()
}

impl Lock {
    /// What becomes of the lock when its holder ends. An exclusive one is kept from others until its files are
    /// inspected: nobody should build on half-done work by accident.
    fn left(&self) -> Event {
        match self.wanted.mode {
            LockMode::Exclusive => Event::Lock(LockEvent::Lapsed { fence: self.fence, path: self.path() }),
            LockMode::Shared => self.released(ReleaseCause::HolderEnded),
        }
    }
}

pub(crate) fn time_out(world: &World, ticket: Ticket) -> Vec<Event> {
    match world.locks.wait(ticket) {
        Some(_) => vec![Event::Lock(LockEvent::WaitEnded { ticket, ending: WaitEnding::TimedOut })],
        None => vec![],
    }
}
