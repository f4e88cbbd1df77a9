//! Approves a plan.

use std::fmt;

use comity_core::permissions::{PermissionAsk, PlanAnswer, PlanState, RequestId};
use comity_core::roles::Mode;
use comity_core::{Ask, Event, Principal, World};

use super::mode::named;
use super::stored;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Approve the plan of an agent you lead, and say in which mode it goes on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovePlan {
    /// The plan's number
    pub id: u64,
    /// What to watch out for
    #[serde(alias = "reason")]
    pub feedback: Option<String>,
    /// The mode to continue in: ask (the default), accept-edits or full; no wider than your own
    pub mode: Option<String>,
}

/// What became of a plan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanOutcome {
    pub id: u64,
    pub asker: String,
    /// approved or rejected.
    pub state: &'static str,
    /// The mode that its author goes on in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<&'static str>,
}

impl Operation for ApprovePlan {
    type Output = PlanOutcome;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<PlanOutcome>, Failure> {
        let mode = self.mode.as_deref().map(named).transpose()?.unwrap_or(Mode::Ask);
        Ok(answered(self.id, PlanAnswer::Approve { mode, feedback: stored(self.feedback) }))
    }
}

pub(super) fn answered(id: u64, answer: PlanAnswer) -> Plan<PlanOutcome> {
    let plan = RequestId(id);
    let asks = vec![Ask::Permission(PermissionAsk::AnswerPlan { plan, answer })];
    Plan::change(asks, move |_: &[Event], world: &World, _| outcome(world, plan))
}

fn outcome(world: &World, id: RequestId) -> PlanOutcome {
    let plan = world.permissions.plans().find(|plan| plan.id == id);
    let mode = plan.and_then(|plan| match plan.state {
        PlanState::Approved { mode, .. } => Some(mode.word()),
        PlanState::Waiting { .. } | PlanState::Rejected { .. } | PlanState::Withdrawn { .. } => None,
    });
    PlanOutcome {
        id: id.0,
        asker: plan.map(|plan| world.name_of(Principal::Agent(plan.asker))).unwrap_or_default(),
        state: plan.map_or("answered", |plan| plan.state.word()),
        mode,
    }
}

impl fmt::Display for PlanOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlanOutcome { id, asker, state, mode } = self;
        match mode {
            Some(mode) => write!(f, "plan {id} of {asker} is {state}; it continues in {mode} mode"),
            None => write!(f, "plan {id} of {asker} is {state}"),
        }
    }
}
