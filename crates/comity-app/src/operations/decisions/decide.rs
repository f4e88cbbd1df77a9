//! Writes a decision down.

use clap::Args;
use comity_core::decisions::{DecisionAsk, DecisionEvent};
use comity_core::redact::redact;
use comity_core::{Ask, Event, Timestamp, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DecisionView;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Writes a decision down for everybody, with the reasons.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// What, in a line
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// Somebody above you has to confirm it
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_confirmation: bool,
}

impl Operation for Decide {
    const NAME: &'static str = "decide";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "POST", path: "/api/decisions" };
    const COMMAND: &'static [&'static str] = &["decide"];
    type Output = DecisionView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DecisionView>, Failure> {
        let ask = DecisionAsk::Decide {
            title: redact(&self.title).into(),
            rationale: self.rationale.map(|rationale| redact(rationale.trim()).into()),
            needs_confirmation: self.needs_confirmation,
        };
        Ok(Plan::Change { asks: vec![Ask::Decision(ask)], finish: Box::new(shown) })
    }
}

/// The decision that the events are about.
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
