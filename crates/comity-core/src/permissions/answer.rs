//! Answers to permission requests: only from above or from the human, and only about what was asked.

use super::RequestId;
use super::authority::may_answer_call;
use super::call::{ToolCall, ToolClass};
use super::event::PermissionEvent;
use super::pattern::{Pattern, allow_files};
use super::request::{PermissionRequest, RequestState, unknown};
use super::rules::{self, RuleEffect, RuleScope};
use crate::calls;
use crate::checks::check_reason;
use crate::ids::{ContentHash, Principal};
use crate::limits::PERMISSION_KEPT;
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::world::World;

/// The answer to a permission request.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// It may be done once; or from now on, if the answer is kept as a rule.
    Allow {
        kept: Option<KeptAnswer>,
    },
    Deny {
        reason: Option<Box<str>>,
    },
}

/// How an answer is kept as a rule. It changes no mode, and extends to nobody else unless it says so.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptAnswer {
    /// Whether the rule is for the asker's whole team; otherwise it is for the asker alone.
    pub for_team: bool,
    /// What the rule covers; exactly this call if `None`.
    pub pattern: Option<Pattern>,
}

pub(super) fn answer(
    world: &World,
    who: Principal,
    id: RequestId,
    (tool, hash): (&str, ContentHash),
    answer: &Answer,
) -> Result<Vec<PermissionEvent>, Refusal> {
    let request = world.permissions.get(id).ok_or_else(|| unknown(id))?;
    may_answer_call(world, who, request.asker, &request.call)?;
    must_wait(world, request)?;
    if *request.call.tool != *tool || request.call.hash != hash {
        let problem = format!("request {id} is about another call than the one you answer");
        return Err(Refusal::bad_input(
            problem,
            format!("look at it again with: {}", call(calls::PERMISSIONS, [])),
        ));
    }
    match answer {
        Answer::Allow { kept } => {
            let rule = kept.as_ref().map(|kept| rule(world, who, request, kept)).transpose()?;
            let allowed = PermissionEvent::Allowed {
                request: id,
                by: who,
                ground: super::AllowedBy::Answer,
                keep: PERMISSION_KEPT,
            };
            // The answer goes first: the rule would settle the request, too, but the answer is what was given.
            Ok(std::iter::once(allowed).chain(rule).collect())
        }
        Answer::Deny { reason } => {
            check_reason(reason.as_deref())?;
            let reason = reason.clone().unwrap_or_else(|| "no reason was given".into());
            Ok(vec![PermissionEvent::Denied { request: id, by: who, reason, keep: PERMISSION_KEPT }])
        }
    }
}

/// Refuses an answer that comes too late, or a second one.
fn must_wait(world: &World, request: &PermissionRequest) -> Result<(), Refusal> {
    let id = request.id;
    let problem = match &request.state {
        RequestState::Waiting { .. } if world.now < request.deadline => return Ok(()),
        RequestState::Waiting { .. } | RequestState::Expired => {
            format!("request {id} has expired: the answer comes too late")
        }
        RequestState::Allowed { by, .. } | RequestState::Used { by, .. } => {
            format!("request {id} was allowed by {} already", world.name_of(*by))
        }
        RequestState::Denied { by, .. } => {
            format!("request {id} was denied by {} already", world.name_of(*by))
        }
        RequestState::Lapsed => format!("request {id} was allowed already, and not used in time"),
        RequestState::Withdrawn { cause } => format!("request {id} was withdrawn: {cause}"),
    };
    Err(Refusal::NotAllowed { problem, hint: "nothing has changed; the asker has to ask again".into() })
}

/// The rule for an answer: this exact call, or a pattern that covers it.
fn rule(
    world: &World,
    who: Principal,
    request: &PermissionRequest,
    kept: &KeptAnswer,
) -> Result<PermissionEvent, Refusal> {
    let call = &request.call;
    let pattern = match &kept.pattern {
        Some(pattern) if allows(pattern, call) => Some(pattern.clone()),
        Some(pattern) => {
            let problem = format!("{:?} does not allow what was asked for", pattern.readable());
            return Err(Refusal::bad_input(problem, "give a pattern that this call is in"));
        }
        None => exactly(call)?,
    };
    let team = world.agents.get(request.asker).and_then(|agent| agent.profile.team.clone());
    let scope = match (kept.for_team, team) {
        (false, _) => RuleScope::Agent(request.asker),
        (true, Some(team)) => RuleScope::Team(team),
        (true, None) => RuleScope::Below,
    };
    rules::add(world, who, &scope, RuleEffect::Allow, (&call.tool, call.class), pattern.as_ref())
}

fn allows(pattern: &Pattern, call: &ToolCall) -> bool {
    match pattern {
        Pattern::Command(_) => pattern.allows_command(call),
        Pattern::Files(_) | Pattern::Absolute(_) => allow_files(std::iter::once(pattern), call),
    }
}

fn exactly(call: &ToolCall) -> Result<Option<Pattern>, Refusal> {
    let cannot = || {
        let problem = "no rule can be made of this call alone: it is not one plain command, or not one file";
        Refusal::bad_input(problem, "allow it this once, or give a pattern")
    };
    let is_plain = |word: &str| !word.contains(['*', ' ', '\t', '\n']) && !word.contains(crate::redact::MARK);
    match call.class {
        ToolClass::Other => Ok(None),
        ToolClass::Shell => {
            let single = call.commands.as_ref().and_then(|commands| commands.single.as_ref());
            let words = single.filter(|words| words.iter().all(|word| is_plain(word))).ok_or_else(cannot)?;
            Ok(Some(Pattern::Command(words.clone())))
        }
        ToolClass::Edit | ToolClass::Read => match (call.files(), &call.outside[..]) {
            ([file], []) if call.is_all => Ok(Some(Pattern::Files(file.clone()))),
            ([], [path]) if call.is_all => Ok(Some(Pattern::Absolute(path.clone()))),
            _ => Err(cannot()),
        },
    }
}
