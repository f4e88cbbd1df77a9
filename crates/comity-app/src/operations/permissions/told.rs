//! What happened to permissions, as the ledger tells it.

use comity_core::permissions::{PermissionEvent, RequestId};
use comity_core::{AgentId, Principal, World};

/// One event in a sentence; `by` is the name of who acted.
pub(crate) fn summary(event: &PermissionEvent, by: &str, world: &World) -> String {
    let name = |who: Principal| world.name_of(who);
    let agent = |id: AgentId| world.name_of(Principal::Agent(id));
    let about = |id: RequestId| match world.permissions.get(id) {
        Some(request) => format!("request {id} of {} ({})", agent(request.asker), request.call.tool),
        None => format!("request {id}"),
    };
    match event {
        PermissionEvent::Asked { request, asker, call, to, .. } => {
            let (asker, to) = (agent(*asker), name(*to));
            format!("{asker} asks {to} (request {request}): {} {}", call.tool, call.summary)
        }
        PermissionEvent::Escalated { request, to } => format!("{} is for {} now", about(*request), name(*to)),
        PermissionEvent::Allowed { request, by, .. } => format!("{} allowed {}", name(*by), about(*request)),
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
        PermissionEvent::Used { request, .. } => format!("{} is used up", about(*request)),
        PermissionEvent::Passed { asker, tool, summary, .. } => {
            format!("{} need not ask: {tool} {summary}", agent(*asker))
        }
        PermissionEvent::RuleAdded { rule } => format!("{by} made rule {}: {rule}", rule.id),
        PermissionEvent::RuleRemoved { rule, text } => format!("rule {rule} is no more: {text}"),
        PermissionEvent::RulePassedOn { rule, to } => format!("rule {rule} is {}'s now", name(*to)),
        PermissionEvent::ModeSet { agent: id, mode, by } => {
            format!("{} put {} into the mode {}", name(*by), agent(*id), mode.word())
        }
        PermissionEvent::PlanSubmitted { plan, asker, file, to, .. } => {
            format!("{} shows plan {plan} ({file}) to {}", agent(*asker), name(*to))
        }
        PermissionEvent::PlanEscalated { plan, to } => format!("plan {plan} is for {} now", name(*to)),
        PermissionEvent::PlanApproved { plan, asker, by, mode, .. } => {
            let (by, asker) = (name(*by), agent(*asker));
            format!("{by} approved plan {plan} of {asker}, which goes on in the mode {}", mode.word())
        }
        PermissionEvent::PlanRejected { plan, by, feedback } => {
            format!("{} rejected plan {plan}: {feedback}", name(*by))
        }
        PermissionEvent::PlanWithdrawn { plan, cause } => format!("plan {plan} was withdrawn: {cause}"),
    }
}
