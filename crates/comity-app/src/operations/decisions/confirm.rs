//! Confirms a decision.

use comity_core::Ask;
use comity_core::decisions::DecisionAsk;

use super::decide::shown;
use super::{DecisionView, number};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Confirm a decision made by someone below you. Nobody confirms their own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmDecision {
    /// The decision, such as d7
    pub id: String,
}

impl Operation for ConfirmDecision {
    type Output = DecisionView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DecisionView>, Failure> {
        let ask = DecisionAsk::Settle { id: number(&self.id)?, confirm: true, reason: None };
        Ok(Plan::change(vec![Ask::Decision(ask)], shown))
    }
}
