//! Lists tabs.

use std::fmt;

use comity_core::pools::SlotState;
use comity_core::table::table;
use comity_core::{Millis, Principal};

use super::timeout;
use crate::browser::{TABS, in_a_line, quote, title};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// List the tabs of the shared browser, whose they are, and who is waiting for one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListTabs {
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for ListTabs {
    type Output = TabList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabList>, Failure> {
        let now = app.engine().now();
        let shown = app.browser().shown(timeout(self.timeout)?);
        let world = app.engine().world();
        let pool = world.pools.get(TABS);
        let tabs = pool.into_iter().flat_map(|pool| pool.slots()).map(|slot| {
            let sees = slot.owner == caller.who
                || caller.who == Principal::Human
                || slot.viewers.contains(&caller.who);
            let (url, shown) = shown.get(&slot.id).cloned().unzip();
            let url = url.or_else(|| Some(slot.at.as_ref()?.url.to_string()));
            TabView {
                tab_id: slot.id.0,
                // What others look at is private.
                url: url.filter(|_| sees).as_deref().map(in_a_line),
                title: shown.filter(|_| sees).as_deref().map(title),
                owner_id: match slot.owner {
                    Principal::Agent(agent) => agent.to_string(),
                    Principal::Human | Principal::System | Principal::Nobody => slot.owner.to_string(),
                },
                owner: world.name_of(slot.owner),
                is_yours: slot.owner == caller.who,
                state: match slot.state {
                    SlotState::Opening => "opening",
                    SlotState::Open => "open",
                },
                shared_with: slot.viewers.iter().map(|who| world.name_of(*who)).collect(),
                age_ms: now.since(slot.since).0,
            }
        });
        Ok(Plan::Answer(TabList {
            tabs: tabs.collect(),
            tab_count: pool.map_or(0, |pool| pool.used()),
            max_tabs: pool.map_or(0, |pool| pool.capacity),
            waiting: pool
                .into_iter()
                .flat_map(|pool| pool.in_line())
                .map(|place| world.name_of(place.who))
                .collect(),
        }))
    }
}

/// All tabs, and how many there may be.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabList {
    /// How many are open or kept for somebody.
    pub tab_count: usize,
    /// How many there can be.
    pub max_tabs: usize,
    pub tabs: Vec<TabView>,
    /// Who waits for one, the first in line first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<String>,
}

/// A tab: whose it is, and what is in it as far as the caller may know.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabView {
    /// Names it in all commands.
    pub tab_id: u64,
    /// Where it is, if you may look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title of its page, if you may look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub owner_id: String,
    /// What people call its owner.
    pub owner: String,
    pub is_yours: bool,
    /// opening or open.
    pub state: &'static str,
    /// Who else may look at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
    /// How long its owner has it.
    pub age_ms: u64,
}

impl fmt::Display for TabList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} tabs are taken", self.tab_count, self.max_tabs)?;
        let row = |tab: &TabView| {
            let owner = if tab.is_yours { "you".to_owned() } else { tab.owner.clone() };
            let age = Millis(tab.age_ms / 1_000 * 1_000).to_string();
            let shown = [tab.title.as_deref(), tab.url.as_deref()];
            let page = shown.into_iter().flatten().filter(|text| !text.is_empty()).map(quote);
            let page = page.collect::<Vec<_>>().join("  ");
            vec![tab.tab_id.to_string(), owner, tab.state.to_owned(), age, page, tab.shared_with.join(", ")]
        };
        if !self.tabs.is_empty() {
            let rows: Vec<Vec<String>> = self.tabs.iter().map(row).collect();
            write!(f, "\n{}", table(&["TAB", "OWNER", "STATE", "FOR", "PAGE", "SHARED WITH"], &rows))?;
        }
        match self.waiting.is_empty() {
            true => Ok(()),
            false => write!(f, "\nwaiting: {}", self.waiting.join(", ")),
        }
    }
}
