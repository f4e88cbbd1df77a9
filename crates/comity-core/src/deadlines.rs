//! What will change by time alone, and when.

use std::collections::{BTreeMap, BTreeSet};

use crate::control::HandshakeId;
use crate::event::Event;
use crate::ids::{AgentId, Fence, Ticket};
use crate::mail::Receipt;
use crate::pools::SlotId;
use crate::time::Timestamp;
use crate::world::World;
use crate::{agents, control, locks, mail, permissions, pools, tasks};

/// Something with a deadline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Due {
    /// A lock expires, or its inspection takes too long.
    Lock(Fence),
    Wait(Ticket),
    /// An offer of mail was not acknowledged in time.
    Offer(Receipt),
    /// An agent has not answered a request to end.
    Shutdown(HandshakeId),
    /// An agent was silent or disconnected for too long.
    Agent(AgentId),
    /// A permission request expires, or an unused answer to one.
    Permission(permissions::RequestId),
    /// A task that was assigned automatically was not started.
    Task(u64),
    /// A slot expires.
    Slot(SlotId),
    /// A wait for a slot times out, or a reservation lapses.
    Place(Ticket),
}

impl Due {
    pub(crate) fn events(self, world: &World) -> Vec<Event> {
        match self {
            Due::Lock(fence) => locks::lapse(world, fence),
            Due::Wait(ticket) => locks::time_out(world, ticket),
            Due::Offer(receipt) => mail::lapse(world, receipt),
            Due::Shutdown(request) => control::overdue(world, request),
            Due::Agent(agent) => agents::silence_events(world, agent),
            Due::Permission(request) => permissions::run_out(world, request),
            Due::Task(number) => tasks::unstarted_events(world, number),
            Due::Slot(slot) => pools::lapse_slot(world, slot),
            Due::Place(ticket) => pools::time_out(world, ticket),
        }
    }
}

/// Deadlines in order, at most one for each thing.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    order: BTreeSet<(Timestamp, Due)>,
    at: BTreeMap<Due, Timestamp>,
}

impl Deadlines {
    /// Sets, moves or clears the deadline of `due`.
    pub(crate) fn set(&mut self, due: Due, at: Option<Timestamp>) {
        if let Some(old) = self.at.remove(&due) {
            self.order.remove(&(old, due));
        }
        if let Some(at) = at {
            self.at.insert(due, at);
            self.order.insert((at, due));
        }
    }

    pub(crate) fn of(&self, due: Due) -> Option<Timestamp> {
        self.at.get(&due).copied()
    }

    pub fn next(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }

    pub(crate) fn all_due(&self, now: Timestamp) -> impl Iterator<Item = Due> {
        self.order.iter().take_while(move |(at, _)| *at <= now).map(|(_, due)| *due)
    }

    /// The first that is due at `now`.
    pub fn due(&self, now: Timestamp) -> Option<Due> {
        self.order.first().filter(|(at, _)| *at <= now).map(|(_, due)| *due)
    }
}
