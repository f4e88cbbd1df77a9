//! Stops sharing a tab.

use comity_core::Ask;
use comity_core::pools::{PoolAsk, SlotId};

use super::{TabCommand, TabMoved, Use, somebody};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Stop sharing a tab with another agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnshareTab {
    /// Number of the tab
    pub tab_id: u64,
    /// The agent's name or id; "human" for the person
    pub with: String,
}

impl Operation for UnshareTab {
    type Output = TabMoved;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabMoved>, Failure> {
        let slot = SlotId(self.tab_id);
        let world = app.engine().world();
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: None };
        command.may(&world, Use::Acts, "unshare")?;
        let whom = somebody(&world, &self.with)?;
        let asks = vec![Ask::Pool(PoolAsk::Unshare { slot, with: whom })];
        let moved = TabMoved {
            tab_id: slot.0,
            done: "no longer shared with",
            whom: world.name_of(whom),
            shares_cookies_with: Vec::new(),
        };
        Ok(Plan::change(asks, move |_, _, _| moved))
    }
}
