//! Asks for a tab without waiting.

use std::fmt;

use comity_core::pools::{PoolAsk, PoolEvent};
use comity_core::{Ask, Event, Timestamp, World};

use super::timeout;
use crate::browser::TABS;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Ask for a tab when all are taken, without waiting: a free one is kept for you for 30s, and you are told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestTabSpace {
    /// Withdraw the request
    #[serde(default)]
    pub cancel: bool,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for RequestTabSpace {
    type Output = SpaceRequested;

    fn plan(self, _: &Application, caller: &Caller) -> Result<Plan<SpaceRequested>, Failure> {
        timeout(self.timeout)?;
        let (pool, who) = (Box::from(TABS), caller.who);
        let ask = match self.cancel {
            true => PoolAsk::CancelRequest { pool },
            false => PoolAsk::Request { pool },
        };
        let finish = move |events: &[Event], world: &World, _: Timestamp| {
            let reserved = |event: &Event| matches!(event, Event::Pool(PoolEvent::Reserved { .. }));
            let place = world.pools.get(TABS).and_then(|pool| {
                let place = pool.place_of(who)?;
                Some((pool.position(place.ticket), pool.in_line().count()))
            });
            SpaceRequested {
                queued: place.is_some(),
                position: place.map(|(position, _)| position),
                waiting: place.map_or(0, |(_, waiting)| waiting),
                reserved: events.iter().any(reserved),
            }
        };
        Ok(Plan::change(vec![Ask::Pool(ask)], finish))
    }
}

/// The place in line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpaceRequested {
    /// Whether you are in line.
    pub queued: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    pub waiting: usize,
    /// Whether a tab is kept for you already.
    pub reserved: bool,
}

impl fmt::Display for SpaceRequested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.queued, self.reserved, self.position) {
            (_, true, _) => f.write_str("a tab is kept for you: open it now"),
            (true, _, Some(position)) => {
                write!(f, "you are number {position} in line; you are told when a tab is kept for you")
            }
            (true, _, None) => f.write_str("you are in line"),
            (false, ..) => f.write_str("you are not in line"),
        }
    }
}
