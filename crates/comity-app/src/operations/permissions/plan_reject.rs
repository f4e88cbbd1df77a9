//! Rejects a plan.

use clap::Args;
use comity_core::permissions::PlanAnswer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan_approve::{PlanOutcome, answered};
use super::stored;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Rejects the plan of an agent that you lead, and says what has to change.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct RejectPlan {
    /// The plan's number
    #[arg(value_name = "ID")]
    pub id: u64,
    /// What has to change
    #[arg(long, value_name = "TEXT")]
    pub feedback: String,
}

impl Operation for RejectPlan {
    const NAME: &'static str = "plan_reject";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/plans/{id}/reject" };
    const COMMAND: &'static [&'static str] = &["plan", "reject"];
    type Output = PlanOutcome;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<PlanOutcome>, Failure> {
        let feedback = stored(Some(self.feedback)).unwrap_or_default();
        Ok(answered(self.id, PlanAnswer::Reject { feedback }))
    }
}
