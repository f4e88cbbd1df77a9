//! Confirms a decision.

use clap::Args;
use comity_core::Ask;
use comity_core::decisions::DecisionAsk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::shown;
use super::{DecisionView, number};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Confirms a decision of somebody below you. Nobody confirms their own.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct ConfirmDecision {
    /// Its number, such as d7
    #[arg(value_name = "ID")]
    pub id: String,
}

impl Operation for ConfirmDecision {
    const NAME: &'static str = "decision_confirm";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/decisions/{id}/confirm" };
    const COMMAND: &'static [&'static str] = &["decision", "confirm"];
    type Output = DecisionView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DecisionView>, Failure> {
        let ask = DecisionAsk::Settle { id: number(&self.id)?, confirm: true, reason: None };
        Ok(Plan::Change { asks: vec![Ask::Decision(ask)], finish: Box::new(shown) })
    }
}
