//! Waits for something in a tab.

use std::fmt;

use comity_browser::Condition;
use comity_core::Refusal;

use super::{TabCommand, Use, write_remarks};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Wait for something in a tab: an element or a text appears, one goes away, the address matches, or everything has loaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitForTab {
    /// Number of the tab
    pub tab_id: u64,
    /// Until an element that matches is visible
    pub selector: Option<String>,
    /// Until no element that matches is visible
    pub gone: Option<String>,
    /// Until the page has this text
    pub text: Option<String>,
    /// Until the address contains this
    pub url: Option<String>,
    /// Until the page has loaded this far
    pub load: Option<Loading>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for WaitForTab {
    type Output = TabReady;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabReady>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
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
            let hint = format!(
                "such as: {}",
                next_call::<WaitForTab>([("tabId", 7.into()), ("text", "Done".into())])
            );
            return Err(Refusal::bad_input("one thing can be waited for at a time", hint).into());
        };
        let done = command.run(Use::Looks, "read", |tab, timeout| tab.wait_for(&condition, timeout))?;
        Ok(Plan::Answer(TabReady { tab_id: self.tab_id, url: done.url, remarks: command.remarks() }))
    }
}

/// How far a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub tab_id: u64,
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
