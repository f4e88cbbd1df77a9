//! Plans: an agent in plan mode submits what it would do, and waits for approval.

use serde::{Deserialize, Serialize};

use super::RequestId;
use super::authority::{answerer_of_plan, may_answer_plan};
use super::event::PermissionEvent;
use super::modes::{mode_of, within};
use super::request::must_be_agent;
use crate::calls;
use crate::ids::{AgentId, Principal};
use crate::limits::{PLAN_BYTES_MAX, PLAN_FEEDBACK_BYTES_MAX, PROFILE_BYTES_MAX};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::roles::Mode;
use crate::time::Timestamp;
use crate::world::World;

/// A plan, and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedPlan {
    pub id: RequestId,
    pub asker: AgentId,
    pub file: Box<str>,
    /// Empty once it is answered.
    pub content: Box<str>,
    pub since: Timestamp,
    pub state: PlanState,
}

/// Where a plan is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum PlanState {
    Waiting {
        to: Principal,
    },
    Approved {
        by: Principal,
        mode: Mode,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        feedback: Option<Box<str>>,
    },
    Rejected {
        by: Principal,
        feedback: Box<str>,
    },
    Withdrawn {
        cause: Box<str>,
    },
}

/// What is said to a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanAnswer {
    Approve { mode: Mode, feedback: Option<Box<str>> },
    Reject { feedback: Box<str> },
}

impl PlanState {
    pub fn word(&self) -> &'static str {
        match self {
            PlanState::Waiting { .. } => "waiting",
            PlanState::Approved { .. } => "approved",
            PlanState::Rejected { .. } => "rejected",
            PlanState::Withdrawn { .. } => "withdrawn",
        }
    }
}

/// Submits a plan; it replaces an earlier one that waits.
pub(super) fn submit(
    world: &World,
    who: Principal,
    file: &str,
    content: &str,
) -> Result<Vec<PermissionEvent>, Refusal> {
    let asker = must_be_agent(who)?;
    let mode = mode_of(world, asker);
    if mode != Mode::Plan {
        let problem = format!("you are in {} mode, so there is no plan to approve", mode.word());
        return Err(Refusal::bad_input(problem, "go on"));
    }
    if content.len() > PLAN_BYTES_MAX || file.len() > PROFILE_BYTES_MAX {
        let problem = format!("the plan is longer than {PLAN_BYTES_MAX} bytes");
        return Err(Refusal::bad_input(problem, "say it in fewer words"));
    }
    if content.trim().is_empty() {
        return Err(Refusal::bad_input("the plan is empty", "write down what you would do"));
    }
    let earlier = world.permissions.plans.values().filter(|plan| plan.asker == asker);
    let earlier = earlier.filter(|plan| matches!(plan.state, PlanState::Waiting { .. }));
    let cause = "its author submitted another one";
    let replaced = earlier.map(|plan| PermissionEvent::PlanWithdrawn { plan: plan.id, cause: cause.into() });
    let submitted = PermissionEvent::PlanSubmitted {
        plan: RequestId(world.permissions.last + 1),
        asker,
        file: file.into(),
        content: content.into(),
        to: answerer_of_plan(world, asker),
    };
    Ok(replaced.chain(std::iter::once(submitted)).collect())
}

/// Approves or rejects a plan. A leader approves no wider mode than its own.
pub(super) fn answer(
    world: &World,
    who: Principal,
    id: RequestId,
    answer: &PlanAnswer,
) -> Result<Vec<PermissionEvent>, Refusal> {
    let plan = world.permissions.plans.get(&id).ok_or_else(|| Refusal::NotFound {
        problem: format!("there is no plan {id}"),
        hint: format!("see which there are with: {}", call(calls::PERMISSIONS, [])),
    })?;
    may_answer_plan(world, who, plan.asker)?;
    if !matches!(plan.state, PlanState::Waiting { .. }) {
        let problem = format!("the plan {id} was {} already", plan.state.word());
        return Err(Refusal::NotAllowed { problem, hint: "nothing has changed".into() });
    }
    let feedback = match answer {
        PlanAnswer::Approve { feedback, .. } => feedback.as_deref().unwrap_or_default(),
        PlanAnswer::Reject { feedback } if feedback.trim().is_empty() => {
            return Err(Refusal::bad_input("a rejected plan needs feedback", "say what has to change"));
        }
        PlanAnswer::Reject { feedback } => feedback,
    };
    if feedback.len() > PLAN_FEEDBACK_BYTES_MAX {
        let problem = format!("the feedback is longer than {PLAN_FEEDBACK_BYTES_MAX} bytes");
        return Err(Refusal::bad_input(problem, "shorten it"));
    }
    let by = who;
    Ok(vec![match answer {
        PlanAnswer::Approve { mode, feedback } => {
            within(world, who, *mode)?;
            let (mode, feedback) = (*mode, feedback.clone());
            PermissionEvent::PlanApproved { plan: id, asker: plan.asker, by, mode, feedback }
        }
        PlanAnswer::Reject { feedback } => {
            PermissionEvent::PlanRejected { plan: id, by, feedback: feedback.clone() }
        }
    }])
}
