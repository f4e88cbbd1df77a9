//! What somebody in a queue waits for, whichever queue it is, and how that ends.

use comity_core::event::Event;
use comity_core::limits::HOLDERS_SHOWN_MAX;
use comity_core::locks::{LockEvent, LockRefusal, LockWait, WaitEnding, conflicts};
use comity_core::pools::{self, PlaceEnding, PoolEvent, SlotId};
use comity_core::{Fence, Millis, Principal, Record, Refusal, Ticket, Timestamp, World};

/// A wait, with what is needed to say why it failed.
pub(super) enum Waited {
    Locks(LockWait),
    Slot { ticket: Ticket, pool: Box<str>, who: Principal, since: Timestamp },
}

/// How a wait ended.
pub(super) enum WaitGrant {
    Locks(Vec<Fence>),
    Slot(SlotId),
}

pub(super) enum WaitEnd {
    Granted(WaitGrant),
    TimedOut,
    /// What it waited for is kept, because of uncommitted work in it.
    Orphaned,
    GivenUp,
}

impl Waited {
    /// The ask that waits at this place, if one does.
    pub(super) fn of(world: &World, ticket: Ticket) -> Option<Waited> {
        if let Some(wait) = world.locks.wait(ticket) {
            return Some(Waited::Locks(wait.clone()));
        }
        let (pool, place) = world.pools.place(ticket).filter(|(_, place)| place.is_blocking())?;
        Some(Waited::Slot { ticket, pool: pool.name.clone(), who: place.who, since: place.since })
    }

    pub(super) fn tickets(world: &World) -> impl Iterator<Item = Ticket> {
        let places = world.pools.iter().flat_map(|pool| pool.places());
        let slots = places.filter(|place| place.is_blocking()).map(|place| place.ticket);
        world.locks.waits().map(|wait| wait.ticket).chain(slots)
    }

    pub(super) fn ticket(&self) -> Ticket {
        match self {
            Waited::Locks(wait) => wait.ticket,
            Waited::Slot { ticket, .. } => *ticket,
        }
    }

    pub(super) fn who(&self) -> Principal {
        match self {
            Waited::Locks(wait) => wait.who,
            Waited::Slot { who, .. } => *who,
        }
    }

    /// The refusal if what was waited for is kept because of uncommitted work.
    pub(super) fn orphaned(&self, world: &World, now: Timestamp) -> Refusal {
        let Refusal::Lock(LockRefusal::WaitTimedOut { holders, .. }) = self.in_vain(world, now) else {
            return Refusal::WaitCancelled;
        };
        // The hint is for the first one.
        let (mut holders, others): (Vec<_>, Vec<_>) =
            holders.into_iter().partition(|holder| holder.state == "orphaned");
        let path = holders.first().map(|orphan| orphan.path.clone()).unwrap_or_default();
        holders.extend(others);
        LockRefusal::locked(path, holders, 0)
    }

    /// The refusal if the wait timed out: who is still in the way.
    pub(super) fn in_vain(&self, world: &World, now: Timestamp) -> Refusal {
        match self {
            Waited::Locks(wait) => {
                let in_the_way = wait.wants.iter().flat_map(|wanted| {
                    let (project, pattern, mode) = (wanted.project, &wanted.pattern, wanted.mode);
                    conflicts(world, wait.who, project, pattern, mode, HOLDERS_SHOWN_MAX)
                });
                let holders = in_the_way.take(HOLDERS_SHOWN_MAX).map(|lock| lock.view(world, now)).collect();
                Refusal::Lock(LockRefusal::WaitTimedOut { waited: now.since(wait.since), holders })
            }
            Waited::Slot { pool, who, since, .. } => match world.pools.get(pool) {
                Some(pool) => pools::full(world, pool, *who, Some(now.since(*since))),
                None => Refusal::WaitCancelled,
            },
        }
    }
}

/// The wait that this event ends, and how, if it ends one.
pub(super) fn ended(event: &Event) -> Option<(Ticket, WaitEnd)> {
    match event {
        Event::Lock(LockEvent::WaitEnded { ticket, ending }) => {
            let end = match ending {
                WaitEnding::Granted { fences } => WaitEnd::Granted(WaitGrant::Locks(fences.clone())),
                WaitEnding::TimedOut => WaitEnd::TimedOut,
                WaitEnding::Orphaned => WaitEnd::Orphaned,
                WaitEnding::Cancelled | WaitEnding::AskerEnded => WaitEnd::GivenUp,
            };
            Some((*ticket, end))
        }
        Event::Pool(PoolEvent::PlaceLeft { ticket, ending, .. }) => {
            let end = match ending {
                PlaceEnding::Granted { slot } => WaitEnd::Granted(WaitGrant::Slot(*slot)),
                PlaceEnding::TimedOut => WaitEnd::TimedOut,
                PlaceEnding::Cancelled
                | PlaceEnding::AskerEnded
                | PlaceEnding::Lapsed
                | PlaceEnding::PoolClosed
                | PlaceEnding::PoolShrunk => WaitEnd::GivenUp,
            };
            Some((*ticket, end))
        }
        _ => None,
    }
}

/// The events of a batch that gave a waiter what it wanted.
pub(super) fn granted(records: &[Record], ticket: Ticket, given: &WaitGrant) -> Vec<Event> {
    let ours = |event: &Event| match event {
        Event::Lock(LockEvent::Acquired { ticket: by, .. })
        | Event::Pool(PoolEvent::Taken { ticket: by, .. }) => *by == Some(ticket),
        Event::Lock(LockEvent::Renewed { fence, .. }) => {
            matches!(given, WaitGrant::Locks(fences) if fences.contains(fence))
        }
        Event::Lock(LockEvent::WaitEnded { ticket: ended, .. }) => *ended == ticket,
        Event::Pool(PoolEvent::PlaceLeft { ticket: ended, .. }) => *ended == ticket,
        _ => false,
    };
    records.iter().map(|record| &record.event).filter(|event| ours(event)).cloned().collect()
}

/// The answer to a repeat of an ask whose wait has failed.
pub(super) fn refused(events: &[Event]) -> Option<Refusal> {
    let has_waited = matches!(
        events.first()?,
        Event::Lock(LockEvent::WaitStarted { .. })
            | Event::Lock(LockEvent::WaitEnded { .. })
            | Event::Pool(PoolEvent::Queued { wait: Some(_), .. })
    );
    let (_, end) = ended(events.last()?).filter(|_| has_waited)?;
    match end {
        WaitEnd::Granted(_) => None,
        WaitEnd::TimedOut | WaitEnd::Orphaned => {
            Some(Refusal::Lock(LockRefusal::WaitTimedOut { waited: Millis(0), holders: vec![] }))
        }
        WaitEnd::GivenUp => Some(Refusal::WaitCancelled),
    }
}
