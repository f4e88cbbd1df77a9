//! Confirms a decision, or turns it down.

use clap::Args;
use comity_core::decisions::{DecisionAsk, DecisionId};
use comity_core::{Ask, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DecisionView;
use super::decide::shown;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::operations::locks::stored_reason;

/// Confirms a decision of somebody below you. Nobody confirms their own.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct ConfirmDecision {
    /// Its number, such as d7
    #[arg(value_name = "ID")]
    pub id: String,
}

/// Turns a decision of somebody below you down.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct RejectDecision {
    /// Its number, such as d7
    #[arg(value_name = "ID")]
    pub id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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

impl Operation for RejectDecision {
    const NAME: &'static str = "decision_reject";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/decisions/{id}/reject" };
    const COMMAND: &'static [&'static str] = &["decision", "reject"];
    type Output = DecisionView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DecisionView>, Failure> {
        let reason = stored_reason(self.reason);
        let ask = DecisionAsk::Settle { id: number(&self.id)?, confirm: false, reason };
        Ok(Plan::Change { asks: vec![Ask::Decision(ask)], finish: Box::new(shown) })
    }
}

fn number(text: &str) -> Result<DecisionId, Refusal> {
    text.parse().map_err(|()| Refusal::NotFound {
        problem: format!("there is no decision {text:?}"),
        hint: "see them with: comity decisions".into(),
    })
}
