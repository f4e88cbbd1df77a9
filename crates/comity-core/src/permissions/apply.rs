//! Folds what happened to permissions into the world.

use super::RequestId;
use super::event::PermissionEvent;
use super::modes::ModeSet;
use super::plans::{Plan, PlanState};
use super::request::{Hearing, Request, State};
use crate::control::{Control, Verdict};
use crate::deadlines::Due;
use crate::event::Record;
use crate::ids::{AgentId, Principal};
use crate::notices::Told;
use crate::time::Timestamp;
use crate::world::World;

pub(crate) fn apply(world: &mut World, record: &Record, event: &PermissionEvent) {
    let (now, seq) = (world.now, record.seq);
    match event.clone() {
        PermissionEvent::Asked { request: id, asker, call, to, wait, hearing } => {
            let (call, deadline) = (*call, now.plus(wait));
            let state = State::Waiting { to };
            world.permissions.insert(Request { id, asker, call, since: now, deadline, hearing, state });
            watch(world, id);
        }
        PermissionEvent::Escalated { request, to } => change(world, request, State::Waiting { to }),
        PermissionEvent::Allowed { request, by, ground, keep } => {
            change(world, request, State::Allowed { by, at: now, ground, until: now.plus(keep) });
            tell(world, request, by, Verdict::Allowed, None);
        }
        PermissionEvent::Denied { request, by, reason, keep } => {
            let why = Some(reason.clone());
            change(world, request, State::Denied { by, reason, until: now.plus(keep) });
            tell(world, request, by, Verdict::Denied, why);
        }
        PermissionEvent::Expired { request } => {
            change(world, request, State::Expired);
            tell(world, request, Principal::System, Verdict::Expired, None);
        }
        PermissionEvent::Lapsed { request } => change(world, request, State::Lapsed),
        PermissionEvent::Withdrawn { request, cause } => change(world, request, State::Withdrawn { cause }),
        PermissionEvent::Used { request, .. } => {
            if let Some(State::Allowed { by, .. }) = world.permissions.get(request).map(|one| &one.state) {
                let by = *by;
                change(world, request, State::Used { by, at: now });
            }
        }
        PermissionEvent::Passed { .. } => {}
        PermissionEvent::RuleAdded { rule } => world.permissions.insert_rule(rule),
        PermissionEvent::RuleRemoved { rule, .. } => drop(world.permissions.rules.remove(&rule)),
        PermissionEvent::RulePassedOn { rule, to } => {
            world.permissions.rules.entry(rule).and_modify(|rule| rule.owner = to);
        }
        PermissionEvent::ModeSet { agent, mode, by } => {
            world.permissions.modes.insert(agent, ModeSet { mode, by });
            if by != Principal::Agent(agent) {
                tell_agent(world, agent, seq, format!("you are in the mode {} now", mode.word()));
            }
        }
        PermissionEvent::PlanSubmitted { plan: id, asker, file, content, to } => {
            let state = PlanState::Waiting { to };
            world.permissions.insert_plan(Plan { id, asker, file, content, since: now, state });
        }
        PermissionEvent::PlanEscalated { plan, to } => {
            if let Some(plan) = world.permissions.plans.get_mut(&plan) {
                plan.state = PlanState::Waiting { to };
            }
        }
        PermissionEvent::PlanApproved { plan, asker, by, mode, feedback } => {
            world.permissions.modes.insert(asker, ModeSet { mode, by });
            let said = feedback.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
            let text = format!("your plan was approved; go on in the mode {}{said}", mode.word());
            world.permissions.set_plan(plan, PlanState::Approved { by, mode, feedback });
            tell_agent(world, asker, seq, text);
        }
        PermissionEvent::PlanRejected { plan, by, feedback } => {
            let asker = world.permissions.plans.get(&plan).map(|plan| plan.asker);
            let text = format!("your plan was rejected: {feedback}");
            world.permissions.set_plan(plan, PlanState::Rejected { by, feedback });
            if let Some(asker) = asker {
                tell_agent(world, asker, seq, text);
            }
        }
        PermissionEvent::PlanWithdrawn { plan, cause } => {
            world.permissions.set_plan(plan, PlanState::Withdrawn { cause });
        }
    }
}

/// When time alone will change this request.
fn deadline(request: &Request) -> Option<Timestamp> {
    match &request.state {
        State::Waiting { .. } => Some(request.deadline),
        State::Allowed { until, .. } => Some(*until),
        State::Used { .. }
        | State::Denied { .. }
        | State::Expired
        | State::Lapsed
        | State::Withdrawn { .. } => None,
    }
}

/// Puts back what a snapshot kept.
pub(crate) fn restore(world: &mut World, facts: super::PermissionFacts) {
    world.permissions = facts.restore();
    let all: Vec<RequestId> = world.permissions.requests().map(|request| request.id).collect();
    all.into_iter().for_each(|id| watch(world, id));
}

/// Sets the deadline of a request.
fn watch(world: &mut World, id: RequestId) {
    let at = world.permissions.get(id).and_then(deadline);
    world.deadlines.set(Due::Permission(id), at);
}

fn change(world: &mut World, id: RequestId, state: State) {
    world.permissions.set(id, state);
    watch(world, id);
}

/// Puts the answer into the box of an asker that went on with something else: it comes before any letter.
fn tell(world: &mut World, id: RequestId, by: Principal, decision: Verdict, reason: Option<Box<str>>) {
    let Some(request) = world.permissions.get(id).filter(|request| request.hearing == Hearing::Told) else {
        return;
    };
    let (tool, summary) = (request.call.tool.clone(), request.call.summary.clone());
    let control = Control::PermissionResponse { request_id: id.0, tool, summary, decision, reason };
    let asker = request.asker;
    if world.agents.living(asker).is_ok() {
        world.mail.queue(Principal::Agent(asker), by, control, world.now);
    }
}

fn tell_agent(world: &mut World, agent: AgentId, seq: u64, text: String) {
    world.tell(Principal::Agent(agent), seq, Told::Permission { text });
}
