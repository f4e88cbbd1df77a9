//! Shows pools.

use std::fmt;

use comity_core::display::visible;
use comity_core::pools::{PlaceState, Pool, PoolKind, SlotId};
use comity_core::table::table;
use comity_core::{Millis, Principal, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LeaseView, those_that_exist};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::pools;
use crate::project_scope::{ProjectScope, ScopeView};

/// List the pools: how many leases each has, who holds which, since when and why, and who is waiting.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLeases {
    /// Only this pool, or the lease with this number
    pub pool: Option<String>,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// Pools, and what the caller has of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PoolList {
    /// By name.
    pub pools: Vec<PoolView>,
    #[serde(flatten)]
    pub scope: ScopeView,
}

/// How much there is of something scarce, who has it, and who waits.
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
    /// The repository that it works in, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Operation for ListLeases {
    type Output = PoolList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<PoolList>, Failure> {
        pools::take_up(app, caller);
        // What belongs to all is shown whole where it is named.
        let scope = ProjectScope::of_agents(app, caller, self.all_projects || self.pool.is_some());
        let (world, now) = (app.engine().world(), app.engine().now());
        let lease = self.pool.as_deref().and_then(|name| name.parse().ok()).map(SlotId);
        if let Some((pool, _)) = lease.and_then(|lease| world.pools.slot(lease)) {
            let mut view = PoolView::of(pool, &scope, &world, now);
            view.leases.retain(|one| Some(SlotId(one.id)) == lease);
            view.queue.clear();
            return Ok(Plan::Answer(PoolList { pools: vec![view], scope: ScopeView::default() }));
        }
        let is_meant = |pool: &&Pool| match self.pool.as_deref() {
            Some(name) => name == &*pool.name,
            // Tabs have a list of their own.
            None => pool.kind == PoolKind::Lease,
        };
        let pools: Vec<PoolView> =
            world.pools.iter().filter(is_meant).map(|pool| PoolView::of(pool, &scope, &world, now)).collect();
        if let Some(name) = self.pool.filter(|_| pools.is_empty()) {
            let hint = those_that_exist(&world);
            return Err(Refusal::NotFound { problem: format!("there is no pool {name:?}"), hint }.into());
        }
        let all = world.pools.iter().filter(|pool| pool.kind == PoolKind::Lease);
        let elsewhere = all.flat_map(owners).filter(|who| !scope.shows(*who)).count();
        Ok(Plan::Answer(PoolList { pools, scope: scope.view(elsewhere) }))
    }
}

/// Who has something of a pool or waits for it.
fn owners(pool: &Pool) -> impl Iterator<Item = Principal> {
    pool.slots().map(|slot| slot.owner).chain(pool.places().map(|place| place.who))
}

impl PoolView {
    fn of(pool: &Pool, scope: &ProjectScope, world: &World, now: Timestamp) -> PoolView {
        let queue = pool.places().filter(|place| scope.shows(place.who)).map(|place| {
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
                project: scope.name(world, place.who),
            }
        });
        let leases = pool.slots().filter(|slot| scope.shows(slot.owner)).map(|slot| LeaseView {
            project: scope.name(world, slot.owner),
            ..LeaseView::of(pool, slot, world, now)
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
            leases: leases.collect(),
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
        let rows: Vec<Vec<String>> = self.pools.iter().flat_map(PoolView::rows).collect();
        let headers = ["POOL", "TAKEN", "LEASE", "WHO", "STATE", "FOR", "LEFT", "PROJECT", "REASON"];
        f.write_str(&self.scope.whole::<ListLeases>(Some(table(&headers, &rows)), ""))
    }
}

impl PoolView {
    /// A row for each holder and each waiter; the first has the pool's name.
    fn rows(&self) -> Vec<Vec<String>> {
        let left = |ms: Option<u64>| ms.map(|left| Millis(left).to_string()).unwrap_or_default();
        let place = |name: &Option<String>| name.as_deref().map(visible).unwrap_or_default().into_owned();
        let leases = self.leases.iter().map(|lease| {
            let until = match (lease.expires_in_ms, lease.pid) {
                (None, Some(pid)) => format!("process {pid}"),
                (ends, _) => left(ends),
            };
            let reason = lease.reason.as_deref().map(visible).unwrap_or_default().into_owned();
            let age = Millis(lease.age_ms).rough();
            [
                lease.id.to_string(),
                lease.holder.clone(),
                "held".to_owned(),
                age,
                until,
                place(&lease.project),
                reason,
            ]
        });
        let queue = self.queue.iter().map(|waiting| {
            let age = Millis(waiting.age_ms).rough();
            let state = waiting.state.to_owned();
            let (left, project) = (left(waiting.ends_in_ms), place(&waiting.project));
            [String::new(), waiting.who.clone(), state, age, left, project, String::new()]
        });
        let mut rest: Vec<_> = leases.chain(queue).collect();
        if rest.is_empty() {
            rest.push(Default::default());
        }
        let first = |at: usize, text: String| if at == 0 { text } else { String::new() };
        let row = |(at, rest): (usize, [String; 7])| {
            let taken = format!("{} of {}", self.used, self.capacity);
            [first(at, self.name.clone()), first(at, taken)].into_iter().chain(rest).collect()
        };
        rest.into_iter().enumerate().map(row).collect()
    }
}
