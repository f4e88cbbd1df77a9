//! What a call gets without asking anybody: deny beats ask beats allow, then the agent's mode.

use serde::{Deserialize, Serialize};

use super::authority::{may_answer_call, may_answer_plan};
use super::call::ToolCall;
use super::event::PermissionEvent;
use super::modes::mode_of;
use super::pattern::{Match, allow_files};
use super::plans::PlanState;
use super::request::RequestState;
use super::rules::{Rule, RuleEffect, RuleId, applies};
use crate::event::Event;
use crate::ids::{AgentId, Principal};
use crate::limits::PERMISSION_KEPT;
use crate::roles::Mode;
use crate::world::World;

/// Why something is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowedBy {
    /// An answer to this very request.
    Answer,
    Rule(RuleId),
    Mode(Mode),
    /// It is proven to change nothing.
    ReadsOnly,
}

/// What a call gets without asking anybody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    Allowed(AllowedBy),
    Denied {
        reason: Box<str>,
    },
    /// Somebody above has to answer.
    Escalated,
}

/// Judges a call. The order of the rules, and how specific they are, do not matter.
pub fn judge(world: &World, agent: AgentId, call: &ToolCall) -> Judgement {
    let mine: Vec<&Rule> = world.permissions.rules().filter(|rule| applies(world, rule, agent)).collect();
    let with = |effect: RuleEffect| mine.iter().copied().filter(move |rule| rule.effect == effect);
    if let Some(rule) = with(RuleEffect::Deny).find(|rule| rule.forbids(call) == Match::Yes) {
        let reason = format!("a rule of {} says no: {rule} (rule {})", world.name_of(rule.owner), rule.id);
        return Judgement::Denied { reason: reason.into() };
    }
    let mode = mode_of(world, agent);
    // In plan mode nothing may be changed, whatever the rules allow otherwise.
    if mode == Mode::Plan && !call.reads_only {
        let reason =
            "you are in plan mode, and this was not proven to change nothing: submit your plan first";
        return Judgement::Denied { reason: reason.into() };
    }
    if with(RuleEffect::Deny).chain(with(RuleEffect::Ask)).any(|rule| rule.forbids(call) != Match::No) {
        return Judgement::Escalated;
    }
    if let Some(rule) = allowing(&with(RuleEffect::Allow).collect::<Vec<_>>(), call) {
        return Judgement::Allowed(AllowedBy::Rule(rule));
    }
    match mode {
        Mode::Full => Judgement::Allowed(AllowedBy::Mode(mode)),
        Mode::Plan | Mode::Ask | Mode::AcceptEdits if call.reads_only => {
            Judgement::Allowed(AllowedBy::ReadsOnly)
        }
        Mode::AcceptEdits if call.is_plain_edit() => Judgement::Allowed(AllowedBy::Mode(mode)),
        Mode::Plan | Mode::Ask | Mode::AcceptEdits => Judgement::Escalated,
    }
}

/// The rule that allows the call; if several files need several rules, one of them.
fn allowing(rules: &[&Rule], call: &ToolCall) -> Option<RuleId> {
    let about: Vec<&Rule> = rules.iter().copied().filter(|rule| rule.allows_tool(call)).collect();
    let alone = about.iter().find(|rule| match &rule.pattern {
        None => true,
        Some(pattern) => pattern.allows_command(call),
    });
    if let Some(rule) = alone {
        return Some(rule.id);
    }
    let patterns = about.iter().filter_map(|rule| rule.pattern.as_ref());
    allow_files(patterns, call).then(|| about.first().map(|rule| rule.id)).flatten()
}

/// Settles the first waiting request that changed rules or modes now decide, or escalates it (or a plan) to the human
/// if its answerer may no longer answer.
pub(crate) fn next_settled(world: &World) -> Option<Vec<Event>> {
    let (by, human) = (Principal::System, Principal::Human);
    let mut settled = world.permissions.requests().filter_map(|request| {
        let RequestState::Waiting { to } = request.state else { return None };
        let event = match judge(world, request.asker, &request.call) {
            Judgement::Allowed(ground) => {
                PermissionEvent::Allowed { request: request.id, by, ground, keep: PERMISSION_KEPT }
            }
            Judgement::Denied { reason } => {
                PermissionEvent::Denied { request: request.id, by, reason, keep: PERMISSION_KEPT }
            }
            Judgement::Escalated if may_answer_call(world, to, request.asker, &request.call).is_ok() => {
                return None;
            }
            Judgement::Escalated => PermissionEvent::Escalated { request: request.id, to: human },
        };
        Some(event)
    });
    let mut plans = world.permissions.plans().filter_map(|plan| {
        let PlanState::Waiting { to } = plan.state else { return None };
        let may = may_answer_plan(world, to, plan.asker).is_ok();
        (!may).then_some(PermissionEvent::PlanEscalated { plan: plan.id, to: human })
    });
    settled.next().or_else(|| plans.next()).map(|event| vec![Event::Permission(event)])
}
