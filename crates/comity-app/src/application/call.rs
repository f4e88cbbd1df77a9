//! One call of an operation, from the door to the answer: admit it, plan it, ask the engine, make the output.

use std::borrow::Cow;

use comity_core::next_call::NextCall;
use comity_core::{Key, Principal, Refusal};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Application;
use crate::catalog::{self, CatalogEntry};
use crate::dedupe::outcome_unknown;
use crate::engine::{Job, JobAnswer, ReplyTo, WaitPlace};
use crate::misread::in_words;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Rendered};
use crate::operations::permissions::submit_plan_first;
use crate::plan::{Change, Changed, Finish, Plan};
use crate::planted_panic::panic_at;
use crate::time_zone;
use crate::worker_pool::Work;

/// A door's request, before any of it is checked.
#[derive(Default)]
pub struct OperationCall<'a> {
    pub op: &'a str,
    pub input: CallInput<'a>,
    pub key: Option<&'a str>,
    /// Whether the output is wanted as text, too.
    pub text: bool,
    /// Whether it was asked before, and the connection broke before the answer came.
    pub again: bool,
}

/// The input of a call. It is parsed once: by the door, if it has a form of its own; otherwise for its key, if it has
/// one; otherwise into the operation.
pub enum CallInput<'a> {
    /// JSON; empty means `{}`.
    Text(Cow<'a, str>),
    Parsed(Value),
}

/// The output of a call, and further notices for the calling agent.
pub type CallOutput = (Result<Rendered, Failure>, Vec<String>);

/// Where the output of a call goes. It may be sent from another thread.
pub trait Responder: Send {
    /// The call waits; [`Engine::give_up`](crate::engine::Engine::give_up) takes it out.
    fn parked(&mut self, _waiting: WaitPlace) {}

    /// Whether somebody reads the notices: they are given once.
    fn is_read(&self) -> bool {
        true
    }

    /// Sends the output, and further notices for the calling agent.
    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>);
}

/// A responder for a program's own call, whose notices nobody reads.
struct UnreadOutput(Box<dyn Responder>);

impl Responder for UnreadOutput {
    fn parked(&mut self, waiting: WaitPlace) {
        self.0.parked(waiting);
    }

    fn is_read(&self) -> bool {
        false
    }

    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
        self.0.respond(output, notices);
    }
}

type AdmittedCall<'c> = (&'static CatalogEntry, Cow<'c, Caller>, CallInput<'c>);

impl Application {
    /// Runs one call. The responder gets the output, perhaps before this returns; otherwise once somebody lets the
    /// engine run what is pending.
    pub fn call(&self, caller: &Caller, call: OperationCall<'_>, responder: Box<dyn Responder>) {
        let (text, again) = (call.text, call.again);
        let (entry, caller, input) = match self.admit(caller, call) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                self.metrics().count_refusal();
                return responder.respond(Err(refusal.into()), vec![]);
            }
        };
        // A caller that only becomes known by this is given its notices with its first call after that.
        let is_read = entry.lets_in.is_none() || entry.audience != Audience::Internal;
        let responder = if is_read { responder } else { Box::new(UnreadOutput(responder)) };
        match entry.pace {
            Pace::Quick => self.run(entry, &caller, input, text, responder),
            Pace::Long => {
                let input = input.into_owned();
                self.run_on_worker(entry, caller.into_owned(), input, text, again, responder);
            }
        }
    }

    /// Finds the operation, refuses what this caller may not ask, and returns the caller with its key.
    fn admit<'c>(&self, caller: &'c Caller, call: OperationCall<'c>) -> Result<AdmittedCall<'c>, Refusal> {
        let Some(place) = catalog::place(call.op) else {
            let problem = format!("there is no operation {:?}", call.op);
            return Err(Refusal::NotFound { problem, hint: "see what there is with: comity help".into() });
        };
        let entry = &catalog::CATALOG[place];
        self.metrics().count_call(place);
        self.heartbeat(caller)?;
        let (caller, input) = self.with_key(caller, call, entry)?;
        let may_come_in = entry.lets_in.is_some() && caller.way_in() == entry.lets_in;
        if caller.who == Principal::Nobody && entry.effect != Effect::Reads && !may_come_in {
            return Err(caller.unproven());
        }
        if entry.writes_files && self.is_planning(caller.who) {
            let problem =
                "you are in plan mode, and this changes files or branches, or starts what may".into();
            let hint = submit_plan_first();
            return Err(Refusal::NotAllowed { problem, hint });
        }
        Ok((entry, caller, input))
    }

    fn run(
        &self,
        entry: &CatalogEntry,
        caller: &Caller,
        input: CallInput<'_>,
        text: bool,
        responder: Box<dyn Responder>,
    ) {
        let change = match (entry.plan)(entry, self, caller, input, text) {
            Ok(Plan::Change(change)) => change,
            Ok(Plan::Answer(output)) => return self.respond(&caller.asker(), responder, Ok(output)),
            Ok(Plan::Instead { operation, input }) => {
                // A key of its own: the given one stands for the call that led here, whose answer is kept.
                let key = caller.given_key.as_deref().map(|given| format!("{operation} {given}"));
                let key = key.as_deref().filter(|key| Key::new(key).is_some());
                let call = OperationCall { op: operation, input: input.into(), key, text, again: false };
                return self.call(caller, call, responder);
            }
            Err(failure) => {
                self.metrics().count_refusal();
                return self.respond(&caller.asker(), responder, Err(failure));
            }
        };
        let Change { asks, on_behalf_of, when, finish } = change;
        let responder = match finish {
            Finish::InBatch(_) => responder,
            Finish::OnWorker(_) => self.keep_alive(caller, responder),
        };
        let key = caller.key.clone().filter(|_| on_behalf_of.is_none());
        let who = on_behalf_of.map_or_else(|| caller.asker(), Into::into);
        let reply_to = Box::new(PendingCall { app: self.clone(), who: who.clone(), finish, responder });
        let job = Job { who, asks, key, reply_to };
        match when {
            None => self.engine().submit(job),
            Some(when) => self.engine().submit_when(job, when),
        }
    }

    /// Runs a long operation on a thread of its own, unless it is already running or was answered.
    fn run_on_worker(
        &self,
        entry: &'static CatalogEntry,
        caller: Caller,
        input: CallInput<'static>,
        text: bool,
        again: bool,
        responder: Box<dyn Responder>,
    ) {
        let is_act = entry.effect == Effect::Acts;
        let kept = caller.key.clone().filter(|_| entry.is_kept());
        let responder = match kept {
            Some(key) => self.0.dedupe.first((caller.who, key), is_act, responder),
            None => Some(responder),
        };
        let Some(responder) = responder else { return };
        if again && is_act {
            return responder.respond(Err(outcome_unknown().into()), vec![]);
        }
        let responder = self.keep_alive(&caller, responder);
        let worker = match self.0.workers.reserve(Work::Operation) {
            Ok(worker) => worker,
            Err(no_worker) => return self.respond(&caller.asker(), responder, Err(no_worker.into())),
        };
        let app = self.clone();
        worker.run(move || {
            panic_at("long");
            app.run(entry, &caller, input, text, responder);
            app.engine().run_pending();
        });
    }

    /// Answers, and adds the agent's notices.
    fn respond(
        &self,
        asker: &comity_core::Asker,
        responder: Box<dyn Responder>,
        output: Result<Rendered, Failure>,
    ) {
        let notices = if responder.is_read() { self.notices_for(asker) } else { vec![] };
        responder.respond(output, notices);
    }

    /// Runs a call and waits for its output, for doors that have a thread to spend.
    pub fn call_and_wait(&self, caller: &Caller, call: OperationCall<'_>) -> CallOutput {
        struct SendOutput(std::sync::mpsc::SyncSender<CallOutput>);
        impl Responder for SendOutput {
            fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
                let _ = self.0.send((output, notices));
            }
        }
        let (sender, output) = std::sync::mpsc::sync_channel(1);
        self.call(caller, call, Box::new(SendOutput(sender)));
        self.engine().run_pending();
        output.recv().unwrap_or_else(|_| (Err(Failure::fault("the server stopped")), vec![]))
    }

    /// The caller with the call's key, as it is stored.
    fn with_key<'c>(
        &self,
        caller: &'c Caller,
        call: OperationCall<'c>,
        entry: &CatalogEntry,
    ) -> Result<(Cow<'c, Caller>, CallInput<'c>), Refusal> {
        let Some(given) = call.key else {
            return Ok((Cow::Borrowed(caller), call.input));
        };
        if Key::new(given).is_none() {
            let problem = format!("a key has 1 to {} bytes", Key::BYTES_MAX);
            return Err(Refusal::bad_input(problem, "shorten it"));
        }
        let input = call.input.parsed();
        let key = super::keys::stored(given, caller, call.op, &input, entry.effect);
        if let Some(key) = key.as_ref().filter(|_| entry.effect != Effect::Reads) {
            self.refuse_reused_key(caller, entry, key)?;
        }
        Ok((Cow::Owned(Caller { key, given_key: Some(given.into()), ..caller.clone() }), input))
    }
}

/// Parses the input and plans the operation; also renders text, if wanted.
pub(crate) fn plan<O: Operation>(
    entry: &CatalogEntry,
    app: &Application,
    caller: &Caller,
    input: CallInput<'_>,
    text: bool,
) -> Result<Plan<Rendered>, Failure> {
    let operation: O = input.read().map_err(|error| unreadable(entry, &error))?;
    let of_pages = entry.audience == Audience::Browsing;
    let zone = caller.zone.clone();
    let plan = time_zone::within(caller.zone.as_ref(), || operation.plan(app, caller))?;
    plan.map(move |output| time_zone::within(zone.as_ref(), || render::<O>(&output, text, of_pages)))
}

/// What is wrong with an input, and what the operation takes instead, in wording for any door.
fn unreadable(entry: &CatalogEntry, error: &serde_json::Error) -> Refusal {
    let schema = (entry.input)();
    let needed = |field: &str| {
        schema["required"].as_array().is_some_and(|fields| fields.iter().any(|needed| needed == field))
    };
    let fields = schema["properties"].as_object().into_iter().flat_map(Map::keys);
    let (must, may): (Vec<&str>, Vec<&str>) = fields.map(String::as_str).partition(|field| needed(field));
    let all = |what: &str, fields: &[&str]| match fields {
        [] => None,
        fields => Some(format!("{what} {}", fields.join(", "))),
    };
    let taken: Vec<String> = [all("needs", &must), all("takes", &may)].into_iter().flatten().collect();
    let hint =
        if taken.is_empty() { "it takes nothing".into() } else { format!("it {}", taken.join(", and ")) };
    let call = match entry.audience {
        Audience::Internal => entry.name.to_owned(),
        Audience::Agents | Audience::Browsing | Audience::People => NextCall::of(entry.name, []).to_string(),
    };
    Refusal::bad_input(format!("{call} can't read its input: {}", in_words(&error.to_string())), hint)
}

fn render<O: Operation>(output: &O::Output, text: bool, of_pages: bool) -> Result<Rendered, Failure> {
    let json = serde_json::to_string(output).map_err(Failure::fault)?;
    let rendered = Rendered { json, text: text.then(|| output.to_string()), receipt: O::receipt(output) };
    if of_pages { without_hidden(rendered) } else { Ok(rendered) }
}

/// Pages influence the output: makes invisible text in it visible.
fn without_hidden(rendered: Rendered) -> Result<Rendered, Failure> {
    let mut value: Value = serde_json::from_str(&rendered.json).map_err(Failure::fault)?;
    crate::browser::show_hidden(&mut value);
    let text = rendered.text.map(|text| comity_core::display::visible_lines(&text).into_owned());
    Ok(Rendered { json: value.to_string(), text, ..rendered })
}

/// A call that waits for the engine's answer.
struct PendingCall {
    app: Application,
    who: comity_core::Asker,
    finish: Finish<Rendered>,
    responder: Box<dyn Responder>,
}

impl ReplyTo for PendingCall {
    fn parked(&mut self, waiting: WaitPlace) {
        self.responder.parked(waiting);
    }

    fn answer(self: Box<Self>, answer: JobAnswer<'_>) {
        let PendingCall { app, who, finish, responder } = *self;
        let outcome = match answer {
            JobAnswer::Done { events, world, now } => {
                panic_at("answer");
                Ok(Changed { events, world, now })
            }
            JobAnswer::Refused(refusal) => {
                app.metrics().count_refusal();
                Err(refusal)
            }
            JobAnswer::Fault(problem) => {
                app.metrics().count_fault();
                return app.respond(&who, responder, Err(Failure::Fault(problem)));
            }
        };
        match (finish, outcome) {
            (Finish::InBatch(finish), outcome) => app.respond(&who, responder, finish(outcome)),
            (Finish::OnWorker(_), Err(refusal)) => app.respond(&who, responder, Err(refusal.into())),
            (Finish::OnWorker(go_on), Ok(Changed { events, .. })) => {
                let worker = match app.0.workers.reserve(Work::Rest) {
                    Ok(worker) => worker,
                    Err(no_worker) => return app.respond(&who, responder, Err(no_worker.into())),
                };
                let events = events.to_vec();
                worker.run(move || {
                    let output = go_on(&app, &events);
                    app.respond(&who, responder, output);
                });
            }
        }
    }
}

impl CallInput<'_> {
    /// Parses JSON, so that it can be put in canonical form. The operation reports what is not JSON.
    fn parsed(self) -> Self {
        match self {
            CallInput::Text(text) => match serde_json::from_str(&text) {
                Ok(value) => CallInput::Parsed(value),
                Err(_) => CallInput::Text(text),
            },
            parsed @ CallInput::Parsed(_) => parsed,
        }
    }

    fn into_owned(self) -> CallInput<'static> {
        match self {
            CallInput::Text(text) => CallInput::Text(text.into_owned().into()),
            CallInput::Parsed(value) => CallInput::Parsed(value),
        }
    }

    /// The same text for the same input, whatever the order of its fields.
    pub(super) fn canonical(&self) -> Cow<'_, str> {
        match self {
            CallInput::Text(text) => Cow::Borrowed(text),
            CallInput::Parsed(value) => value.to_string().into(),
        }
    }

    pub(crate) fn read<O: DeserializeOwned>(self) -> Result<O, serde_json::Error> {
        match self {
            CallInput::Text(text) if text.is_empty() => serde_json::from_value(Value::Object(Map::new())),
            // Via a value: otherwise each operation would be compiled for both forms.
            CallInput::Text(text) => serde_json::from_value(serde_json::from_str(&text)?),
            CallInput::Parsed(value) => serde_json::from_value(value),
        }
    }
}

impl Default for CallInput<'_> {
    fn default() -> Self {
        CallInput::Text("".into())
    }
}

impl<'a> From<&'a str> for CallInput<'a> {
    fn from(text: &'a str) -> Self {
        CallInput::Text(text.into())
    }
}

impl From<Value> for CallInput<'_> {
    fn from(value: Value) -> Self {
        CallInput::Parsed(value)
    }
}
