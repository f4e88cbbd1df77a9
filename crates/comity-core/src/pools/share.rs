//! Fairness: how much of a pool is one's share, and who has more.

use std::collections::BTreeSet;

use super::table::Pool;
use crate::ids::Principal;

impl Pool {
    /// How many slots each gets if all get the same: owners of slots, and those who wait without one.
    pub fn fair_share(&self) -> usize {
        self.share_with(None)
    }

    /// The same, with one more waiting.
    fn share_with(&self, newcomer: Option<Principal>) -> usize {
        let owners = self.slots.values().map(|slot| slot.owner);
        let all: BTreeSet<Principal> =
            owners.chain(self.places.values().map(|place| place.who)).chain(newcomer).collect();
        (self.capacity / all.len().max(1)).max(1)
    }

    /// Who has more than its share once this one waits, and so is asked for space.
    pub(super) fn over_share(&self, newcomer: Principal) -> Vec<Principal> {
        let share = self.share_with(Some(newcomer));
        let owners: BTreeSet<Principal> = self.slots.values().map(|slot| slot.owner).collect();
        let has_more = |who: &Principal| *who != newcomer && self.slots_of(*who).count() > share;
        owners.into_iter().filter(has_more).collect()
    }

    pub(crate) fn is_over_share(&self, who: Principal) -> bool {
        self.slots_of(who).count() > self.fair_share()
    }

    /// Those who wait and have no slot, first in line first.
    pub(crate) fn without_slot(&self) -> impl Iterator<Item = &super::QueuePlace> {
        self.in_line().filter(|place| self.slots_of(place.who).next().is_none())
    }
}
