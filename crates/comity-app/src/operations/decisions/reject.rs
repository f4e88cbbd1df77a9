//! Turns a decision down.

use clap::Args;
use comity_core::Ask;
use comity_core::decisions::DecisionAsk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::shown;
use super::{DecisionView, number};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::operations::locks::stored_reason;

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
