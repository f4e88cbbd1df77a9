//! The pools of a world.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::contexts::NamedContext;
use super::{PoolKind, QueuePlace, Slot, SlotId};
use crate::agents::Process;
use crate::display::quoted;
use crate::ids::{AgentId, Principal, Ticket};
use crate::time::Timestamp;

/// Slots of one kind, their owners, and the queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    pub name: Box<str>,
    pub kind: PoolKind,
    pub capacity: usize,
    /// What was held when the capacity was set below it: nothing is taken away, but nothing given until it is below.
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

/// Pools by name, and slots by owner.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pools {
    pub(crate) by_name: BTreeMap<Box<str>, Pool>,
    pub(crate) last: SlotId,
}

impl Pools {
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

    pub fn processes(&self) -> impl Iterator<Item = (SlotId, Process)> {
        self.slots().filter_map(|slot| Some((slot.id, slot.process?)))
    }

    /// The last slot number given: if it moved, there may be another process to watch.
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

    /// A slot is gone; a context goes with its last slot.
    pub(super) fn leave_contexts(&mut self, slot: SlotId) {
        let slots = &self.slots;
        self.contexts.retain(|name, context| {
            context.slots.remove(&slot);
            let is_in = |slot: &Slot| slot.at.as_ref().is_some_and(|at| at.context.as_ref() == Some(name));
            !context.slots.is_empty() || slots.values().any(is_in)
        });
    }

    /// Oldest number first.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.values()
    }

    /// The slots of one owner.
    pub fn slots_of(&self, who: Principal) -> impl Iterator<Item = &Slot> {
        self.slots.values().filter(move |slot| slot.owner == who)
    }

    /// The slot that its owner has had longest and can give up. One that was taken for a process is in use while that
    /// runs.
    pub fn oldest_of(&self, who: Principal) -> Option<&Slot> {
        self.slots_of(who).filter(|slot| slot.process.is_none()).min_by_key(|slot| (slot.since, slot.id))
    }

    /// The queue, first in line first, including reservations.
    pub fn places(&self) -> impl Iterator<Item = &QueuePlace> {
        self.places.values()
    }

    /// Those who wait, first in line first.
    pub fn in_line(&self) -> impl Iterator<Item = &QueuePlace> {
        self.places.values().filter(|place| place.is_in_line())
    }

    /// The place of this owner's request, reserved or not; a waiting process has a place of its own.
    pub fn place_of(&self, who: Principal) -> Option<&QueuePlace> {
        self.places.values().find(|place| place.who == who && place.process.is_none())
    }

    /// How many are in line up to this place, itself included.
    pub fn position(&self, ticket: Ticket) -> usize {
        self.in_line().take_while(|place| place.ticket <= ticket).count()
    }

    pub fn reserved(&self) -> usize {
        self.places.values().filter(|place| place.is_reserved()).count()
    }

    pub fn used(&self) -> usize {
        self.slots.len() + self.reserved()
    }

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

    /// What is held beyond the capacity goes one by one, and does not come back.
    pub(super) fn settle(&mut self) {
        self.ceiling = self.capacity.max(self.ceiling.min(self.used()));
        self.settle_asked();
    }

    /// When nobody waits, nobody has been asked.
    pub(super) fn settle_asked(&mut self) {
        if self.in_line().next().is_none() {
            self.asked.clear();
        }
    }
}

impl Slot {
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.ttl.map(|ttl| self.renewed.plus(ttl))
    }
}
