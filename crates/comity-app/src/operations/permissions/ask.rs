//! Asks for permission.

use std::fmt;
use std::path::Path;

use comity_core::permissions::{
    AllowedBy, AnswerDelivery, CallDenied, Judgement, PermissionAsk, PermissionEvent, RequestState, ToolCall,
    is_answered, judge, standing,
};
use comity_core::{AgentId, Ask, ContentHash, Event, Millis, Principal, Refusal, World, decide, limits};
use serde_json::Value;

use super::input::Input;
use super::reading;
use crate::catalog::next_call;
use crate::engine::When;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::agents::Join;
use crate::operations::mail::Next;
use crate::span::Span;

/// Ask to make a tool call; your leader answers what no rule does. An answer is for this exact input, once.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskPermission {
    /// The tool, such as Bash
    #[serde(alias = "tool_name")]
    pub tool: String,
    /// Its exact input as JSON; - for standard input
    pub input: Input,
    /// Wait up to this long for the answer (5m)
    pub wait: Option<Span>,
    /// Don't wait: the answer comes with next, and repeating the call finds it
    #[serde(default)]
    pub by_mail: bool,
}

/// It may be done.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Permitted {
    /// Whether it may be done. Everything else than true is a no.
    pub allowed: bool,
    /// The request, if somebody had to be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// Who or what allowed it.
    pub why: String,
}

impl Operation for AskPermission {
    type Output = Permitted;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Permitted>, Failure> {
        if self.by_mail && self.wait.is_some() {
            let problem = "an answer by mail is not waited for";
            return Err(Refusal::bad_input(problem, "leave out one of wait and by_mail").into());
        }
        let cwd = caller.cwd.as_deref().unwrap_or(Path::new("/"));
        let call = Box::new(reading::call(app, cwd, &self.tool, self.input.value())?);
        let Principal::Agent(agent) = caller.who else {
            let problem = "only agents ask for permission";
            let hint =
                format!("set COMITY_TOKEN to what {} gave", next_call::<Join>([("name", "NAME".into())]));
            return Err(Refusal::bad_input(problem, hint).into());
        };
        // What only reads is answered from the world: nothing is used up or recorded.
        if judge(&app.engine().world(), agent, &call) == Judgement::Allowed(AllowedBy::ReadsOnly) {
            return Ok(Plan::Answer(Permitted::reading()));
        }
        if self.by_mail && put(app, agent, &call, patience(app), AnswerDelivery::Told)?.is_some() {
            app.engine().run_pending();
            return Err(asked_only(app, agent, call.hash).into());
        }
        let patience = self.wait.map_or_else(|| patience(app), |span| span.0);
        let waits = match app.answered(caller) {
            Some(_) => None,
            None => put(app, agent, &call, patience, AnswerDelivery::Waits)?,
        };
        let hash = call.hash;
        let asks = vec![Ask::Permission(PermissionAsk::Use { call })];
        let finish = move |events: &[Event], world: &World, _| Permitted::by(events, world, hash);
        Ok(Plan::change(asks, finish).when(waits))
    }
}

/// A question without an answer is a no.
fn asked_only(app: &Application, agent: AgentId, hash: ContentHash) -> Refusal {
    let world = app.engine().world();
    let request = world.permissions.newest(agent, hash).map_or(0, |request| request.id.0);
    let to = world.name_of(comity_core::teams::leader_of(&world, agent));
    Refusal::Permission(CallDenied {
        reason: format!("asked {to} (request {request}); the answer comes by mail"),
        hint: format!("see it with: {}; then make the call again", next_call::<Next>([])),
    })
}

/// How long it may take until a request is recorded.
const WRITTEN_MAX: Millis = Millis::seconds(1);

/// How long an answer may take, unless configured.
pub(crate) fn patience(app: &Application) -> Millis {
    app.config().permission.wait.map_or(limits::PERMISSION_WAIT, |span| span.0)
}

/// Asks whoever is above about a call, if necessary, and says what to wait for.
pub(crate) fn put(
    app: &Application,
    agent: AgentId,
    call: &ToolCall,
    patience: Millis,
    hearing: AnswerDelivery,
) -> Result<Option<When>, Failure> {
    let who = Principal::Agent(agent);
    // An asker that does not wait long gets the answer another time; the request stays.
    let wait = match hearing {
        AnswerDelivery::Waits => patience.max(self::patience(app)),
        AnswerDelivery::Told => self::patience(app),
    };
    let ask = Ask::Permission(PermissionAsk::Request { call: Box::new(call.clone()), wait, hearing });
    let (before, is_new) = {
        let world = app.engine().world();
        let before = world.permissions.newest(agent, call.hash).map(|request| request.id);
        let comity_core::AskResult::Done(events) = decide(&world, &who.into(), &ask)? else {
            return Ok(None);
        };
        let waits = standing(&world, agent, call)
            .is_some_and(|one| matches!(one.state, RequestState::Waiting { .. }));
        if events.is_empty() && !waits {
            return Ok(None);
        }
        (before, !waits)
    };
    if is_new {
        app.engine().tell(who, vec![ask]);
    }
    let call = call.clone();
    let ready = Box::new(move |world: &World| is_answered(world, agent, &call, before));
    // The request is recorded a moment later, and so expires a moment later: wait for that.
    let span = if patience < wait { patience } else { Millis(wait.0.saturating_add(WRITTEN_MAX.0)) };
    Ok(Some(When { ready, until: app.engine().now().plus(span) }))
}

/// The ask to use an input that is already parsed.
pub(crate) fn use_of(call: ToolCall) -> Ask {
    Ask::Permission(PermissionAsk::Use { call: Box::new(call) })
}

impl Permitted {
    fn reading() -> Permitted {
        Permitted { allowed: true, request: None, why: "it was proven to change nothing".into() }
    }

    /// What the events say of exactly this input. A key that was used for another call allows nothing.
    pub(crate) fn by(events: &[Event], world: &World, hash: comity_core::ContentHash) -> Permitted {
        let said = events.iter().find_map(|event| match event {
            Event::Permission(PermissionEvent::Used { request, hash: used }) if *used == hash => {
                let by = match world.permissions.get(*request).map(|request| &request.state) {
                    Some(RequestState::Used { by: Principal::System, .. }) => {
                        "allowed by a newer rule".into()
                    }
                    Some(RequestState::Used { by, .. }) => format!("{} allowed it", world.name_of(*by)),
                    _ => "it was allowed".into(),
                };
                Some((Some(request.0), by))
            }
            Event::Permission(PermissionEvent::Passed { hash: passed, ground, .. }) if *passed == hash => {
                Some((None, reason(*ground, world)))
            }
            _ => None,
        });
        match said {
            Some((request, why)) => Permitted { allowed: true, request, why },
            None => {
                let why = "this key was used for another call; nothing is allowed";
                Permitted { allowed: false, request: None, why: why.into() }
            }
        }
    }
}

/// Why something is allowed, in words.
pub(crate) fn reason(ground: AllowedBy, world: &World) -> String {
    match ground {
        AllowedBy::Answer => "it was answered".into(),
        AllowedBy::Rule(rule) => match world.permissions.rule(rule) {
            Some(rule) => format!("a rule of {} says so: {rule}", world.name_of(rule.owner)),
            None => format!("the rule {rule} said so"),
        },
        AllowedBy::Mode(mode) => format!("the mode {} says so", mode.word()),
        AllowedBy::ReadsOnly => "it was proven to change nothing".into(),
    }
}

impl fmt::Display for Permitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Permitted { allowed, request, why } = self;
        let word = if *allowed { "allowed" } else { "denied" };
        match request {
            Some(request) => write!(f, "{word}: {why} (request {request})"),
            None => write!(f, "{word}: {why}"),
        }
    }
}

/// A permission that was asked for with a message in place of a call: the same question, with the answer if there is
/// one.
///
/// Whoever delivers messages calls this with the sender that the message proved. Nobody waits here: the asker is told
/// the answer, and then makes the call, once.
pub fn asked_by_message(
    app: &Application,
    sender: AgentId,
    cwd: &Path,
    tool: &str,
    input: &Value,
) -> Result<Option<comity_core::permissions::RequestId>, Failure> {
    let call = reading::call(app, cwd, tool, input)?;
    put(app, sender, &call, patience(app), AnswerDelivery::Told)?;
    app.engine().run_pending();
    Ok(app.engine().world().permissions.newest(sender, call.hash).map(|request| request.id))
}
