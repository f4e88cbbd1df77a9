//! Decisions: write one down, look, confirm or turn down.

mod confirm;
mod decide;
mod list;
mod reject;

use std::fmt;

use comity_core::calls;
use comity_core::decisions::{Decision, DecisionId, DecisionState};
use comity_core::display::{visible, visible_lines};
use comity_core::{Millis, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::next_call;
use crate::catalog::{CatalogEntry, GET, Group, POST};
pub use confirm::ConfirmDecision;
pub use decide::Decide;
pub use list::ListDecisions;
pub use reject::RejectDecision;

pub(crate) const GROUPS: &[Group] = &[("decision", "What was decided, and what is waiting to be confirmed")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Decide>(         "decide",           "decide <title>",        POST, "/api/decisions")             .changes().for_agents().also(&["decision add"]),
    CatalogEntry::of::<ListDecisions>(  calls::DECISIONS,        "decision list <id>",    GET,  "/api/decisions").long().also(&["decision ls", "decision show"]),
    CatalogEntry::of::<ConfirmDecision>("decision_confirm", "decision confirm <id>", POST, "/api/decisions/{id}/confirm").changes(),
    CatalogEntry::of::<RejectDecision>( "decision_reject",  "decision reject <id>",  POST, "/api/decisions/{id}/reject") .changes(),
];

/// One decision, as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DecisionView {
    pub id: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    pub by: String,
    pub age_ms: u64,
    /// made, pending, confirmed or rejected.
    pub state: &'static str,
    /// Who confirmed it or turned it down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
    /// Why it was turned down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The repository that whoever made it works in, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl DecisionView {
    pub(crate) fn of(decision: &Decision, world: &World, now: Timestamp) -> DecisionView {
        let (state, settled_by, reason) = match &decision.standing {
            DecisionState::Made => ("made", None, None),
            DecisionState::Pending => ("pending", None, None),
            DecisionState::Confirmed { by, .. } => ("confirmed", Some(world.name_of(*by)), None),
            DecisionState::Rejected { by, reason, .. } => {
                ("rejected", Some(world.name_of(*by)), reason.as_deref().map(str::to_owned))
            }
        };
        DecisionView {
            id: decision.id.to_string(),
            title: decision.title.to_string(),
            rationale: decision.rationale.as_deref().map(str::to_owned),
            by: world.name_of(decision.by),
            age_ms: now.since(decision.at).0,
            state,
            settled_by,
            reason,
            project: None,
        }
    }
}

impl fmt::Display for DecisionView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = Millis(self.age_ms).ago();
        write!(f, "{}  {}  {}, {age}: {}", self.id, self.state, self.by, visible(&self.title))?;
        match (&self.settled_by, &self.reason) {
            (None, _) => {}
            (Some(by), None) => write!(f, " (by {by})")?,
            (Some(by), Some(reason)) => write!(f, " (by {by}: {})", visible(reason))?,
        }
        let Some(rationale) = &self.rationale else { return Ok(()) };
        visible_lines(rationale).lines().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}

impl DecisionView {
    fn row(&self) -> Vec<String> {
        let settled = self.settled_by.clone().unwrap_or_default();
        let age = Millis(self.age_ms).rough().to_string();
        vec![
            self.id.clone(),
            self.state.to_owned(),
            self.by.clone(),
            age,
            self.project.as_deref().map(visible).unwrap_or_default().into_owned(),
            visible(&self.title).into_owned(),
            settled,
        ]
    }

    /// A decision that is no longer remembered.
    fn gone() -> DecisionView {
        DecisionView {
            id: String::new(),
            title: "it is in the log only".into(),
            rationale: None,
            by: String::new(),
            age_ms: 0,
            state: "made",
            settled_by: None,
            reason: None,
            project: None,
        }
    }
}

fn number(text: &str) -> Result<DecisionId, Refusal> {
    text.parse().map_err(|()| unknown(text))
}

fn unknown(text: &str) -> Refusal {
    Refusal::NotFound {
        problem: format!("there is no decision {text:?}"),
        hint: format!("see them with: {}", next_call::<ListDecisions>([])),
    }
}
