//! What somebody sees for whom there is no slot.

use std::fmt;

use serde::Serialize;

use super::table::Pool;
use super::{PoolKind, PoolRefusal};
use crate::calls;
use crate::ids::Principal;
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::world::World;

/// How long a hint suggests to wait.
const WAIT: &str = "60s";

/// How full a pool is, as shown to somebody who gets no slot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PoolUse {
    pub pool: String,
    #[serde(skip)]
    pub is_tabs: bool,
    pub used: usize,
    pub capacity: usize,
    pub own: usize,
    pub others: usize,
    pub reserved: usize,
    pub waiting: usize,
    /// The others who have some, by name.
    pub holders: Vec<String>,
    #[serde(rename = "waited_ms", skip_serializing_if = "Option::is_none")]
    pub waited: Option<Millis>,
}

/// Why there is no slot for `who`; `waited` is how long it has waited, if it has.
pub fn full(world: &World, pool: &Pool, who: Principal, waited: Option<Millis>) -> Refusal {
    let own = pool.slots_of(who).count();
    let mut holders: Vec<String> = Vec::new();
    for owner in pool.slots().map(|slot| slot.owner).filter(|owner| *owner != who) {
        let name = world.name_of(owner);
        if !holders.contains(&name) {
            holders.push(name);
        }
    }
    let full = Box::new(PoolUse {
        pool: pool.name.to_string(),
        is_tabs: pool.kind == PoolKind::Tabs,
        used: pool.used(),
        capacity: pool.capacity,
        own,
        others: pool.slots.len() - own,
        reserved: pool.reserved(),
        waiting: pool.in_line().count(),
        holders,
        waited,
    });
    Refusal::Pool(PoolRefusal::Full { full })
}

impl PoolUse {
    pub(crate) fn next_step(&self) -> String {
        let waited = self.waited.map(|span| format!("gave up after {span}; ")).unwrap_or_default();
        let whose = match &self.holders[..] {
            [] => String::new(),
            holders => format!(" ({})", holders.join(", ")),
        };
        let (own, others, waiting) = (self.own, self.others, self.waiting);
        let one_of_yours = if own > 0 { ", free one of yours" } else { "" };
        let wait = || ("wait", WAIT.into());
        let (wait, request) = match self.is_tabs {
            true => (call(calls::TAB_OPEN, [("url", "URL".into()), wait()]), call(calls::TAB_REQUEST, [])),
            false => {
                let pool = || ("pool", self.pool.as_str().into());
                (call(calls::LEASE, [pool(), wait()]), call(calls::LEASE_REQUEST, [pool()]))
            }
        };
        format!(
            "{waited}you have {own}, others {others}{whose}, {waiting} waiting; wait in line: {wait}{one_of_yours}; or \
             ask for space: {request}"
        )
    }
}

impl fmt::Display for PoolUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolUse { pool, used, capacity, .. } = self;
        match self.is_tabs {
            true => write!(f, "POOL_FULL: Tab pool is full ({used}/{capacity})"),
            false => write!(f, "POOL_FULL: Pool \"{pool}\" is full ({used}/{capacity})"),
        }
    }
}
