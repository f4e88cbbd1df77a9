//! Asks for space in a full pool.

use std::fmt;

use comity_core::pools::{PlaceState, PoolAsk};
use comity_core::{Ask, Millis, Principal, Timestamp, World};

use super::must_be_leased;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::pools;

/// Ask for a lease of a full pool without waiting: when it is your turn, one is reserved for you for 30s, and you are told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseRequest {
    /// Name of the pool
    pub pool: String,
}

/// Where the caller stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InLine {
    pub pool: String,
    /// Its place among those who wait, from 1; 0, if one is reserved for it.
    pub position: usize,
    /// How long the reservation lasts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_for_ms: Option<u64>,
}

impl Operation for LeaseRequest {
    type Output = InLine;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<InLine>, Failure> {
        pools::take_up(app, caller);
        must_be_leased(&app.engine().world(), &self.pool)?;
        let (who, pool) = (caller.who, self.pool);
        let asks = vec![Ask::Pool(PoolAsk::Request { pool: pool.as_str().into() })];
        let finish = move |_: &[_], world: &World, now| in_line(world, who, pool, now);
        Ok(Plan::change(asks, finish))
    }
}

fn in_line(world: &World, who: Principal, name: String, now: Timestamp) -> InLine {
    let found = world.pools.get(&name).and_then(|pool| Some((pool, pool.place_of(who)?)));
    let (position, reserved_for_ms) = match found {
        Some((pool, place)) => match place.state {
            PlaceState::Reserved { until } => (0, Some(until.since(now).0)),
            PlaceState::Requested | PlaceState::Waiting { .. } => (pool.position(place.ticket), None),
        },
        None => (0, None),
    };
    InLine { pool: name, position, reserved_for_ms }
}

impl fmt::Display for InLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reserved_for_ms {
            Some(left) => write!(f, "one of {} is reserved for you for {}", self.pool, Millis(left)),
            None => write!(f, "you are number {} in line for {}", self.position, self.pool),
        }
    }
}
