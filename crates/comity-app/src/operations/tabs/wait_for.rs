//! Waits for something in a tab.

use std::fmt;

use clap::Args;
use clap::ValueEnum;
use comity_browser::Condition;
use comity_core::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, Use, write_remarks};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};

/// Waits until something is so in a tab: an element or a text is there, one is gone, the address is this, or everything is loaded.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitForTab {
    /// The tab
    #[arg(value_name = "TAB")]
    pub tab_id: u64,
    /// Until an element that matches is visible
    #[arg(long, value_name = "CSS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Until no element that matches is visible
    #[arg(long, value_name = "CSS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<String>,
    /// Until the page has this text
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Until the address contains this
    #[arg(long, value_name = "PART")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Until the page is so far
    #[arg(long, value_name = "STATE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Loading>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

impl Operation for WaitForTab {
    const NAME: &'static str = "tab_wait";
    const TOOL: &'static str = "firefox_wait_for";
    const EFFECT: Effect = Effect::Reads;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::Browsing;
    const ROUTE: Route = Route { method: "POST", path: "/api/tabs/{tabId}/wait" };
    const COMMAND: &'static [&'static str] = &["tab", "wait"];
    type Output = TabReady;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabReady>, Failure> {
        let command = Command { app, caller, tab: self.tab_id, timeout: self.timeout };
        let mut conditions: Vec<Condition> = [
            self.selector.map(Condition::Selector),
            self.gone.map(Condition::Gone),
            self.text.map(Condition::Text),
            self.url.map(Condition::Url),
            self.load.map(Loading::condition),
        ]
        .into_iter()
        .flatten()
        .collect();
        let (Some(condition), true) = (conditions.pop(), conditions.is_empty()) else {
            let hint = "such as: comity tab wait 7 --text Done";
            return Err(Refusal::bad_input("one thing can be waited for at a time", hint).into());
        };
        let done = command.run(Use::Looks, "read", |tab, timeout| tab.wait_for(&condition, timeout))?;
        Ok(Plan::Answer(TabReady { tab_id: self.tab_id, url: done.url, remarks: command.remarks() }))
    }
}

/// How far a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Loading {
    /// It can be read.
    Interactive,
    /// Everything is loaded.
    Complete,
    /// Nothing was loaded for a while.
    Idle,
}

impl Loading {
    fn condition(self) -> Condition {
        match self {
            Loading::Interactive => Condition::Interactive,
            Loading::Complete => Condition::Load,
            Loading::Idle => Condition::NetworkIdle,
        }
    }
}

/// It is so.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TabReady {
    /// The tab.
    pub tab_id: u64,
    /// Where it is now.
    pub url: String,
    /// What happened besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl fmt::Display for TabReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = crate::browser::quote(&self.url);
        write!(f, "it is so in tab {}, which is at {url}", self.tab_id)?;
        write_remarks(f, &self.remarks)
    }
}
