//! Closes a tab.

use std::fmt;

use comity_core::pools::{PoolAsk, SlotId};
use comity_core::{Ask, Event};

use super::{TabCommand, Use, timeout};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Close a tab of yours. Whoever is waiting for one gets it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloseTab {
    /// Number of the tab
    pub tab_id: u64,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for CloseTab {
    type Output = TabClosed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabClosed>, Failure> {
        let (slot, timeout) = (SlotId(self.tab_id), timeout(self.timeout)?);
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        command.may(&app.engine().world(), Use::Steers, "close")?;
        let then = move |app: &Application, _: &[Event]| {
            app.browser().close_freed(app, timeout);
            Ok(TabClosed { tab_id: slot.0 })
        };
        Ok(Plan::change_then(vec![Ask::Pool(PoolAsk::Free { slot, reason: None })], then))
    }
}

/// The tab that is gone.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabClosed {
    pub tab_id: u64,
}

impl fmt::Display for TabClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tab {} is closed", self.tab_id)
    }
}
