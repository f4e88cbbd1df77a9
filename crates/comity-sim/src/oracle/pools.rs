//! What the model makes of records about pools: lists of who has a slot and who waits.

use std::collections::BTreeMap;

use comity_core::agents::Process;
use comity_core::limits::RECLAIM_AFTER;
use comity_core::pools::{FreeCause, PlaceEnding, PoolEvent, PoolKind, SlotId, TabLocation};
use comity_core::{AgentId, Key, Principal, Record, Ticket, Timestamp};

use super::{Found, Oracle};

/// All pools as the model sees them.
#[derive(Debug, Default)]
pub(crate) struct Shelves {
    pub(crate) by_name: BTreeMap<Box<str>, Shelf>,
    last: SlotId,
    /// The last time that somebody was told that space is wanted: the number of the notice.
    wanted: BTreeMap<(AgentId, Box<str>), u64>,
    /// Who gave up a slot for a new one, or had one promised: the slot that follows is owed.
    owed: Option<(Principal, Option<Ticket>)>,
    /// Whose reservation just lapsed: the next one is served before it, once.
    slow: Option<Ticket>,
    /// What this step had records about.
    pub(super) touched: Vec<Box<str>>,
}

/// One pool as the model sees it.
#[derive(Debug)]
pub(crate) struct Shelf {
    pub(crate) kind: PoolKind,
    pub(crate) capacity: usize,
    pub(crate) slots: BTreeMap<SlotId, ModelSlot>,
    pub(crate) line: BTreeMap<Ticket, Stand>,
    pub(super) asked: BTreeMap<Principal, Timestamp>,
}

/// A slot as the model sees it.
#[derive(Debug)]
pub(crate) struct ModelSlot {
    pub(crate) owner: Principal,
    pub(crate) until: Option<Timestamp>,
    pub(crate) is_open: bool,
    pub(crate) process: Option<Process>,
    pub(crate) viewers: Vec<Principal>,
    pub(crate) at: Option<Box<TabLocation>>,
}

/// Somebody in line as the model sees it.
#[derive(Debug)]
pub(crate) struct Stand {
    pub(crate) who: Principal,
    pub(crate) since: Timestamp,
    pub(crate) until: Option<Timestamp>,
    pub(crate) is_blocking: bool,
    pub(crate) is_reserved: bool,
    pub(crate) lapses: u32,
    pub(super) process: Option<Process>,
    key: Option<Key>,
}

impl Shelf {
    pub(super) fn used(&self) -> usize {
        self.slots.len() + self.line.values().filter(|stand| stand.is_reserved).count()
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = (&Ticket, &Stand)> {
        self.line.iter().filter(|(_, stand)| !stand.is_reserved)
    }

    fn count(&self, who: Principal) -> usize {
        self.slots.values().filter(|slot| slot.owner == who).count()
    }

    fn share(&self) -> usize {
        let mut all: Vec<Principal> = self.slots.values().map(|slot| slot.owner).collect();
        all.extend(self.line.values().map(|stand| stand.who));
        all.sort_unstable();
        all.dedup();
        (self.capacity / all.len().max(1)).max(1)
    }

    /// Whether nobody but the slow one stands before this place.
    fn is_first(&self, ticket: Ticket, slow: Option<Ticket>) -> bool {
        self.waiting().all(|(other, _)| *other >= ticket || Some(*other) == slow)
    }
}

impl Oracle {
    pub(super) fn observe_pool(&mut self, record: &Record, event: &PoolEvent) -> Found {
        let name: Box<str> = event.pool().into();
        self.shelves.touched.push(name.clone());
        let slow = self.shelves.slow.take();
        if let PoolEvent::Configured { kind, capacity, .. } = event {
            return self.configured(record, &name, *kind, *capacity);
        }
        let Some(shelf) = self.shelves.by_name.get_mut(&name) else {
            return Err(format!("something happened to {name}, which isn't a pool"));
        };
        match event {
            PoolEvent::Configured { .. } => Ok(()),
            PoolEvent::Taken { slot, owner, ttl, process, ticket, .. } => {
                let until = ttl.map(|ttl| record.now.plus(ttl));
                let is_open = shelf.kind == PoolKind::Lease;
                let kept =
                    ModelSlot { owner: *owner, until, is_open, process: *process, viewers: vec![], at: None };
                self.taken(record, &name, *slot, kept, *ticket, slow)
            }
            PoolEvent::Opened { slot, .. } => {
                let slot = shelf.slots.get_mut(slot).ok_or("what was opened is not there")?;
                slot.is_open = true;
                Ok(())
            }
            PoolEvent::Noted { slot, at, reopened, .. } => {
                let slot = shelf.slots.get_mut(slot).ok_or("what was noted is not there")?;
                slot.at = Some(at.clone());
                let owner = slot.owner;
                if *reopened {
                    self.tell(owner, record.seq);
                }
                match record.by {
                    Principal::System => Ok(()),
                    other => Err(format!("{other} told where a slot of {owner} is")),
                }
            }
            PoolEvent::Freed { slot, owner, cause, .. } => self.freed(record, &name, *slot, *owner, cause),
            PoolEvent::Extended { slot, ttl, .. } => {
                let slot = shelf.slots.get_mut(slot).ok_or("what was given time is not there")?;
                slot.until = Some(record.now.plus(*ttl));
                match record.by == slot.owner || record.by == Principal::Human {
                    true => Ok(()),
                    false => Err(format!("{} gave time to a slot of {}", record.by, slot.owner)),
                }
            }
            PoolEvent::Queued { .. } => self.queued(record, &name, event),
            PoolEvent::Asked { holder, .. } => {
                self.space_wanted(record, &name, *holder);
                Ok(())
            }
            PoolEvent::Reserved { ticket, who, lasts, .. } => {
                let fits = shelf.used() < shelf.capacity && shelf.is_first(*ticket, slow);
                let stand = shelf.line.get_mut(ticket).ok_or("nobody is there for the reservation")?;
                let is_right = fits && !stand.is_blocking && !stand.is_reserved && stand.who == *who;
                (stand.is_reserved, stand.until) = (true, Some(record.now.plus(*lasts)));
                self.tell(*who, record.seq);
                if is_right {
                    Ok(())
                } else {
                    Err(format!("{ticket:?} of {name} was overtaken or overbooked"))
                }
            }
            PoolEvent::ReservationLapsed { ticket, who, .. } => {
                let stand = shelf.line.get_mut(ticket).ok_or("a reservation lapsed that is none")?;
                let is_due = stand.until.is_some_and(|until| until <= record.now);
                let is_right = stand.is_reserved && is_due && stand.lapses == 0 && stand.who == *who;
                (stand.is_reserved, stand.until, stand.lapses) = (false, None, 1);
                self.shelves.slow = Some(*ticket);
                self.tell(*who, record.seq);
                if is_right { Ok(()) } else { Err(format!("the reservation {ticket:?} lapsed too early")) }
            }
            PoolEvent::PlaceLeft { ticket, ending, .. } => self.left_line(record, &name, *ticket, ending),
            PoolEvent::HandedOver { slot, from, to, .. } => {
                let slot = shelf.slots.get_mut(slot).ok_or("what was handed over is not there")?;
                let may = slot.owner == *from && (record.by == *from || record.by == Principal::Human);
                if let Some(until) = slot.until.as_mut() {
                    // Counted anew; how long it lasts is told by the world, and checked when it ends.
                    *until = (*until).max(record.now);
                }
                slot.owner = *to;
                slot.viewers.retain(|viewer| viewer != to);
                for who in [*from, *to].into_iter().filter(|who| *who != record.by) {
                    self.tell(who, record.seq);
                }
                if may { Ok(()) } else { Err(format!("{} handed over a slot of {from}", record.by)) }
            }
            PoolEvent::Shared { slot, with, .. } => {
                let slot = shelf.slots.get_mut(slot).ok_or("what was shared is not there")?;
                slot.viewers.push(*with);
                self.tell(*with, record.seq);
                Ok(())
            }
            PoolEvent::ContextEntered { slot, .. } => {
                shelf.slots.get(slot).map(drop).ok_or_else(|| "what came into a context is not there".into())
            }
            PoolEvent::ContextOpened { maker, to, .. } => {
                if *to != record.by {
                    self.tell(*to, record.seq);
                }
                match record.by {
                    Principal::Agent(_) if record.by != *maker => {
                        Err(format!("{} let somebody in", record.by))
                    }
                    _ => Ok(()),
                }
            }
            PoolEvent::Unshared { slot, with, .. } => {
                let slot = shelf.slots.get_mut(slot).ok_or("what was unshared is not there")?;
                slot.viewers.retain(|viewer| viewer != with);
                Ok(())
            }
        }
    }

    fn configured(&mut self, record: &Record, name: &str, kind: PoolKind, capacity: usize) -> Found {
        let shelf = self.shelves.by_name.entry(name.into()).or_insert_with(|| Shelf {
            kind,
            capacity,
            slots: BTreeMap::new(),
            line: BTreeMap::new(),
            asked: BTreeMap::new(),
        });
        (shelf.kind, shelf.capacity) = (kind, capacity);
        let is_over = capacity == 0 && shelf.slots.is_empty();
        let is_left = capacity == 0 && !shelf.line.is_empty();
        if is_over {
            self.shelves.by_name.remove(name);
        }
        match record.by == Principal::System && !is_left {
            true => Ok(()),
            false => Err(format!("{name} was changed by {}, or closed on who waits", record.by)),
        }
    }

    fn taken(
        &mut self,
        record: &Record,
        name: &str,
        slot: SlotId,
        kept: ModelSlot,
        ticket: Option<Ticket>,
        slow: Option<Ticket>,
    ) -> Found {
        let owner = kept.owner;
        if slot <= self.shelves.last || !self.is_alive(owner) {
            return Err(format!("slot {slot} was given again, or to {owner}, who is not alive"));
        }
        self.shelves.last = slot;
        let is_owed = self.shelves.owed.take() == Some((owner, ticket));
        let Some(shelf) = self.shelves.by_name.get_mut(name) else { return Ok(()) };
        let stand = ticket.and_then(|ticket| shelf.line.get(&ticket));
        let is_turn = match (ticket, stand) {
            (Some(ticket), Some(stand)) => {
                stand.who == owner && stand.is_blocking && shelf.is_first(ticket, slow)
            }
            (Some(_), None) => false,
            (None, _) => shelf.waiting().next().is_none(),
        };
        let key = stand.and_then(|stand| stand.key.clone());
        shelf.slots.insert(slot, kept);
        if let Some(key) = key {
            self.answers.entry((owner, key)).or_default().push(record.event.clone());
        }
        let Some(shelf) = self.shelves.by_name.get(name) else { return Ok(()) };
        if !is_owed && !is_turn {
            return Err(format!("slot {slot} of {name} was given to {owner} out of turn"));
        }
        match is_owed || shelf.used() <= shelf.capacity {
            true => Ok(()),
            false => Err(format!("more of {name} is held and reserved than there is")),
        }
    }

    fn freed(
        &mut self,
        record: &Record,
        name: &str,
        slot: SlotId,
        owner: Principal,
        cause: &FreeCause,
    ) -> Found {
        let Some(shelf) = self.shelves.by_name.get_mut(name) else { return Ok(()) };
        let Some(kept) = shelf.slots.get(&slot).filter(|kept| kept.owner == owner) else {
            return Err(format!("slot {slot} of {name} was freed, but {owner} does not have it"));
        };
        let by = record.by;
        let (is_right, is_news) = match cause {
            FreeCause::GivenBack | FreeCause::Evicted => (by == owner, false),
            FreeCause::Granted => {
                let can_spare = shelf.count(owner) > 2 || shelf.count(owner) > shelf.share();
                (by == owner && can_spare && shelf.waiting().next().is_some(), false)
            }
            FreeCause::OwnerEnded => (true, false),
            FreeCause::TakenAway { .. } => (by == Principal::Human && owner != by, true),
            FreeCause::Expired => (kept.until.is_some_and(|until| until <= record.now), true),
            FreeCause::Reclaimed { .. } => {
                let is_long = |since: Timestamp| record.now.since(since) >= RECLAIM_AFTER;
                let is_poor = |stand: &Stand| shelf.count(stand.who) == 0 && is_long(stand.since);
                let is_asked = shelf.asked.get(&owner).is_some_and(|at| is_long(*at));
                let is_fair = shelf.count(owner) > shelf.share() && is_asked;
                let is_wanted = shelf.waiting().any(|(_, stand)| is_poor(stand));
                (by == Principal::System && is_fair && is_wanted, true)
            }
            FreeCause::Lost { .. } => (by == Principal::System, true),
        };
        shelf.slots.remove(&slot);
        self.shelves.settle(name);
        match cause {
            FreeCause::OwnerEnded => self.leaving.extend(owner.agent()),
            FreeCause::Evicted => self.shelves.owed = Some((owner, None)),
            _ => {}
        }
        if is_news {
            self.tell(owner, record.seq);
        }
        if is_right { Ok(()) } else { Err(format!("slot {slot} of {name} was wrongly freed: {cause:?}")) }
    }

    fn queued(&mut self, record: &Record, name: &str, event: &PoolEvent) -> Found {
        let PoolEvent::Queued { ticket, who, wait, process, asked, .. } = event else { return Ok(()) };
        let Some(shelf) = self.shelves.by_name.get_mut(name) else { return Ok(()) };
        let before = shelf.line.get(ticket);
        let keeps = before.is_some_and(|stand| stand.who == *who && !stand.is_blocking && !stand.is_reserved);
        let is_new = *ticket > self.ticket;
        let (since, lapses) = before.map_or((record.now, 0), |stand| (stand.since, stand.lapses));
        let twice = shelf
            .line
            .iter()
            .any(|(other, stand)| other != ticket && stand.who == *who && stand.process == *process);
        let is_full = shelf.used() >= shelf.capacity;
        let stand = Stand {
            who: *who,
            since,
            until: wait.map(|wait| record.now.plus(wait)),
            is_blocking: wait.is_some(),
            is_reserved: false,
            lapses,
            process: *process,
            key: record.key.clone().filter(|_| wait.is_some()),
        };
        shelf.line.insert(*ticket, stand);
        self.ticket = self.ticket.max(*ticket);
        for holder in asked {
            self.space_wanted(record, name, *holder);
        }
        match (keeps || is_new) && !twice && is_full && record.by == *who {
            true => Ok(()),
            false => Err(format!("{who} waits for {name} twice, for nothing, or out of turn")),
        }
    }

    /// Whoever has not read that space is wanted is not told again.
    fn space_wanted(&mut self, record: &Record, name: &str, holder: Principal) {
        if let Some(shelf) = self.shelves.by_name.get_mut(name) {
            shelf.asked.entry(holder).or_insert(record.now);
        }
        let Principal::Agent(agent) = holder else { return };
        let told = self.shelves.wanted.get(&(agent, name.into())).copied();
        let unread =
            self.agents.get(&agent).is_some_and(|being| told.is_some_and(|seq| being.notices.contains(&seq)));
        if !unread {
            self.shelves.wanted.insert((agent, name.into()), record.seq);
            self.tell(holder, record.seq);
        }
    }

    fn left_line(&mut self, record: &Record, name: &str, ticket: Ticket, ending: &PlaceEnding) -> Found {
        let Some(shelf) = self.shelves.by_name.get_mut(name) else { return Ok(()) };
        let Some(stand) = shelf.line.remove(&ticket) else {
            return Err(format!("{ticket:?} left {name}, but was not there"));
        };
        self.shelves.settle(name);
        if let Some(key) = stand.key.clone() {
            self.answers.entry((stand.who, key)).or_default().push(record.event.clone());
        }
        let is_due = stand.until.is_some_and(|until| until <= record.now);
        let is_right = match ending {
            PlaceEnding::Granted { slot } => {
                let has = self.shelves.by_name.get(name).and_then(|shelf| shelf.slots.get(slot));
                if has.is_none() {
                    let gave_up = self.shelves.owed.take() == Some((stand.who, None));
                    self.shelves.owed = Some((stand.who, Some(ticket)));
                    stand.is_reserved || gave_up && !stand.is_blocking
                } else {
                    has.is_some_and(|slot| slot.owner == stand.who) && stand.is_blocking
                }
            }
            PlaceEnding::TimedOut => is_due && stand.is_blocking,
            PlaceEnding::Cancelled => record.by == stand.who || record.by == Principal::System,
            PlaceEnding::AskerEnded => {
                self.leaving.extend(stand.who.agent());
                true
            }
            PlaceEnding::Lapsed => {
                self.tell(stand.who, record.seq);
                is_due && stand.is_reserved && stand.lapses == 1
            }
            PlaceEnding::PoolShrunk => stand.is_blocking && record.by == Principal::System,
            PlaceEnding::PoolClosed => {
                if !stand.is_blocking {
                    self.tell(stand.who, record.seq);
                }
                record.by == Principal::System
            }
        };
        if is_right { Ok(()) } else { Err(format!("{ticket:?} left {name} wrongly: {ending:?}")) }
    }
}
