//! Gives up a lease for somebody who waits.

use std::fmt;

use comity_core::pools::{PoolAsk, PoolEvent, why_not_granted};
use comity_core::{Ask, Event, Principal, World};

use super::must_be_leased;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Give up your oldest lease for whoever is waiting, if you have more than two or more than your share.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseGrant {
    /// Name of the pool
    pub pool: String,
}

/// Whether one was given up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Granted {
    pub granted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for LeaseGrant {
    type Output = Granted;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Granted>, Failure> {
        must_be_leased(&app.engine().world(), &self.pool)?;
        let (who, pool) = (caller.who, self.pool);
        let asks = vec![Ask::Pool(PoolAsk::Grant { pool: pool.as_str().into() })];
        let finish = move |events: &[_], world: &World, _| granted(events, world, who, &pool);
        Ok(Plan::change(asks, finish))
    }
}

fn granted(events: &[Event], world: &World, who: Principal, pool: &str) -> Granted {
    let id = events.iter().find_map(|event| match event {
        Event::Pool(PoolEvent::Freed { slot, .. }) => Some(slot.0),
        _ => None,
    });
    let why_not = || world.pools.get(pool).and_then(|pool| why_not_granted(pool, who));
    let reason = if id.is_none() { why_not() } else { None };
    Granted { granted: id.is_some(), id, reason }
}

impl fmt::Display for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.id, &self.reason) {
            (Some(id), _) => write!(f, "gave up lease {id}"),
            (None, Some(reason)) => write!(f, "nothing was given up: {reason}"),
            (None, None) => f.write_str("nothing was given up"),
        }
    }
}
