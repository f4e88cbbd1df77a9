//! Folds permission events into the world.

use super::RequestId;
use super::event::PermissionEvent;
use super::modes::ModeSet;
use super::plans::{PlanState, SubmittedPlan};
use super::request::{AnswerDelivery, PermissionRequest, RequestState};
use super::rules::{Rule, RuleScope, applies};
use crate::control::{self, Control, PermissionOutcome};
use crate::deadlines::Due;
use crate::ids::{AgentId, Principal};
use crate::time::Timestamp;
use crate::world::World;

pub(crate) fn apply(world: &mut World, event: &PermissionEvent) {
    let now = world.now;
    match event.clone() {
        PermissionEvent::Asked { request: id, asker, call, to, wait, hearing } => {
            let (call, deadline) = (*call, now.plus(wait));
            let state = RequestState::Waiting { to };
            world.permissions.insert(PermissionRequest {
                id,
                asker,
                call,
                since: now,
                deadline,
                hearing,
                state,
            });
            watch(world, id);
            tell_answerer(world, id, to);
        }
        PermissionEvent::Escalated { request, to } => {
            change(world, request, RequestState::Waiting { to });
            tell_answerer(world, request, to);
        }
        PermissionEvent::Allowed { request, by, ground, keep } => {
            change(world, request, RequestState::Allowed { by, at: now, ground, until: now.plus(keep) });
            tell(world, request, by, PermissionOutcome::Allowed, None);
        }
        PermissionEvent::Denied { request, by, reason, keep } => {
            let why = Some(reason.clone());
            change(world, request, RequestState::Denied { by, reason, until: now.plus(keep) });
            tell(world, request, by, PermissionOutcome::Denied, why);
        }
        PermissionEvent::Expired { request } => {
            change(world, request, RequestState::Expired);
            tell(world, request, Principal::System, PermissionOutcome::Expired, None);
        }
        PermissionEvent::Lapsed { request } => change(world, request, RequestState::Lapsed),
        PermissionEvent::Withdrawn { request, cause } => {
            change(world, request, RequestState::Withdrawn { cause })
        }
        PermissionEvent::Used { request, .. } => {
            if let Some(RequestState::Allowed { by, .. }) =
                world.permissions.get(request).map(|one| &one.state)
            {
                let by = *by;
                change(world, request, RequestState::Used { by, at: now });
            }
        }
        PermissionEvent::Passed { .. } => {}
        PermissionEvent::RuleAdded { rule } => {
            tell_team(world, &rule);
            world.permissions.insert_rule(rule);
        }
        PermissionEvent::RuleRemoved { rule, .. } => drop(world.permissions.rules.remove(&rule)),
        PermissionEvent::RulePassedOn { rule, to } => {
            world.permissions.rules.entry(rule).and_modify(|rule| rule.owner = to);
        }
        PermissionEvent::ModeSet { agent, mode, by } => {
            world.permissions.modes.insert(agent, ModeSet { mode, by });
            if by != Principal::Agent(agent) {
                let control = Control::ModeSet { mode, by: world.name_of(by).into() };
                control::tell(world, Principal::Agent(agent), by, control);
            }
        }
        PermissionEvent::PlanSubmitted { plan: id, asker, file, content, to } => {
            let state = PlanState::Waiting { to };
            world.permissions.insert_plan(SubmittedPlan { id, asker, file, content, since: now, state });
            show_plan(world, id, to);
        }
        PermissionEvent::PlanEscalated { plan: id, to } => {
            take_plan_back(world, id);
            if let Some(plan) = world.permissions.plans.get_mut(&id) {
                plan.state = PlanState::Waiting { to };
            }
            show_plan(world, id, to);
        }
        PermissionEvent::PlanApproved { plan, asker, by, mode, feedback } => {
            world.permissions.modes.insert(asker, ModeSet { mode, by });
            let (request_id, feedback_too) = (plan.0, feedback.clone());
            take_plan_back(world, plan);
            world.permissions.set_plan(plan, PlanState::Approved { by, mode, feedback });
            let mode = Some(mode);
            let said =
                Control::PlanApprovalResponse { request_id, approved: true, mode, feedback: feedback_too };
            control::tell(world, Principal::Agent(asker), by, said);
        }
        PermissionEvent::PlanRejected { plan, by, feedback } => {
            let asker = world.permissions.plans.get(&plan).map(|plan| plan.asker);
            let (request_id, said) = (plan.0, Some(feedback.clone()));
            take_plan_back(world, plan);
            world.permissions.set_plan(plan, PlanState::Rejected { by, feedback });
            if let Some(asker) = asker {
                let said =
                    Control::PlanApprovalResponse { request_id, approved: false, mode: None, feedback: said };
                control::tell(world, Principal::Agent(asker), by, said);
            }
        }
        PermissionEvent::PlanWithdrawn { plan, cause } => {
            take_plan_back(world, plan);
            world.permissions.set_plan(plan, PlanState::Withdrawn { cause });
        }
    }
}

/// When time alone will change this request.
fn deadline(request: &PermissionRequest) -> Option<Timestamp> {
    match &request.state {
        RequestState::Waiting { .. } => Some(request.deadline),
        RequestState::Allowed { until, .. } => Some(*until),
        RequestState::Used { .. }
        | RequestState::Denied { .. }
        | RequestState::Expired
        | RequestState::Lapsed
        | RequestState::Withdrawn { .. } => None,
    }
}

pub(crate) fn restore(world: &mut World, facts: super::PermissionFacts) {
    world.permissions = facts.restore();
    let all: Vec<RequestId> = world.permissions.requests().map(|request| request.id).collect();
    all.into_iter().for_each(|id| watch(world, id));
}

fn watch(world: &mut World, id: RequestId) {
    let at = world.permissions.get(id).and_then(deadline);
    world.deadlines.set(Due::Permission(id), at);
}

fn change(world: &mut World, id: RequestId, state: RequestState) {
    take_back(world, id, &state);
    world.permissions.set(id, state);
    watch(world, id);
}

/// Takes back messages about a request that are no longer true: that somebody has to answer it, once it is answered
/// or escalated; that the asker may try again, once it has.
fn take_back(world: &mut World, id: RequestId, state: &RequestState) {
    let Some((asker, before)) = world.permissions.get(id).map(|request| (request.asker, &request.state))
    else {
        return;
    };
    if let RequestState::Waiting { to } = *before {
        let is_it = |control: &Control| matches!(control, Control::PermissionRequest { request_id, .. } if *request_id == id.0);
        world.mail.take_back(to, is_it);
    }
    if !matches!(state, RequestState::Waiting { .. }) {
        let is_it = |control: &Control| matches!(control, Control::PermissionResponse { request_id, .. } if *request_id == id.0);
        world.mail.take_back(Principal::Agent(asker), is_it);
    }
}

/// Tells an asker that went on with something else what the answer is; this goes before any letter.
fn tell(
    world: &mut World,
    id: RequestId,
    by: Principal,
    decision: PermissionOutcome,
    reason: Option<Box<str>>,
) {
    let Some(request) = world.permissions.get(id).filter(|request| request.hearing == AnswerDelivery::Told)
    else {
        return;
    };
    let (tool, summary) = (request.call.tool.clone(), request.call.summary.clone());
    let control = Control::PermissionResponse { request_id: id.0, tool, summary, decision, reason };
    control::tell(world, Principal::Agent(request.asker), by, control);
}

/// Tells a leader that is an agent what it is asked; the human looks at the list.
fn tell_answerer(world: &mut World, id: RequestId, to: Principal) {
    let Some(request) = world.permissions.get(id).filter(|_| to.agent().is_some()) else { return };
    let asker = Principal::Agent(request.asker);
    let (tool, summary) = (request.call.tool.clone(), request.call.summary.clone());
    let agent = world.name_of(asker).into();
    control::tell(world, to, asker, Control::PermissionRequest { request_id: id.0, agent, tool, summary });
}

/// A plan need not be answered any more by whoever was to.
fn take_plan_back(world: &mut World, id: RequestId) {
    let Some(PlanState::Waiting { to }) = world.permissions.plans.get(&id).map(|plan| plan.state.clone())
    else {
        return;
    };
    let is_it = |control: &Control| matches!(control, Control::PlanApprovalRequest { request_id, .. } if *request_id == id.0);
    world.mail.take_back(to, is_it);
}

fn show_plan(world: &mut World, id: RequestId, to: Principal) {
    let Some(plan) = world.permissions.plans.get(&id).filter(|_| to.agent().is_some()) else { return };
    let asker = Principal::Agent(plan.asker);
    let (plan_file, plan_content) = (plan.file.clone(), plan.content.clone());
    let agent = world.name_of(asker).into();
    let shown = Control::PlanApprovalRequest { request_id: id.0, agent, plan_file, plan_content };
    control::tell(world, to, asker, shown);
}

/// Tells every member of a team.
fn tell_team(world: &mut World, rule: &Rule) {
    let RuleScope::Team(team) = &rule.scope else { return };
    let mut members: Vec<AgentId> =
        world.agents.live().map(|agent| agent.id).filter(|agent| applies(world, rule, *agent)).collect();
    members.sort_unstable();
    for agent in members {
        let update = Control::TeamPermissionUpdate { team: team.clone(), rule: rule.to_string().into() };
        control::tell(world, Principal::Agent(agent), rule.owner, update);
    }
}
