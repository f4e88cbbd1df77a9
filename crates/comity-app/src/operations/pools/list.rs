//! Shows pools.

use std::fmt;

use comity_core::pools::{PlaceState, Pool, PoolKind};
use comity_core::{Millis, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LeaseView, those_that_exist};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// List the pools: how many leases each has, who holds which, since when and why, and who is waiting.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLeases {
    /// Only this pool
    pub pool: Option<String>,
}

/// The pools.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PoolList {
    /// By name.
    pub pools: Vec<PoolView>,
}

/// One pool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PoolView {
    pub name: String,
    /// What its slots are: tabs or lease.
    pub kind: &'static str,
    pub capacity: usize,
    /// How many are held or reserved.
    pub used: usize,
    /// How many each would have if all had the same.
    pub share: usize,
    /// Who has one, the oldest first.
    pub leases: Vec<LeaseView>,
    /// Who waits or has one reserved, the first in line first.
    pub queue: Vec<PlaceView>,
}

/// Somebody who waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlaceView {
    pub who: String,
    /// How: waiting, requested or reserved.
    pub state: &'static str,
    /// For how long already.
    pub age_ms: u64,
    /// When the wait or the reservation ends, if it does by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_in_ms: Option<u64>,
}

impl Operation for ListLeases {
    type Output = PoolList;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<PoolList>, Failure> {
        let (world, now) = (app.engine().world(), app.engine().now());
        let is_meant = |pool: &&Pool| match self.pool.as_deref() {
            Some(name) => name == &*pool.name,
            // Tabs have a list of their own.
            None => pool.kind == PoolKind::Lease,
        };
        let pools: Vec<PoolView> =
            world.pools.iter().filter(is_meant).map(|pool| PoolView::of(pool, &world, now)).collect();
        if let Some(name) = self.pool.filter(|_| pools.is_empty()) {
            let hint = those_that_exist(&world);
            return Err(Refusal::NotFound { problem: format!("there is no pool {name:?}"), hint }.into());
        }
        Ok(Plan::Answer(PoolList { pools }))
    }
}

impl PoolView {
    fn of(pool: &Pool, world: &World, now: Timestamp) -> PoolView {
        let queue = pool.places().map(|place| {
            let (state, ends) = match &place.state {
                PlaceState::Waiting { deadline, .. } => ("waiting", Some(*deadline)),
                PlaceState::Requested => ("requested", None),
                PlaceState::Reserved { until } => ("reserved", Some(*until)),
            };
            PlaceView {
                who: world.name_of(place.who),
                state,
                age_ms: now.since(place.since).0,
                ends_in_ms: ends.map(|at| at.since(now).0),
            }
        });
        PoolView {
            name: pool.name.to_string(),
            kind: match pool.kind {
                PoolKind::Tabs => "tabs",
                PoolKind::Lease => "lease",
            },
            capacity: pool.capacity,
            used: pool.used(),
            share: pool.fair_share(),
            leases: pool.slots().map(|slot| LeaseView::of(pool, slot, world, now)).collect(),
            queue: queue.collect(),
        }
    }
}

impl fmt::Display for PoolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pools.is_empty() {
            return f.write_str(
                "no pools; add one to your settings, such as [pools.build] with capacity = 1, and run: comity restart",
            );
        }
        let pools: Vec<String> = self.pools.iter().map(ToString::to_string).collect();
        f.write_str(&pools.join("\n"))
    }
}

impl fmt::Display for PoolView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolView { name, used, capacity, .. } = self;
        write!(f, "{name}: {used} of {capacity} taken")?;
        for lease in &self.leases {
            write!(f, "\n  {lease}")?;
        }
        for place in &self.queue {
            let left = place.ends_in_ms.map(|left| format!(", {} left", Millis(left))).unwrap_or_default();
            write!(f, "\n  {} is {} since {}{left}", place.who, place.state, Millis(place.age_ms))?;
        }
        Ok(())
    }
}
