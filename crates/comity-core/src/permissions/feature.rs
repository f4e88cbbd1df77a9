//! Permissions as a feature: names, whom events concern, sentences.

use super::{
    PermissionAsk, PermissionEvent, PlanState, RequestId, RequestState, Rule, RuleId, RuleScope, applies,
};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent, FollowUp};
use crate::ids::{AgentId, Principal};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

/// Settles waiting requests that rules or modes now decide.
pub(crate) const FOLLOW_UP: FollowUp =
    FollowUp { follows: super::may_settle, next: super::verdict::next_settled };

impl FeatureAsk for PermissionAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        Ok(super::decide(world, asker.who, self)?.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            PermissionAsk::Answer { .. } => Some("answer a permission request"),
            PermissionAsk::AddRule { .. } | PermissionAsk::RemoveRule { .. } => Some("change rules"),
            PermissionAsk::SetMode { .. } => Some("change a mode"),
            PermissionAsk::AnswerPlan { .. } => Some("answer a plan"),
            PermissionAsk::Request { .. }
            | PermissionAsk::Use { .. }
            | PermissionAsk::Withdraw { .. }
            | PermissionAsk::SubmitPlan { .. } => None,
        }
    }

    fn is_work(&self) -> bool {
        true
    }
}

event_types!(PermissionEvent {
    PermissionEvent::Asked { .. } => durable("permission_asked", "permission:asked"),
    PermissionEvent::Escalated { .. } => durable("permission_escalated", "permission:escalated"),
    PermissionEvent::Allowed { .. } => durable("permission_allowed", "permission:allowed"),
    PermissionEvent::Denied { .. } => durable("permission_denied", "permission:denied"),
    PermissionEvent::Expired { .. } => durable("permission_expired", "permission:expired"),
    PermissionEvent::Lapsed { .. } => durable("permission_lapsed", "permission:lapsed"),
    PermissionEvent::Withdrawn { .. } => durable("permission_withdrawn", "permission:withdrawn"),
    PermissionEvent::Used { .. } => durable("permission_used", "permission:used"),
    // Recorded before every call that needs no answer, so it does not wait for the disk.
    PermissionEvent::Passed { .. } => live("permission_passed", "permission:passed").housekeeping(),
    PermissionEvent::RuleAdded { .. } => durable("permission_rule_added", "permission:rule_added"),
    PermissionEvent::RuleRemoved { .. } => durable("permission_rule_removed", "permission:rule_removed"),
    PermissionEvent::RulePassedOn { .. } => durable("permission_rule_passed_on", "permission:rule_passed_on"),
    PermissionEvent::ModeSet { .. } => durable("permission_mode_set", "permission:mode_set"),
    PermissionEvent::PlanSubmitted { .. } => durable("plan_submitted", "plan:submitted"),
    PermissionEvent::PlanEscalated { .. } => durable("plan_escalated", "plan:escalated"),
    PermissionEvent::PlanApproved { .. } => durable("plan_approved", "plan:approved"),
    PermissionEvent::PlanRejected { .. } => durable("plan_rejected", "plan:rejected"),
    PermissionEvent::PlanWithdrawn { .. } => durable("plan_withdrawn", "plan:withdrawn"),
});

impl FeatureEvent for PermissionEvent {
    fn may_close_cycle(&self) -> bool {
        true
    }

    fn apply(&self, world: &mut World, _: &Record) {
        super::apply(world, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        let asker = |asker: &AgentId| Principal::Agent(*asker);
        match self {
            PermissionEvent::Asked { asker: who, to, .. }
            | PermissionEvent::PlanSubmitted { asker: who, to, .. } => agents([asker(who), *to]),
            PermissionEvent::Escalated { request, to } => {
                agents(asked(before, *request).into_iter().chain([*to]))
            }
            PermissionEvent::Allowed { request, by, .. } | PermissionEvent::Denied { request, by, .. } => {
                agents(asked(before, *request).into_iter().chain([*by]))
            }
            PermissionEvent::Expired { request }
            | PermissionEvent::Lapsed { request }
            | PermissionEvent::Withdrawn { request, .. }
            | PermissionEvent::Used { request, .. } => agents(asked(before, *request)),
            PermissionEvent::Passed { asker, .. } => vec![*asker],
            PermissionEvent::RuleAdded { rule } => agents(of_rule(before, rule)),
            PermissionEvent::RuleRemoved { rule, .. } => agents(rule_of(before, *rule)),
            PermissionEvent::RulePassedOn { rule, to } => {
                agents(rule_of(before, *rule).into_iter().chain([*to]))
            }
            PermissionEvent::ModeSet { agent, by, .. } => agents([asker(agent), *by]),
            PermissionEvent::PlanEscalated { plan, to } => {
                agents(shown(before, *plan).into_iter().chain([*to]))
            }
            PermissionEvent::PlanApproved { plan, asker: who, by, .. } => {
                agents(shown(before, *plan).into_iter().chain([asker(who), *by]))
            }
            PermissionEvent::PlanRejected { plan, by, .. } => {
                agents(shown(before, *plan).into_iter().chain([*by]))
            }
            PermissionEvent::PlanWithdrawn { plan, .. } => agents(shown(before, *plan)),
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let name = |who: Principal| telling.name(who);
        let agent = |id: AgentId| telling.agent(id);
        let about = |id: RequestId| match telling.world.permissions.get(id) {
            Some(request) => format!("request {id} of {} ({})", agent(request.asker), request.call.tool),
            None => format!("request {id}"),
        };
        match self {
            PermissionEvent::Asked { request, asker, call, to, .. } => {
                let (asker, to) = (agent(*asker), name(*to));
                format!("{asker} asks {to} (request {request}): {} {}", call.tool, call.summary)
            }
            PermissionEvent::Escalated { request, to } => {
                format!("{} is for {} now", about(*request), name(*to))
            }
            PermissionEvent::Allowed { request, by, .. } => {
                format!("{} allowed {}", name(*by), about(*request))
            }
            PermissionEvent::Denied { request, by, reason, .. } => {
                format!("{} denied {}: {reason}", name(*by), about(*request))
            }
            PermissionEvent::Expired { request } => format!("nobody answered {} in time", about(*request)),
            PermissionEvent::Lapsed { request } => {
                format!("{} was allowed, but not used in time", about(*request))
            }
            PermissionEvent::Withdrawn { request, cause } => {
                format!("{} was withdrawn: {cause}", about(*request))
            }
            PermissionEvent::Used { request, .. } => format!("{} was used", about(*request)),
            PermissionEvent::Passed { asker, tool, summary, .. } => {
                format!("{} did not have to ask: {tool} {summary}", agent(*asker))
            }
            PermissionEvent::RuleAdded { rule } => format!("{} added rule {}: {rule}", telling.by(), rule.id),
            PermissionEvent::RuleRemoved { rule, text } => format!("rule {rule} was removed: {text}"),
            PermissionEvent::RulePassedOn { rule, to } => format!("rule {rule} now belongs to {}", name(*to)),
            PermissionEvent::ModeSet { agent: id, mode, by } => match *by == Principal::Agent(*id) {
                true => format!("{} switched to {} mode", name(*by), mode.word()),
                false => format!("{} put {} in {} mode", name(*by), agent(*id), mode.word()),
            },
            PermissionEvent::PlanSubmitted { plan, asker, file, to, .. } => {
                format!("{} shows plan {plan} ({file}) to {}", agent(*asker), name(*to))
            }
            PermissionEvent::PlanEscalated { plan, to } => format!("plan {plan} is for {} now", name(*to)),
            PermissionEvent::PlanApproved { plan, asker, by, mode, .. } => {
                let (by, asker) = (name(*by), agent(*asker));
                format!("{by} approved plan {plan} of {asker}, which continues in {} mode", mode.word())
            }
            PermissionEvent::PlanRejected { plan, by, feedback } => {
                format!("{} rejected plan {plan}: {feedback}", name(*by))
            }
            PermissionEvent::PlanWithdrawn { plan, cause } => format!("plan {plan} was withdrawn: {cause}"),
        }
    }
}

/// The asker of a request, and who was to answer.
fn asked(before: Option<&World>, request: RequestId) -> Vec<Principal> {
    let Some(request) = before.and_then(|world| world.permissions.get(request)) else { return vec![] };
    let asker = Principal::Agent(request.asker);
    match &request.state {
        RequestState::Waiting { to } => vec![asker, *to],
        RequestState::Allowed { by, .. }
        | RequestState::Used { by, .. }
        | RequestState::Denied { by, .. } => vec![asker, *by],
        RequestState::Expired | RequestState::Lapsed | RequestState::Withdrawn { .. } => vec![asker],
    }
}

/// The author of a plan, and who was to answer.
fn shown(before: Option<&World>, plan: RequestId) -> Vec<Principal> {
    let plan = before.and_then(|world| world.permissions.plans().find(|known| known.id == plan));
    let Some(plan) = plan else { return vec![] };
    let asker = Principal::Agent(plan.asker);
    match &plan.state {
        PlanState::Waiting { to } => vec![asker, *to],
        PlanState::Approved { .. } | PlanState::Rejected { .. } | PlanState::Withdrawn { .. } => {
            vec![asker]
        }
    }
}

fn rule_of(before: Option<&World>, rule: RuleId) -> Vec<Principal> {
    let rule = before.and_then(|world| world.permissions.rule(rule));
    rule.map(|rule| of_rule(before, rule)).unwrap_or_default()
}

/// Its owner, and those that it names or whose team it names.
fn of_rule(before: Option<&World>, rule: &Rule) -> Vec<Principal> {
    let mut all = vec![rule.owner];
    match &rule.scope {
        RuleScope::Agent(agent) => all.push(Principal::Agent(*agent)),
        RuleScope::Team(_) => all.extend(before.into_iter().flat_map(|world| {
            let live = world.agents.live().map(|agent| agent.id);
            live.filter(|agent| applies(world, rule, *agent)).map(Principal::Agent)
        })),
        RuleScope::Below => {}
    }
    all
}
