//! What must be true of the permissions of every world.

use super::plans::PlanState;
use super::request::RequestState;
use super::verdict::next_settled;
use crate::ids::{AgentId, Principal};
use crate::world::World;

/// Nobody who has ended asks, is asked or owns rules; nobody waits for what is decided; numbers only grow.
pub fn check(world: &World) -> Result<(), String> {
    let lives = |id: AgentId| world.agents.get(id).is_some_and(|agent| agent.is_live());
    let is_there = |who: Principal| who.agent().is_none_or(lives);
    let permissions = &world.permissions;
    for request in permissions.requests() {
        let is_wrong = match &request.state {
            RequestState::Waiting { to } => {
                !lives(request.asker) || !is_there(*to) || *to == Principal::Agent(request.asker)
            }
            RequestState::Allowed { .. } => !lives(request.asker),
            RequestState::Used { .. }
            | RequestState::Denied { .. }
            | RequestState::Expired
            | RequestState::Lapsed
            | RequestState::Withdrawn { .. } => !request.call.input.is_empty(),
        };
        if is_wrong || request.id.0 > permissions.last {
            return Err(format!("a request that must not be: {request:?}"));
        }
    }
    if let Some(rule) = permissions.rules().find(|rule| !is_there(rule.owner) || rule.id.0 > permissions.last)
    {
        return Err(format!("a rule that must not be: {rule:?}"));
    }
    let waits = |state: &PlanState| matches!(state, PlanState::Waiting { .. });
    if let Some(plan) = permissions.plans().find(|plan| waits(&plan.state) && !lives(plan.asker)) {
        return Err(format!("the plan of somebody who has ended: {plan:?}"));
    }
    match next_settled(world) {
        Some(events) => Err(format!("a request waits for what is decided: {events:?}")),
        None => Ok(()),
    }
}
