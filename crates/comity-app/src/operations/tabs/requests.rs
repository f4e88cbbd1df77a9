//! Shows who waits for a tab.

use std::fmt;

use comity_core::Millis;
use comity_core::pools::PlaceState;

use super::timeout;
use crate::browser::TABS;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Show who is waiting for a tab, for whom one is being kept, and what you have yourself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TabRequests {
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for TabRequests {
    type Output = SlotRequests;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<SlotRequests>, Failure> {
        timeout(self.timeout)?;
        let (now, who) = (app.engine().now(), caller.who);
        let world = app.engine().world();
        let pool = world.pools.get(TABS);
        let mut view = SlotRequests {
            your_tab_count: pool.map_or(0, |pool| pool.slots_of(who).count()),
            ..SlotRequests::default()
        };
        for place in pool.into_iter().flat_map(|pool| pool.places()) {
            let agent = world.name_of(place.who);
            match place.state {
                PlaceState::Reserved { until } => {
                    let expires_in_ms = until.since(now).0;
                    if place.who == who {
                        view.you_have_reservation = true;
                        view.reservation_expires_in_ms = Some(expires_in_ms);
                    }
                    view.reservations.push(Kept { agent, expires_in_ms });
                }
                PlaceState::Waiting { .. } | PlaceState::Requested => {
                    view.requests.push(Waiting { agent, waited_ms: now.since(place.since).0 });
                }
            }
        }
        Ok(Plan::Answer(view))
    }
}

/// Who waits.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotRequests {
    /// Who waits for a tab, the first in line first.
    pub requests: Vec<Waiting>,
    pub reservations: Vec<Kept>,
    /// Whether one is kept for you.
    pub you_have_reservation: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_expires_in_ms: Option<u64>,
    /// How many tabs you have.
    pub your_tab_count: usize,
}

/// Somebody who waits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    pub agent: String,
    /// For how long already.
    pub waited_ms: u64,
}

/// Somebody for whom a tab is kept.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Kept {
    pub agent: String,
    pub expires_in_ms: u64,
}

impl fmt::Display for SlotRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "you have {} tabs", self.your_tab_count)?;
        if let Some(left) = self.reservation_expires_in_ms {
            write!(f, "; one is kept for you for {}: open it now", Millis(left))?;
        }
        if self.requests.is_empty() {
            write!(f, "\nnobody waits for one")?;
        }
        for Waiting { agent, waited_ms } in &self.requests {
            write!(f, "\n{agent} has waited for {}", Millis(*waited_ms))?;
        }
        for Kept { agent, expires_in_ms } in &self.reservations {
            write!(f, "\none is kept for {agent} for {}", Millis(*expires_in_ms))?;
        }
        Ok(())
    }
}
