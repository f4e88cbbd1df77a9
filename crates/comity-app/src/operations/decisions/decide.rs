//! Records a decision.

use comity_core::decisions::{DecisionAsk, DecisionEvent};
use comity_core::redact::redact;
use comity_core::{Ask, Event, Timestamp, World};

use super::DecisionView;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Record a decision for everyone, with the reason.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// What was decided, in one line
    pub title: String,
    /// Why it was decided
    #[serde(alias = "reason")]
    pub rationale: Option<String>,
    /// Someone above you must confirm it
    #[serde(default)]
    pub needs_confirmation: bool,
}

impl Operation for Decide {
    type Output = DecisionView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DecisionView>, Failure> {
        let ask = DecisionAsk::Decide {
            title: redact(&self.title).into(),
            rationale: self.rationale.map(|rationale| redact(rationale.trim()).into()),
            needs_confirmation: self.needs_confirmation,
        };
        Ok(Plan::change(vec![Ask::Decision(ask)], shown))
    }
}

pub(super) fn shown(events: &[Event], world: &World, now: Timestamp) -> DecisionView {
    let id = events.iter().rev().find_map(|event| match event {
        Event::Decision(
            DecisionEvent::Made { id, .. }
            | DecisionEvent::Confirmed { id }
            | DecisionEvent::Rejected { id, .. },
        ) => Some(*id),
        _ => None,
    });
    let decision = id.and_then(|id| world.decisions.get(id));
    decision.map_or_else(DecisionView::gone, |decision| DecisionView::of(decision, world, now))
}
