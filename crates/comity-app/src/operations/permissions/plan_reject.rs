//! Rejects a plan.

use comity_core::permissions::PlanAnswer;

use super::plan_approve::{PlanOutcome, answered};
use super::stored;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Reject the plan of an agent you lead, and say what has to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectPlan {
    /// The plan's number
    pub id: u64,
    /// What has to change
    #[serde(alias = "reason")]
    pub feedback: String,
}

impl Operation for RejectPlan {
    type Output = PlanOutcome;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<PlanOutcome>, Failure> {
        let feedback = stored(Some(self.feedback)).unwrap_or_default();
        Ok(answered(self.id, PlanAnswer::Reject { feedback }))
    }
}
