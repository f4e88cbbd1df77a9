//! What becomes of permissions when time runs out, or an agent ends.

use super::RequestId;
use super::event::PermissionEvent;
use super::plans::PlanState;
use super::request::RequestState;
use super::rules::{Rule, RuleEffect, RuleScope};
use crate::event::Event;
use crate::ids::{AgentId, Principal};
use crate::world::World;

/// A request expired: nobody answered, or nobody used the answer.
pub(crate) fn run_out(world: &World, request: RequestId) -> Vec<Event> {
    let event = match world.permissions.get(request).map(|request| &request.state) {
        Some(RequestState::Waiting { .. }) => PermissionEvent::Expired { request },
        Some(RequestState::Allowed { .. }) => PermissionEvent::Lapsed { request },
        _ => return vec![],
    };
    vec![Event::Permission(event)]
}

/// An agent ends with its family. Its requests are withdrawn, and those that it was to answer go to the human.
pub(crate) fn with_agent(world: &World, agent: AgentId, family: &[AgentId]) -> Vec<Event> {
    let (permissions, cause) = (&world.permissions, "its asker ended");
    let open = permissions.requests_of(agent).filter(|request| !request.state.is_settled());
    let withdrawn = open.map(|one| PermissionEvent::Withdrawn { request: one.id, cause: cause.into() });
    let (gone, to) = (Principal::Agent(agent), Principal::Human);
    let asked = permissions.requests().filter(|request| {
        matches!(request.state, RequestState::Waiting { to } if to == gone)
            && !family.contains(&request.asker)
    });
    let escalated = asked.map(|one| PermissionEvent::Escalated { request: one.id, to });
    let plans = permissions.plans.values().filter_map(|plan| match plan.state {
        PlanState::Waiting { .. } if plan.asker == agent => {
            Some(PermissionEvent::PlanWithdrawn { plan: plan.id, cause: cause.into() })
        }
        PlanState::Waiting { to: asked } if asked == gone && !family.contains(&plan.asker) => {
            Some(PermissionEvent::PlanEscalated { plan: plan.id, to })
        }
        _ => None,
    });
    // A rule of one member of the family about another is removed once, with the first of them.
    let before: Vec<AgentId> = family.iter().copied().take_while(|other| *other != agent).collect();
    let is_gone = |rule: &&Rule| {
        before.iter().any(|other| matches!(of_rule(rule, *other), Some(PermissionEvent::RuleRemoved { .. })))
    };
    let rules = permissions.rules().filter(|rule| !is_gone(rule)).filter_map(|rule| of_rule(rule, agent));
    withdrawn.chain(escalated).chain(plans).chain(rules).map(Event::Permission).collect()
}

/// What its owner allowed ends with the owner; what it denied stays denied.
fn of_rule(rule: &Rule, ended: AgentId) -> Option<PermissionEvent> {
    let is_owner = rule.owner == Principal::Agent(ended);
    let removed = || PermissionEvent::RuleRemoved { rule: rule.id, text: rule.to_string().into() };
    match (&rule.scope, rule.effect) {
        (RuleScope::Agent(only), _) if *only == ended => Some(removed()),
        _ if !is_owner => None,
        (RuleScope::Below, _) | (_, RuleEffect::Allow) => Some(removed()),
        (RuleScope::Agent(_) | RuleScope::Team(_), RuleEffect::Ask | RuleEffect::Deny) => {
            Some(PermissionEvent::RulePassedOn { rule: rule.id, to: Principal::Human })
        }
    }
}
