//! Shows the plans.

use std::fmt;

use comity_core::permissions::{PlanState, may_answer};
use comity_core::{AgentId, Refusal};

use super::list::{PlanView, plan_view};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// List the plans that agents have submitted: yours, and those of agents you lead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPlans {
    /// Only this one, answered or not
    pub id: Option<u64>,
    /// Include those answered lately
    #[serde(default)]
    pub all: bool,
}

/// Plans that were submitted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanList {
    /// The oldest first.
    pub plans: Vec<PlanView>,
}

impl Operation for ListPlans {
    type Output = PlanList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<PlanList>, Failure> {
        let (now, world) = (app.engine().now(), app.engine().world());
        let is_seen = |asker: AgentId| {
            let started_it = |agent| agent == asker || world.agents.is_ancestor(agent, asker);
            caller.who.agent().is_some_and(started_it) || may_answer(&world, caller.who, asker).is_ok()
        };
        let plans = world.permissions.plans().filter(|plan| is_seen(plan.asker));
        let plans = plans.filter(|plan| match self.id {
            Some(id) => plan.id.0 == id,
            None => self.all || matches!(plan.state, PlanState::Waiting { .. }),
        });
        let plans: Vec<PlanView> = plans.map(|plan| plan_view(plan, &world, now)).collect();
        match self.id.filter(|_| plans.is_empty()) {
            None => Ok(Plan::Answer(PlanList { plans })),
            Some(id) => Err(Refusal::NotFound {
                problem: format!("there is no plan {id} for you to see"),
                hint: format!("see those that wait with: {}", next_call::<ListPlans>([])),
            }
            .into()),
        }
    }
}

impl fmt::Display for PlanList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.plans[..] {
            [] => f.write_str("no plan is waiting"),
            plans => f.write_str(&plans.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        }
    }
}
