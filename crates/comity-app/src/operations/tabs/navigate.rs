//! Goes somewhere in a tab.

use comity_browser::{Acted, Until};
use comity_core::Refusal;

use super::{TabActed, TabCommand, Use};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Load a page in a tab of yours, go back or forward, or reload.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NavigateTab {
    /// Number of the tab
    pub tab_id: u64,
    /// The page's address
    pub url: Option<String>,
    /// Instead of an address: back, forward or reload
    pub go: Option<HistoryStep>,
    /// How far to wait for loading (complete)
    pub until: Option<Loaded>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for NavigateTab {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let until = match self.until.unwrap_or(Loaded::Complete) {
            Loaded::Begun => Until::Begun,
            Loaded::Interactive => Until::Interactive,
            Loaded::Complete => Until::Complete,
        };
        let nothing = |_| Acted { dialog: None };
        let acted = match (self.url, self.go) {
            (Some(url), None) => {
                command.act(Use::Steers, "navigate", "the page was loaded".into(), |tab, timeout| {
                    tab.navigate(&url, until, timeout).map(nothing)
                })
            }
            (None, Some(go)) => command.act(Use::Steers, "navigate", go.done().into(), |tab, timeout| {
                let went = match go {
                    HistoryStep::Back => tab.back(timeout),
                    HistoryStep::Forward => tab.forward(timeout),
                    HistoryStep::Reload => tab.reload(until, timeout),
                };
                went.map(nothing)
            }),
            (None, None) | (Some(_), Some(_)) => {
                let problem = "it is an address, or one of back, forward and reload";
                Err(Refusal::bad_input(
                    problem,
                    format!(
                        "such as: {}",
                        next_call::<NavigateTab>([
                            ("tabId", 7.into()),
                            ("url", "https://example.com".into())
                        ])
                    ),
                )
                .into())
            }
        };
        Ok(Plan::Answer(acted?))
    }
}

/// Where to go without an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HistoryStep {
    /// To the page before.
    Back,
    /// To the page after.
    Forward,
    /// To the same page again.
    Reload,
}

/// Until when a page is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Loaded {
    /// Until it has begun.
    Begun,
    /// Until it can be read.
    Interactive,
    /// Until everything is loaded.
    Complete,
}

impl HistoryStep {
    fn done(self) -> &'static str {
        match self {
            HistoryStep::Back => "went back",
            HistoryStep::Forward => "went forward",
            HistoryStep::Reload => "the page was loaded again",
        }
    }
}
