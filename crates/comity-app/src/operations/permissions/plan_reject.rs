//! Rejects a plan.

use comity_core::permissions::PlanAnswer;
use schemars::JsonSchema;
use serde::Deserialize;

use super::plan_approve::{PlanOutcome, answered};
use super::stored;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Rejects the plan of an agent that you lead, and says what has to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectPlan {
    /// The plan's number
    pub id: u64,
    /// What has to change
    pub feedback: String,
}

impl Operation for RejectPlan {
    type Output = PlanOutcome;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<PlanOutcome>, Failure> {
        let feedback = stored(Some(self.feedback)).unwrap_or_default();
        Ok(answered(self.id, PlanAnswer::Reject { feedback }))
    }
}
