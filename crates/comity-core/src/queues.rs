//! Places in line for a lock or a slot: an ask that waits has a ticket.

use crate::decide::AskResult;
use crate::event::Event;
use crate::features::FeatureAsk;
use crate::ids::{Principal, Ticket};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::world::World;
use crate::{locks, pools};

/// Asks about places in line.
#[derive(Clone, PartialEq, Debug)]
pub enum QueueAsk {
    Cancel { ticket: Ticket },
}

impl FeatureAsk for QueueAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let QueueAsk::Cancel { ticket } = *self;
        let events = match world.pools.place(ticket) {
            Some(_) => pools::cancel_wait(world, asker.who, ticket)?,
            None => locks::cancel_wait(world, asker.who, ticket)?,
        };
        Ok(events.into())
    }
}

/// The ticket of a remembered ask that is still queued.
pub(crate) fn still_waiting(world: &World, answer: &[Event]) -> Option<Ticket> {
    locks::still_waiting(world, answer).or_else(|| pools::still_waiting(world, answer))
}

impl World {
    /// Who waits with this ticket.
    pub fn waiter(&self, ticket: Ticket) -> Option<Principal> {
        let by_lock = self.locks.wait(ticket).map(|wait| wait.who);
        by_lock.or_else(|| self.pools.place(ticket).map(|(_, place)| place.who))
    }
}
