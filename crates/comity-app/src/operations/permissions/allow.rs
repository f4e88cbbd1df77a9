//! Answers a permission request with yes.

use comity_core::permissions::{Answer, KeptAnswer, Pattern, PermissionAsk, RequestId};
use comity_core::{Ask, ContentHash, Event, Refusal, Timestamp, World};

use super::RequestView;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::permissions::ListPermissions;

/// Allow a request from an agent you lead: this exact input, once. Nobody's mode changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowRequest {
    /// The request's number
    pub id: u64,
    /// The hash of the input you saw; refused if the request is about something else
    pub hash: Option<String>,
    /// Always allow it, for this agent
    #[serde(default)]
    pub always: bool,
    /// With --always: what to allow instead of exactly this call, such as 'cargo test *' or src/ui/
    pub pattern: Option<String>,
    /// With --always: for the agent's whole team
    #[serde(default)]
    pub team: bool,
}

impl Operation for AllowRequest {
    type Output = RequestView;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RequestView>, Failure> {
        if (self.team || self.pattern.is_some()) && !self.always {
            let problem = "a team and a pattern are for what is allowed always";
            return Err(Refusal::bad_input(problem, "say always, too").into());
        }
        let kept = match self.always {
            false => None,
            true => Some(KeptAnswer {
                for_team: self.team,
                pattern: pattern(app, self.id, self.pattern.as_deref())?,
            }),
        };
        answered(app, self.id, self.hash.as_deref(), Answer::Allow { kept })
    }
}

/// The pattern is relative to the request's project.
fn pattern(app: &Application, id: u64, text: Option<&str>) -> Result<Option<Pattern>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let world = app.engine().world();
    let Some(request) = world.permissions.get(RequestId(id)) else { return Ok(None) };
    let project = request.call.project.and_then(|id| Some((id, world.projects.get(&id)?.case)));
    Ok(Some(Pattern::parse(request.call.class, text, project)?))
}

/// Answers a request. Without a hash, the input that the request has always had is meant.
pub(super) fn answered(
    app: &Application,
    id: u64,
    hash: Option<&str>,
    answer: Answer,
) -> Result<Plan<RequestView>, Failure> {
    let request = RequestId(id);
    let hash = match hash.map(str::parse::<ContentHash>).transpose() {
        Ok(hash) => hash,
        Err(()) => {
            let hint = format!("copy it from: {}", next_call::<ListPermissions>([]));
            return Err(Refusal::bad_input("this isn't a hash", hint).into());
        }
    };
    let (tool, known) = {
        let world = app.engine().world();
        match world.permissions.get(request) {
            Some(request) => (request.call.tool.clone(), request.call.hash),
            // The rules will say that there is none.
            None => ("".into(), ContentHash([0; 32])),
        }
    };
    let ask = PermissionAsk::Answer { request, tool, hash: hash.unwrap_or(known), answer };
    let finish = move |_: &[Event], world: &World, now: Timestamp| shown(world, request, now);
    Ok(Plan::change(vec![Ask::Permission(ask)], finish))
}

fn shown(world: &World, request: RequestId, now: Timestamp) -> RequestView {
    match world.permissions.get(request) {
        Some(request) => RequestView::of(request, world, now),
        // Answered so long ago that nothing more is remembered.
        None => RequestView {
            id: request.0,
            asker: String::new(),
            agent: String::new(),
            colour: "",
            tool: String::new(),
            summary: String::new(),
            input: String::new(),
            hash: String::new(),
            state: "settled",
            by: None,
            is_you: false,
            reason: None,
            age_ms: 0,
            expires_in_ms: None,
        },
    }
}
