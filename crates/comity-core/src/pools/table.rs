//! The pools of a world.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contexts::NamedContext;
use super::{PoolKind, QueuePlace, Slot, SlotId};
use crate::agents::Process;
use crate::display::quoted;
use crate::ids::{AgentId, Principal, Ticket};
use crate::time::Timestamp;

/// Slots of one kind, who has them, and who waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    pub name: Box<str>,
    pub kind: PoolKind,
    /// How many there may be.
    pub capacity: usize,
    /// What was held when the capacity was set below it: nothing is taken away, and nothing is given until it is below.
    pub(crate) ceiling: usize,
    pub(crate) slots: BTreeMap<SlotId, Slot>,
    #[serde(with = "crate::snapshot::pairs")]
    pub(crate) places: BTreeMap<Ticket, QueuePlace>,
    /// Who was asked for space since somebody waits, and when first.
    #[serde(with = "crate::snapshot::pairs")]
    pub(crate) asked: BTreeMap<Principal, Timestamp>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub(crate) contexts: BTreeMap<Box<str>, NamedContext>,
}

/// Pools by their names, and whose slot is whose.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pools {
    pub(crate) by_name: BTreeMap<Box<str>, Pool>,
    pub(crate) last: SlotId,
}

impl Pools {
    /// All pools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Pool> {
        self.by_name.values()
    }

    /// The pool with this name.
    pub fn get(&self, name: &str) -> Option<&Pool> {
        self.by_name.get(name)
    }

    /// The slot with this number, and its pool.
    pub fn slot(&self, id: SlotId) -> Option<(&Pool, &Slot)> {
        self.by_name.values().find_map(|pool| Some((pool, pool.slots.get(&id)?)))
    }

    /// The place with this number, and its pool.
    pub fn place(&self, ticket: Ticket) -> Option<(&Pool, &QueuePlace)> {
        self.by_name.values().find_map(|pool| Some((pool, pool.places.get(&ticket)?)))
    }

    /// All slots that end with a process.
    pub fn processes(&self) -> impl Iterator<Item = (SlotId, Process)> {
        self.slots().filter_map(|slot| Some((slot.id, slot.process?)))
    }

    /// The last number that was given to a slot: when it moves, there may be another process to watch.
    pub fn last_slot(&self) -> SlotId {
        self.last
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.by_name.values().flat_map(Pool::slots)
    }

    pub(crate) fn forget_agent(&mut self, agent: AgentId) {
        let who = Principal::Agent(agent);
        for pool in self.by_name.values_mut() {
            pool.asked.remove(&who);
            for context in pool.contexts.values_mut() {
                context.admitted.remove(&who);
            }
            for slot in pool.slots.values_mut() {
                slot.viewers.remove(&who);
            }
        }
    }
}

impl Pool {
    pub(super) fn new(name: &str, kind: PoolKind) -> Pool {
        Pool {
            name: name.into(),
            kind,
            capacity: 0,
            ceiling: 0,
            slots: BTreeMap::new(),
            places: BTreeMap::new(),
            asked: BTreeMap::new(),
            contexts: BTreeMap::new(),
        }
    }

    pub(super) fn context(&mut self, name: &str, maker: Principal) -> &mut NamedContext {
        let new = || NamedContext { maker, admitted: BTreeSet::new(), slots: BTreeSet::new() };
        self.contexts.entry(name.into()).or_insert_with(new)
    }

    /// A slot is gone: a context that nothing is left in goes with it.
    pub(super) fn leave_contexts(&mut self, slot: SlotId) {
        let slots = &self.slots;
        self.contexts.retain(|name, context| {
            context.slots.remove(&slot);
            let is_in = |slot: &Slot| slot.at.as_ref().is_some_and(|at| at.context.as_ref() == Some(name));
            !context.slots.is_empty() || slots.values().any(is_in)
        });
    }

    /// All slots that somebody has, the oldest number first.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.values()
    }

    /// The slots of one owner.
    pub fn slots_of(&self, who: Principal) -> impl Iterator<Item = &Slot> {
        self.slots.values().filter(move |slot| slot.owner == who)
    }

    /// The slot that its owner has for longest and can give up; one that was taken for a process is in use as long as
    /// that runs.
    pub fn oldest_of(&self, who: Principal) -> Option<&Slot> {
        self.slots_of(who).filter(|slot| slot.process.is_none()).min_by_key(|slot| (slot.since, slot.id))
    }

    /// Everybody in the queue, the first in line first, those with a reservation included.
    pub fn places(&self) -> impl Iterator<Item = &QueuePlace> {
        self.places.values()
    }

    /// Those who wait, the first in line first.
    pub fn in_line(&self) -> impl Iterator<Item = &QueuePlace> {
        self.places.values().filter(|place| place.is_in_line())
    }

    /// The place of a request of this owner, reserved or not; a process that waits has a place of its own.
    pub fn place_of(&self, who: Principal) -> Option<&QueuePlace> {
        self.places.values().find(|place| place.who == who && place.process.is_none())
    }

    /// How many stand before this place, itself included.
    pub fn position(&self, ticket: Ticket) -> usize {
        self.in_line().take_while(|place| place.ticket <= ticket).count()
    }

    /// How many slots are reserved.
    pub fn reserved(&self) -> usize {
        self.places.values().filter(|place| place.is_reserved()).count()
    }

    /// How many slots are held or reserved.
    pub fn used(&self) -> usize {
        self.slots.len() + self.reserved()
    }

    /// How many slots anybody could take now.
    pub fn free(&self) -> usize {
        self.capacity.saturating_sub(self.used())
    }

    /// A slot in words: tab 7 ("docs").
    pub(crate) fn words(&self, slot: SlotId, label: Option<&str>) -> String {
        let label = label.map(|text| format!(" ({})", quoted(text))).unwrap_or_default();
        match self.kind {
            PoolKind::Tabs => format!("tab {slot}{label}"),
            PoolKind::Lease => format!("lease {slot} of {}{label}", self.name),
        }
    }

    /// What is held beyond the capacity goes one by one, and never comes back.
    pub(super) fn settle(&mut self) {
        self.ceiling = self.capacity.max(self.ceiling.min(self.used()));
        self.settle_asked();
    }

    /// When nobody waits, nobody was asked.
    pub(super) fn settle_asked(&mut self) {
        if self.in_line().next().is_none() {
            self.asked.clear();
        }
    }
}

impl Slot {
    /// When its time runs out, if it does.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.ttl.map(|ttl| self.renewed.plus(ttl))
    }
}
