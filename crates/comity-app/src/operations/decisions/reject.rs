//! Rejects a decision.

use comity_core::Ask;
use comity_core::decisions::DecisionAsk;

use super::decide::shown;
use super::{DecisionView, number};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::locks::stored_reason;

/// Turn down a decision made by someone below you.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectDecision {
    /// Its number, such as d7
    pub id: String,
    /// Why you reject it
    pub reason: Option<String>,
}

impl Operation for RejectDecision {
    type Output = DecisionView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DecisionView>, Failure> {
        let reason = stored_reason(self.reason);
        let ask = DecisionAsk::Settle { id: number(&self.id)?, confirm: false, reason };
        Ok(Plan::change(vec![Ask::Decision(ask)], shown))
    }
}
