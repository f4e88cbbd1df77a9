//! Waits that a former server left: their askers come back for them, or they end.

use std::collections::BTreeMap;

use comity_core::event::Event;
use comity_core::locks::{LockAsk, LockEvent};
use comity_core::pools::{PoolAsk, PoolEvent};
use comity_core::queues::QueueAsk;
use comity_core::{Ask, Principal, Record, Ticket, Timestamp, World, limits};

use super::waited::{WaitEnd, WaitGrant, Waited, ended};

/// The waits whose asker has not come back yet, with what they were granted in the meantime.
pub(super) struct Unclaimed {
    waits: BTreeMap<Ticket, Option<WaitGrant>>,
    until: Timestamp,
}

impl Unclaimed {
    /// Everything that waits in the log when a server starts.
    pub(super) fn of(world: &World) -> Unclaimed {
        Unclaimed {
            waits: Waited::tickets(world).map(|ticket| (ticket, None)).collect(),
            until: world.now.plus(limits::DISCONNECT_GRACE),
        }
    }

    /// When waits end that nobody came back for.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        (!self.waits.is_empty()).then_some(self.until)
    }

    /// Somebody asked for it again.
    pub(super) fn claim(&mut self, ticket: Ticket) {
        self.waits.remove(&ticket);
    }

    /// Somebody got these events as an answer, and so knows what is in them.
    pub(super) fn answered(&mut self, events: &[Event]) {
        if self.waits.is_empty() {
            return;
        }
        for event in events {
            match event {
                Event::Lock(LockEvent::Acquired { ticket: Some(ticket), .. })
                | Event::Lock(LockEvent::WaitEnded { ticket, .. })
                | Event::Pool(PoolEvent::Taken { ticket: Some(ticket), .. }) => self.claim(*ticket),
                Event::Lock(LockEvent::Renewed { fence, .. }) => self.waits.retain(
                    |_, given| !matches!(given, Some(WaitGrant::Locks(fences)) if fences.contains(fence)),
                ),
                _ => {}
            }
        }
    }

    /// Checks what was written: a wait may have ended with nobody there to hear of it.
    pub(super) fn written(&mut self, records: &[Record], now: Timestamp) {
        if now >= self.until {
            self.waits.clear();
        }
        if self.waits.is_empty() {
            return;
        }
        for record in records {
            let Some((ticket, end)) = ended(&record.event) else { continue };
            match end {
                WaitEnd::Granted(given) => {
                    self.waits.entry(ticket).and_modify(|known| *known = Some(given));
                }
                WaitEnd::TimedOut | WaitEnd::Orphaned | WaitEnd::GivenUp => self.claim(ticket),
            }
        }
    }

    /// Ends the waits that nobody came back for, and gives back what nobody knows it has.
    pub(super) fn overdue(&self, world: &World, now: Timestamp) -> Vec<(Principal, Ask)> {
        if self.waits.is_empty() || now < self.until {
            return Vec::new();
        }
        let mut asks = Vec::new();
        for (ticket, given) in &self.waits {
            if let Some(wait) = Waited::of(world, *ticket) {
                asks.push((wait.who(), Ask::Queue(QueueAsk::Cancel { ticket: *ticket })));
            }
            match given {
                None => {}
                Some(WaitGrant::Locks(fences)) => {
                    for lock in fences.iter().filter_map(|fence| world.locks.get(*fence)) {
                        let (project, pattern) = (lock.wanted.project, lock.wanted.pattern.clone());
                        asks.push((
                            lock.holder,
                            Ask::Lock(LockAsk::Unlock { project, patterns: vec![pattern] }),
                        ));
                    }
                }
                Some(WaitGrant::Slot(slot)) => {
                    let slot = world.pools.slot(*slot).map(|(_, slot)| slot);
                    // What ends with a process is freed when that ends, and not before.
                    asks.extend(
                        slot.filter(|slot| slot.process.is_none()).map(|slot| {
                            (slot.owner, Ask::Pool(PoolAsk::Free { slot: slot.id, reason: None }))
                        }),
                    );
                }
            }
        }
        asks
    }
}
