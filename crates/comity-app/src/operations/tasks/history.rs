//! Earlier attempts at a task, as shown.

use std::fmt;

use comity_core::agents::Life;
use comity_core::display::{quoted, visible, visible_lines};
use comity_core::tasks::{AttemptEnd, PastAttempt};
use comity_core::{Principal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

/// One attempt that came to nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AttemptView {
    /// The number of the claim.
    pub attempt: u32,
    /// Who tried.
    pub by: String,
    /// sent_back, failed, died, given_back, not_started, taken_away or reopened.
    pub how: &'static str,
    /// Why: the reviewer's words, what stood in the way, or how the agent ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it had shown for it, if it was sent back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// Who sent it back, took it away or reopened it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// How long ago that was.
    pub age_ms: u64,
}

impl AttemptView {
    pub(super) fn of(past: &PastAttempt, world: &World, now: Timestamp) -> AttemptView {
        let name = |who: &Principal| Some(world.name_of(*who));
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let (how, reason, evidence, decided_by) = match &past.end {
            AttemptEnd::SentBack { by, reason, evidence } => {
                ("sent_back", text(reason), text(evidence), name(by))
            }
            AttemptEnd::Failed { reason } => ("failed", text(reason), None, None),
            AttemptEnd::Died => ("died", cause_of(past.by, world), None, None),
            AttemptEnd::GivenBack => ("given_back", None, None, None),
            AttemptEnd::NotStarted => ("not_started", None, None, None),
            AttemptEnd::TakenAway { by } => ("taken_away", None, None, name(by)),
            AttemptEnd::Reopened { by } => ("reopened", None, None, name(by)),
        };
        let (by, age_ms) = (world.name_of(past.by), now.since(past.at).0);
        AttemptView { attempt: past.attempt, by, how, reason, evidence, decided_by, age_ms }
    }
}

/// How an agent ended, while that is remembered.
fn cause_of(who: Principal, world: &World) -> Option<String> {
    match &world.agents.get(who.agent()?)?.life {
        Life::Ended { cause, .. } => Some(cause.to_string()),
        Life::Starting | Life::Running | Life::Idle => None,
    }
}

/// `1 (ann): sent back by lead: "the tests fail"`
impl fmt::Display for AttemptView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            "sent_back" => "sent back",
            "died" => "ended over it",
            "given_back" => "given back",
            "not_started" => "not started in time",
            "taken_away" => "taken away",
            how => how,
        };
        write!(f, "{} ({}): {how}", self.attempt, visible(&self.by))?;
        if let Some(by) = &self.decided_by {
            write!(f, " by {}", visible(by))?;
        }
        match self.reason.as_deref() {
            Some(reason) if reason.contains('\n') => {
                let lines = visible_lines(reason);
                lines.lines().try_for_each(|line| write!(f, "\n    | {line}"))
            }
            Some(reason) => write!(f, ": {}", quoted(reason)),
            None => Ok(()),
        }
    }
}
