//! Hands a tab over.

use clap::Args;
use comity_core::Ask;
use comity_core::pools::{PoolAsk, SlotId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, TabMoved, Use, somebody, stored};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Hands a tab of yours over to another agent, which is told; its cookies go along.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HandOverTab {
    /// The tab
    #[arg(value_name = "TAB")]
    pub tab_id: u64,
    /// The agent's name or id; "human" for the person
    #[arg(long, value_name = "AGENT")]
    pub to: String,
    /// Why, for the new owner
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for HandOverTab {
    const NAME: &'static str = "tab_handover";
    const TOOL: &'static str = "firefox_hand_over_tab";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/tabs/{tabId}/handover" };
    const COMMAND: &'static [&'static str] = &["tab", "handover"];
    type Output = TabMoved;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabMoved>, Failure> {
        let slot = SlotId(self.tab_id);
        let world = app.engine().world();
        let command = Command { app, caller, tab: self.tab_id, timeout: None };
        command.may(&world, Use::Acts, "hand over")?;
        let whom = somebody(&world, &self.to)?;
        let asks = vec![Ask::Pool(PoolAsk::HandOver { slot, to: whom, reason: stored(self.reason) })];
        let moved = TabMoved { tab_id: slot.0, done: "handed over to", whom: world.name_of(whom) };
        Ok(Plan::Change { asks, finish: Box::new(move |_, _, _| moved) })
    }
}
