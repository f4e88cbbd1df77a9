//! Gives up a tab for somebody who waits.

use std::fmt;

use comity_core::pools::{PoolAsk, PoolEvent, why_not_granted};
use comity_core::{Ask, Event};

use super::timeout;
use crate::browser::TABS;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Give up your oldest tab for whoever is waiting, if you can spare one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrantTabSpace {
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for GrantTabSpace {
    type Output = SpaceGranted;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<SpaceGranted>, Failure> {
        let (who, timeout) = (caller.who, timeout(self.timeout)?);
        let why_not = {
            let world = app.engine().world();
            world.pools.get(TABS).and_then(|pool| why_not_granted(pool, who))
        };
        let then = move |app: &Application, events: &[Event]| {
            let freed = |event: &Event| match event {
                Event::Pool(PoolEvent::Freed { slot, .. }) => Some(slot.0),
                _ => None,
            };
            let closed = events.iter().find_map(freed);
            app.browser().close_freed(app, timeout);
            let message = match closed {
                Some(_) => None,
                None => Some(why_not.unwrap_or_else(|| "nobody is waiting for it any longer".into())),
            };
            Ok(SpaceGranted { granted: closed.is_some(), closed_tab_id: closed, message })
        };
        Ok(Plan::change_then(vec![Ask::Pool(PoolAsk::Grant { pool: TABS.into() })], then))
    }
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpaceGranted {
    /// Whether somebody has got it.
    pub granted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_tab_id: Option<u64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl fmt::Display for SpaceGranted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.message, self.closed_tab_id) {
            (Some(message), _) => f.write_str(message),
            (None, Some(tab)) => write!(f, "tab {tab} was closed for who waits"),
            (None, None) => f.write_str("nothing was given"),
        }
    }
}
