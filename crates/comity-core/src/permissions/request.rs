//! Permission requests: asking whoever is above, and using the answer, once.

use serde::{Deserialize, Serialize};

use super::authority::{answerer_of, answerer_of_call};
use super::call::ToolCall;
use super::event::PermissionEvent;
use super::verdict::{AllowedBy, Judgement, judge};
use super::{CallDenied, RequestId};
use crate::calls;
use crate::features::WaitedFor;
use crate::ids::{AgentId, Principal};
use crate::limits::{
    PERMISSION_INPUT_BYTES_MAX, PERMISSION_WAIT_MAX, PERMISSION_WAIT_MIN, PERMISSIONS_PER_AGENT_MAX,
    PERMISSIONS_WAITING_MAX,
};
use crate::next_call::NextCall;
use crate::refusal::Refusal;
use crate::time::{Millis, Timestamp};
use crate::wait_graph::{Need, WaitRules, Waits};
use crate::world::World;

/// A request for a tool call, and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRequest {
    pub id: RequestId,
    pub asker: AgentId,
    pub call: ToolCall,
    pub since: Timestamp,
    pub deadline: Timestamp,
    pub hearing: AnswerDelivery,
    pub state: RequestState,
}

/// How the asker gets the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerDelivery {
    Waits,
    /// It goes on with something else: it is told, and tries again.
    Told,
}

/// Where a request is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum RequestState {
    Waiting {
        to: Principal,
    },
    Allowed {
        by: Principal,
        at: Timestamp,
        ground: AllowedBy,
        /// Until when it may stay unused.
        until: Timestamp,
    },
    Used {
        by: Principal,
        at: Timestamp,
    },
    Denied {
        by: Principal,
        reason: Box<str>,
        /// Until when a repeat gets the same answer.
        until: Timestamp,
    },
    Expired,
    /// It was allowed, and not used in time.
    Lapsed,
    Withdrawn {
        cause: Box<str>,
    },
}

impl RequestState {
    pub fn word(&self) -> &'static str {
        match self {
            RequestState::Waiting { .. } => "waiting",
            RequestState::Allowed { .. } => "allowed",
            RequestState::Used { .. } => "used",
            RequestState::Denied { .. } => "denied",
            RequestState::Expired => "expired",
            RequestState::Lapsed => "lapsed",
            RequestState::Withdrawn { .. } => "withdrawn",
        }
    }

    pub fn is_settled(&self) -> bool {
        match self {
            RequestState::Waiting { .. } | RequestState::Allowed { .. } => false,
            RequestState::Used { .. }
            | RequestState::Denied { .. }
            | RequestState::Expired
            | RequestState::Lapsed
            | RequestState::Withdrawn { .. } => true,
        }
    }
}

/// The agent's request for exactly this call that still counts: waiting, usable, or denied recently.
pub fn standing<'a>(world: &'a World, agent: AgentId, call: &ToolCall) -> Option<&'a PermissionRequest> {
    let request =
        world.permissions.newest(agent, call.hash).filter(|request| request.call.tool == call.tool)?;
    let counts = match &request.state {
        RequestState::Waiting { .. } => world.now < request.deadline,
        // What a rule or mode allowed counts only while it still says so; an answer was about this very request.
        RequestState::Allowed { until, ground, .. } => {
            let is_still_so = match ground {
                AllowedBy::Answer => true,
                AllowedBy::Rule(_) | AllowedBy::Mode(_) | AllowedBy::ReadsOnly => {
                    matches!(judge(world, agent, call), Judgement::Allowed(_))
                }
            };
            world.now < *until && is_still_so
        }
        RequestState::Denied { until, .. } => world.now < *until,
        RequestState::Used { .. }
        | RequestState::Expired
        | RequestState::Lapsed
        | RequestState::Withdrawn { .. } => false,
    };
    counts.then_some(request)
}

/// Whether there is an answer for somebody whose last request for the same was `before`.
pub fn is_answered(world: &World, agent: AgentId, call: &ToolCall, before: Option<RequestId>) -> bool {
    if judge(world, agent, call) != Judgement::Escalated {
        return true;
    }
    let newest = world.permissions.newest(agent, call.hash);
    newest.is_some_and(|request| match &request.state {
        RequestState::Waiting { .. } => false,
        RequestState::Allowed { .. } | RequestState::Denied { .. } => true,
        RequestState::Used { .. }
        | RequestState::Expired
        | RequestState::Lapsed
        | RequestState::Withdrawn { .. } => Some(request.id) > before,
    })
}

/// Asks whoever is above, unless the rules decide, or it was asked already.
pub(super) fn request(
    world: &World,
    who: Principal,
    call: &ToolCall,
    wait: Millis,
    hearing: AnswerDelivery,
) -> Result<Vec<PermissionEvent>, Refusal> {
    let asker = must_be_agent(who)?;
    call.check()?;
    if !(PERMISSION_WAIT_MIN..=PERMISSION_WAIT_MAX).contains(&wait) {
        let hint = format!("wait from {PERMISSION_WAIT_MIN} to {PERMISSION_WAIT_MAX}");
        return Err(Refusal::bad_input(format!("an answer can't be waited for {wait}"), hint));
    }
    if standing(world, asker, call).is_some() || judge(world, asker, call) != Judgement::Escalated {
        return Ok(vec![]);
    }
    let waiting = |request: &&PermissionRequest| matches!(request.state, RequestState::Waiting { .. });
    let own = world.permissions.requests_of(asker).filter(|request| !request.state.is_settled()).count();
    let all = world.permissions.requests().filter(waiting).count();
    if own >= PERMISSIONS_PER_AGENT_MAX || all >= PERMISSIONS_WAITING_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("{own} of your requests and {all} in all are already waiting for an answer"),
            hint: "wait for the answers first".into(),
        });
    }
    // The answerer must have seen it.
    if call.input.is_empty() {
        let problem =
            format!("an input of more than {PERMISSION_INPUT_BYTES_MAX} bytes can't be shown to be allowed");
        return Err(Refusal::bad_input(problem, "do it in smaller steps"));
    }
    let id = RequestId(world.permissions.last + 1);
    let (call, to) = (Box::new(call.clone()), answerer_of_call(world, asker, call));
    if let Some(need) = answer_from(to).filter(|_| hearing == AnswerDelivery::Waits) {
        Waits::of(world).with(who, need).check(who)?;
    }
    Ok(vec![PermissionEvent::Asked { request: id, asker, call, to, wait, hearing }])
}

pub(crate) const WAIT_RULES: WaitRules = WaitRules {
    needs: |waits, who| {
        let own = awaited(waits.world).filter(|(asker, _)| Some(*asker) == who.agent());
        own.filter_map(|(_, to)| answer_from(to)).collect()
    },
    waiting_for: |world, who| Box::new(waiting_for(world, who)),
    gives_way: false,
};

/// Everybody who waits for an answer from `who`.
fn waiting_for(world: &World, who: Principal) -> impl Iterator<Item = Principal> {
    let asked = who.agent().map(|_| awaited(world)).into_iter().flatten();
    asked.filter(move |(_, to)| *to == who).map(|(asker, _)| Principal::Agent(asker))
}

/// Who waits for an answer, and from whom.
fn awaited(world: &World) -> impl Iterator<Item = (AgentId, Principal)> {
    world.permissions.waiting().filter_map(|request| match (&request.state, request.hearing) {
        (RequestState::Waiting { to }, AnswerDelivery::Waits) => Some((request.asker, *to)),
        _ => None,
    })
}

/// The need for an answer from an agent. People answer whatever else they do.
fn answer_from(to: Principal) -> Option<Need<'static>> {
    to.agent().map(|_| Need::of(WaitedFor::Answer, [to]))
}

/// The call is about to be made. This is the only way in which something becomes allowed.
pub(super) fn take(world: &World, who: Principal, call: &ToolCall) -> Result<Vec<PermissionEvent>, Refusal> {
    let asker = must_be_agent(who)?;
    call.check()?;
    let judgement = judge(world, asker, call);
    if let Judgement::Denied { reason } = judgement {
        let hint = format!("do it in another way, or ask {}", world.name_of(answerer_of(world, asker)));
        return Err(Refusal::Permission(CallDenied { reason: reason.into(), hint }));
    }
    let request = standing(world, asker, call);
    match (request.map(|request| (request.id, &request.state)), judgement) {
        (Some((request, RequestState::Allowed { .. })), _) => {
            Ok(vec![PermissionEvent::Used { request, hash: call.hash }])
        }
        (Some((id, state @ RequestState::Denied { .. })), _) => Err(no(world, id, state)),
        // It changes nothing, so it need not be recorded.
        (_, Judgement::Allowed(AllowedBy::ReadsOnly)) => Ok(vec![]),
        (_, Judgement::Allowed(ground)) => Ok(vec![PermissionEvent::Passed {
            asker,
            tool: call.tool.clone(),
            hash: call.hash,
            summary: call.summary.clone(),
            ground,
        }]),
        (Some((id, state)), _) => Err(no(world, id, state)),
        (None, _) => match world.permissions.newest(asker, call.hash) {
            Some(last) => Err(no(world, last.id, &last.state)),
            None => Err(Refusal::Permission(CallDenied {
                reason: "nobody allowed this, for exactly this input".into(),
                hint: format!(
                    "ask first, with: {}",
                    NextCall::of(calls::ASK_PERMISSION, [("tool", "TOOL".into()), ("input", "INPUT".into())])
                ),
            })),
        },
    }
}

/// Why a request allows nothing now.
fn no(world: &World, id: RequestId, state: &RequestState) -> Refusal {
    let (reason, hint) = match state {
        RequestState::Waiting { to } => {
            let to = world.name_of(*to);
            (format!("asked {to} (request {id}), and there is no answer yet"), "try again in a moment".into())
        }
        RequestState::Denied { by: Principal::System, reason, .. } => {
            (format!("request {id} was denied: {reason}"), "do it in another way".into())
        }
        RequestState::Denied { by, reason, .. } => {
            let by = world.name_of(*by);
            (format!("{by} denied request {id}: {reason}"), format!("do it in another way, or talk to {by}"))
        }
        RequestState::Expired => {
            (format!("nobody answered request {id} in time"), "ask again, or do something else first".into())
        }
        RequestState::Lapsed => {
            (format!("request {id} was allowed, but not used in time"), "ask again".into())
        }
        RequestState::Allowed { .. } => (format!("request {id} is no longer allowed"), "ask again".into()),
        RequestState::Used { .. } => {
            (format!("request {id} was allowed once, and is used up"), "ask again for another time".into())
        }
        RequestState::Withdrawn { cause } => {
            (format!("request {id} was withdrawn: {cause}"), "ask again".into())
        }
    };
    Refusal::Permission(CallDenied { reason, hint })
}

pub(super) fn withdraw(
    world: &World,
    who: Principal,
    id: RequestId,
) -> Result<Vec<PermissionEvent>, Refusal> {
    let asker = must_be_agent(who)?;
    match world.permissions.get(id).filter(|request| request.asker == asker) {
        None => Err(unknown(id)),
        Some(request) if request.state.is_settled() => Ok(vec![]),
        Some(_) => {
            Ok(vec![PermissionEvent::Withdrawn { request: id, cause: "its asker no longer needs it".into() }])
        }
    }
}

pub(super) fn unknown(id: RequestId) -> Refusal {
    Refusal::NotFound {
        problem: format!("there is no request {id}"),
        hint: format!("see which there are with: {}", NextCall::of(calls::PERMISSIONS, [])),
    }
}

pub(super) fn must_be_agent(who: Principal) -> Result<AgentId, Refusal> {
    who.agent().ok_or_else(|| {
        let problem = "only agents ask for permission";
        Refusal::bad_input(
            problem,
            format!(
                "set COMITY_TOKEN to what {} gave",
                NextCall::of(calls::AGENT_JOIN, [("name", "NAME".into())])
            ),
        )
    })
}
