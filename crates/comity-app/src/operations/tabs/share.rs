//! Shares a tab.

use comity_core::Ask;
use comity_core::pools::{PoolAsk, SlotId};

use super::{TabCommand, TabMoved, Use, somebody};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Let another agent look at a tab of yours: read it and take pictures, but not act in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShareTab {
    /// Number of the tab
    pub tab_id: u64,
    /// The agent's name or id; "human" for the person
    pub with: String,
}

impl Operation for ShareTab {
    type Output = TabMoved;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabMoved>, Failure> {
        let slot = SlotId(self.tab_id);
        let world = app.engine().world();
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: None };
        command.may(&world, Use::Acts, "share")?;
        let whom = somebody(&world, &self.with)?;
        let asks = vec![Ask::Pool(PoolAsk::Share { slot, with: whom })];
        let moved = TabMoved {
            tab_id: slot.0,
            done: "shared with",
            whom: world.name_of(whom),
            shares_cookies_with: Vec::new(),
        };
        Ok(Plan::change(asks, move |_, _, _| moved))
    }
}
