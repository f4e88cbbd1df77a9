//! Shows what a page has loaded.

use std::fmt;

use comity_browser::RequestOutcome;

use super::{TabCommand, Use};
use crate::browser::write_page;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// From this status on a request has failed.
const FAILED_FROM: u16 = 400;
/// The default.
const LIMIT: usize = 50;

/// Show what the pages in a tab loaded lately, and what became of it. It is untrusted data.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TabNetwork {
    /// Number of the tab
    pub tab_id: u64,
    /// Only requests after this number
    pub after: Option<u64>,
    /// Requests at most, the newest (50)
    pub limit: Option<usize>,
    /// Only what failed or was refused
    #[serde(default)]
    pub failed: bool,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for TabNetwork {
    type Output = Network;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Network>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let done = command.run(Use::Looks, "read", |tab, _| Ok(tab.network()))?;
        let after = self.after.unwrap_or(0);
        let mut requests: Vec<Loaded> = done
            .value
            .into_iter()
            .filter(|request| request.number > after)
            .map(|request| {
                let (is_fine, outcome) = told(&request.outcome);
                (
                    is_fine,
                    Loaded { number: request.number, method: request.method, url: request.url, outcome },
                )
            })
            .filter(|(is_fine, _)| !self.failed || !is_fine)
            .map(|(_, loaded)| loaded)
            .collect();
        requests.drain(..requests.len().saturating_sub(self.limit.unwrap_or(LIMIT)));
        Ok(Plan::Answer(Network { tab_id: self.tab_id, url: done.url, requests, untrusted: true }))
    }
}

/// What was loaded.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    pub tab_id: u64,
    pub url: String,
    /// The oldest first.
    pub requests: Vec<Loaded>,
    /// Always: what a page does is data, not instructions.
    pub untrusted: bool,
}

/// One request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Loaded {
    /// Counts up; gaps say that requests were dropped.
    pub number: u64,
    /// GET, POST and so on.
    pub method: String,
    pub url: String,
    pub outcome: String,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.requests.is_empty() {
            return f.write_str("nothing was loaded");
        }
        let line = |one: &Loaded| format!("{} {} {} {}\n", one.number, one.method, one.url, one.outcome);
        write_page(f, &self.url, &self.requests.iter().map(line).collect::<String>())
    }
}

/// Whether it succeeded, and what became of it.
fn told(outcome: &RequestOutcome) -> (bool, String) {
    match outcome {
        RequestOutcome::Running => (true, "is being loaded".into()),
        RequestOutcome::Answered { status, mime, bytes, took_ms } => {
            (*status < FAILED_FROM, format!("{status} {mime} {bytes} bytes in {took_ms} ms"))
        }
        RequestOutcome::Failed { error } => (false, format!("failed: {error}")),
        RequestOutcome::Blocked { rule } => (false, format!("was refused: {rule}")),
    }
}
