//! Hands a tab over.

use std::time::Duration;

use comity_core::pools::{PoolAsk, PoolEvent, SlotId};
use comity_core::{Ask, Event, Principal, Refusal};

use super::{TabCommand, TabMoved, Use, somebody, stored};
use crate::browser::in_words;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// How long the browser may take to say which pages can reach each other.
const REACH: Duration = Duration::from_secs(10);

/// Hand a tab of yours over to another agent, which is told; its page and cookies go along, and your next tabs have cookies of their own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HandOverTab {
    /// Number of the tab
    pub tab_id: u64,
    /// The agent's name or id; "human" for the person
    pub to: String,
    /// Why, for the new owner
    pub reason: Option<String>,
}

impl Operation for HandOverTab {
    type Output = TabMoved;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabMoved>, Failure> {
        let slot = SlotId(self.tab_id);
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: None };
        command.may_now(Use::Acts, "hand over")?;
        let (whom, name) = {
            let world = app.engine().world();
            let whom = somebody(&world, &self.to)?;
            (whom, world.name_of(whom))
        };
        check_reach(app, slot, whom, &name)?;
        let asks = vec![Ask::Pool(PoolAsk::HandOver { slot, to: whom, reason: stored(self.reason) })];
        let then = move |app: &Application, events: &[Event]| {
            let from = events.iter().find_map(|event| match event {
                Event::Pool(PoolEvent::HandedOver { from, .. }) => Some(*from),
                _ => None,
            });
            let left = from.map(|from| app.browser().handed_over(app, slot, from)).unwrap_or_default();
            let shares_cookies_with = left.iter().map(|slot| slot.0).collect();
            Ok(TabMoved { tab_id: slot.0, done: "handed over to", whom: name, shares_cookies_with })
        };
        Ok(Plan::change_then(asks, then))
    }
}

/// Refuses to hand over a page within reach of another one, such as the one that opened it: they can read and change
/// each other, whoever owns the tabs.
fn check_reach(app: &Application, slot: SlotId, to: Principal, name: &str) -> Result<(), Failure> {
    let related = app.browser().related(slot, REACH)?;
    let world = app.engine().world();
    let is_others = |slot: &&SlotId| world.pools.slot(**slot).is_some_and(|(_, slot)| slot.owner != to);
    let others: Vec<SlotId> = related.iter().filter(is_others).copied().collect();
    if others.is_empty() {
        return Ok(());
    }
    let others = in_words(&others);
    let problem = format!(
        "the pages of tab {slot} and of {others} can reach each other, since one has opened the other"
    );
    let hint = format!("close {others} first, or let {name} open the address in a tab of its own");
    Err(Refusal::NotAllowed { problem, hint }.into())
}
