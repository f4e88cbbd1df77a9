//! What must be true of pools when a step is over.

use comity_core::pools::{PlaceState, Pool, SlotState};
use comity_core::{AgentId, Principal, Timestamp, World};

use super::pools::{Shelf, Shelves};
use super::{Found, Oracle};

impl Oracle {
    /// The world has the pools of its log; those that something happened to are looked at closely.
    pub(super) fn agrees_on_pools(&self, world: &World, now: Timestamp) -> Found {
        let count = |pool: &Pool| (pool.slots().count(), pool.places().count());
        let counts = world.pools.iter().map(|pool| (&*pool.name, count(pool)));
        let known = self.shelves.by_name.iter();
        if !counts.eq(known.map(|(name, shelf)| (&**name, (shelf.slots.len(), shelf.line.len())))) {
            return Err("the world's pools are not those of its log".into());
        }
        for (name, shelf) in &self.shelves.by_name {
            if let Some((ticket, _)) =
                shelf.line.iter().find(|(_, stand)| stand.until.is_some_and(|until| until <= now))
            {
                return Err(format!("{ticket:?} of {name} is still there after its time"));
            }
            let Some(pool) = world.pools.get(name).filter(|_| self.shelves.touched.contains(name)) else {
                continue;
            };
            self.is_settled(name, shelf)?;
            same(pool, shelf).map_err(|what| format!("{what} of {name} are not those of its log"))?;
        }
        Ok(())
    }

    fn is_settled(&self, name: &str, shelf: &Shelf) -> Found {
        if shelf.used() < shelf.capacity && shelf.waiting().next().is_some() {
            return Err(format!("somebody waits for {name}, and a slot is free"));
        }
        let owners = shelf.slots.values().map(|slot| slot.owner);
        let mut all = owners.chain(shelf.line.values().map(|stand| stand.who));
        match all.find(|who| !self.is_alive(*who)) {
            Some(who) => Err(format!("{who} has something of {name}, and has ended")),
            None => Ok(()),
        }
    }
}

fn same(pool: &Pool, shelf: &Shelf) -> Result<(), &'static str> {
    let slots = pool.slots().zip(&shelf.slots).all(|(slot, (id, kept))| {
        let viewers = slot.viewers.len() == kept.viewers.len()
            && kept.viewers.iter().all(|viewer| slot.viewers.contains(viewer));
        slot.id == *id
            && slot.owner == kept.owner
            && (slot.state == SlotState::Open) == kept.is_open
            && slot.process == kept.process
            && slot.at == kept.at
            && slot.expires_at().is_some() == kept.until.is_some()
            && viewers
    });
    if !slots || (pool.capacity, pool.kind) != (shelf.capacity, shelf.kind) {
        return Err("the slots");
    }
    let places = pool.places().zip(&shelf.line).all(|(place, (ticket, stand))| {
        let (until, is_blocking, is_reserved) = match &place.state {
            PlaceState::Waiting { deadline, .. } => (Some(*deadline), true, false),
            PlaceState::Requested => (None, false, false),
            PlaceState::Reserved { until } => (Some(*until), false, true),
        };
        (place.ticket, place.who, place.lapses) == (*ticket, stand.who, stand.lapses)
            && (until, is_blocking, is_reserved) == (stand.until, stand.is_blocking, stand.is_reserved)
    });
    if places { Ok(()) } else { Err("the places") }
}

impl Shelves {
    /// When nobody waits, nobody was asked; a closed pool is forgotten with its last slot.
    pub(super) fn settle(&mut self, name: &str) {
        let Some(shelf) = self.by_name.get_mut(name) else { return };
        if shelf.waiting().next().is_none() {
            shelf.asked.clear();
        }
        if shelf.capacity == 0 && shelf.slots.is_empty() && shelf.line.is_empty() {
            self.by_name.remove(name);
        }
    }

    /// The agent looks at nothing any more, and nobody has to ask it.
    pub(super) fn forget(&mut self, agent: AgentId) {
        let who = Principal::Agent(agent);
        for shelf in self.by_name.values_mut() {
            shelf.asked.remove(&who);
            shelf.slots.values_mut().for_each(|slot| slot.viewers.retain(|viewer| *viewer != who));
        }
    }
}
