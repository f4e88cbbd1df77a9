//! What agents that speak ACP ask and tell: their questions become permission requests, their writes are judged by locks, and
//! mail wakes them when their turn is over.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use comity_core::agents::{AgentAsk, Life};
use comity_core::permissions::{PermissionAsk, RequestState};
use comity_core::runs::{RunAsk, is_sandboxed};
use comity_core::{AgentId, Ask, ContentHash, Principal, calls};
use comity_runner::{AcpAsk, AcpNews, AcpWish, Runner};
use serde_json::{Value, json};

use super::acp_call::{ToolAsk, tool_ask};
use super::{RunParts, key};
use crate::application::{Application, CallInput, OperationCall, Responder};
use crate::catalog::name_of;
use crate::engine::WaitPlace;
use crate::operation::{Caller, Failure, Rendered};
use crate::operations::guard::{GuardTold, GuardWait, is_own_tool, judge_writes};
use crate::operations::permissions::reading;

/// How long one wait for mail lasts; then it begins anew.
const MAIL_WAIT: &str = "30m";
/// The waiter of an agent that has no hook.
const WAITER: &str = "acp";

/// What is under way for agents that speak ACP.
#[derive(Default)]
pub(super) struct AcpBooks {
    /// Questions that somebody is asked: the agent, its number for it.
    asked: BTreeMap<(AgentId, u64), OpenQuestion>,
    /// What may be written, for the tool call was allowed: by path and content.
    allowed: BTreeMap<AgentId, BTreeSet<[u8; 32]>>,
    /// Who waits for mail.
    waits: BTreeMap<AgentId, Option<WaitPlace>>,
    /// Answers that are to be passed on.
    pub(super) answers: Vec<AcpAnswer>,
}

struct OpenQuestion {
    what: WhatAsked,
    hash: ContentHash,
    place: Option<WaitPlace>,
}

enum WhatAsked {
    /// What it would write, if it may.
    Call(Vec<[u8; 32]>),
    Write,
}

/// What somebody answered.
pub(super) enum AcpAnswer {
    Permission { agent: AgentId, ask: u64, output: Result<Rendered, Failure> },
    Mail { agent: AgentId, output: Result<Rendered, Failure> },
}

/// Takes what an agent said.
pub(super) fn heard(app: &Application, agent: AgentId, news: AcpNews) {
    match news {
        AcpNews::Ready { session, .. } => {
            let know = RunAsk::KnowSession { agent, session: session.into() };
            // Without it, a later start begins anew.
            let _ = app.engine().ask(Principal::System, Ask::Run(know));
            rests(app, agent);
        }
        AcpNews::TurnStarted => works(app, agent),
        AcpNews::TurnEnded { .. } => rests(app, agent),
        AcpNews::Asks(AcpAsk { ask, wish }) => asked(app, agent, ask, wish),
        AcpNews::Withdrawn { ask } => withdrawn(app, agent, ask),
    }
}

/// Passes an answer on.
pub(super) fn answered(app: &Application, answer: AcpAnswer) {
    match answer {
        AcpAnswer::Permission { agent, ask, output } => {
            let asked = app.runs().parts().acp.asked.remove(&(agent, ask));
            let Some(OpenQuestion { what, .. }) = asked else { return };
            match (allowed_by(app, agent, &output), what) {
                (Ok(by), WhatAsked::Call(writes)) => {
                    app.runs().parts().acp.allowed.entry(agent).or_default().extend(writes);
                    permit(app, agent, ask, &by);
                }
                (Ok(_), WhatAsked::Write) => grant(app, agent, ask),
                (Err(no), WhatAsked::Call(_)) => deny(app, agent, ask, &no),
                (Err(no), WhatAsked::Write) => refuse(app, agent, ask, &no),
            }
        }
        AcpAnswer::Mail { agent, output } => mail(app, agent, output),
    }
}

/// The program is gone: nobody waits for anything any more.
pub(super) fn gone(app: &Application, agent: AgentId) {
    let mut parts = app.runs().parts();
    let books = &mut parts.acp;
    books.asked.retain(|(of, _), _| *of != agent);
    books.allowed.remove(&agent);
    let wait = books.waits.remove(&agent);
    drop(parts);
    if let Some(Some(place)) = wait {
        app.engine().give_up(Principal::Agent(agent), place);
    }
}

fn asked(app: &Application, agent: AgentId, ask: u64, wish: AcpWish) {
    let Some(cwd) = directory(app, agent) else { return };
    if is_sandboxed(&app.engine().world(), Principal::Agent(agent))
        && matches!(wish, AcpWish::Read { .. } | AcpWish::Write { .. })
    {
        return refuse(app, agent, ask, "you are in a sandbox: read and write files yourself");
    }
    match wish {
        // What it may read by itself it may have read.
        AcpWish::Read { .. } => grant(app, agent, ask),
        AcpWish::Write { path, content } => {
            let edit = json!({ "file_path": path, "old_string": "", "new_string": "" });
            if let Err(no) = judge_writes(app, agent, &cwd, ("Edit", &edit)) {
                return refuse(app, agent, ask, &words(app, agent, &no));
            }
            let write = write_of(&cwd.join(&path).to_string_lossy(), &content);
            let mut parts = app.runs().parts();
            let was_allowed = parts.acp.allowed.get_mut(&agent).is_some_and(|allowed| allowed.remove(&write));
            drop(parts);
            if was_allowed {
                return grant(app, agent, ask);
            }
            let input = json!({ "file_path": path, "content": content });
            put(app, agent, ask, cwd, ToolAsk { tool: "Write".into(), input }, WhatAsked::Write);
        }
        AcpWish::Call(call) => {
            let tool = tool_ask(&call);
            if is_own_tool(&tool.tool) {
                return permit(app, agent, ask, "a tool of Comity's");
            }
            if let Err(no) = judge_writes(app, agent, &cwd, (&tool.tool, &tool.input)) {
                return deny(app, agent, ask, &words(app, agent, &no));
            }
            let writes = call.changes.iter().filter_map(|change| {
                Some(write_of(&cwd.join(&change.path).to_string_lossy(), change.text.as_ref()?))
            });
            let writes = writes.collect();
            put(app, agent, ask, cwd, tool, WhatAsked::Call(writes));
        }
    }
}

/// Asks for permission, of whoever has to be asked.
fn put(app: &Application, agent: AgentId, ask: u64, cwd: PathBuf, tool: ToolAsk, what: WhatAsked) {
    let ToolAsk { tool, input } = tool;
    let asked = OpenQuestion { what, hash: reading::hash(&tool, &input.to_string()), place: None };
    app.runs().parts().acp.asked.insert((agent, ask), asked);
    let input = json!({ "tool": tool, "input": input });
    let caller = Caller::new(Principal::Agent(agent), Some(cwd));
    let responder = Box::new(AnswerHeard { app: app.clone(), agent, ask: Some(ask) });
    call(app, &caller, calls::ASK_PERMISSION, input, responder);
}

fn call(app: &Application, caller: &Caller, op: &str, input: Value, responder: Box<dyn Responder>) {
    let call = OperationCall { op, input: CallInput::Parsed(input), text: true, ..OperationCall::default() };
    app.call(caller, call, responder);
    app.engine().run_pending();
}

/// Hears what somebody answered; the answer is passed on by the thread that keeps the runs.
struct AnswerHeard {
    app: Application,
    agent: AgentId,
    /// The question; the wait for mail has none.
    ask: Option<u64>,
}

impl Responder for AnswerHeard {
    fn parked(&mut self, waiting: WaitPlace) {
        let books = &mut self.app.runs().parts().acp;
        match self.ask {
            Some(ask) => {
                if let Some(asked) = books.asked.get_mut(&(self.agent, ask)) {
                    asked.place = Some(waiting);
                }
            }
            None => drop(books.waits.insert(self.agent, Some(waiting))),
        }
    }

    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, _: Vec<String>) {
        let agent = self.agent;
        let answer = match self.ask {
            Some(ask) => AcpAnswer::Permission { agent, ask, output },
            None => AcpAnswer::Mail { agent, output },
        };
        let mut parts = self.app.runs().parts();
        parts.acp.answers.push(answer);
        parts.ring();
    }
}

/// Nobody has to answer that any more.
fn withdrawn(app: &Application, agent: AgentId, ask: u64) {
    let Some(asked) = app.runs().parts().acp.asked.remove(&(agent, ask)) else { return };
    let who = Principal::Agent(agent);
    if let Some(place) = asked.place {
        app.engine().give_up(who, place);
    }
    let request = {
        let world = app.engine().world();
        let newest = world.permissions.newest(agent, asked.hash);
        newest.filter(|it| matches!(it.state, RequestState::Waiting { .. })).map(|it| it.id)
    };
    if let Some(request) = request {
        app.engine().tell(who, vec![Ask::Permission(PermissionAsk::Withdraw { request })]);
        app.engine().run_pending();
    }
}

/// Its turn is over: what comes for it now wakes it.
fn rests(app: &Application, agent: AgentId) {
    app.runs().parts().acp.allowed.remove(&agent);
    idle(app, agent, true);
    wait_for_mail(app, agent, true);
}

fn works(app: &Application, agent: AgentId) {
    app.idle_agents().end(agent);
    let wait = app.runs().parts().acp.waits.remove(&agent).flatten();
    if let Some(place) = wait {
        app.engine().give_up(Principal::Agent(agent), place);
    }
    idle(app, agent, false);
}

fn idle(app: &Application, agent: AgentId, idle: bool) {
    let life = app.engine().world().agents.get(agent).map(|agent| agent.life.clone());
    if life.is_some_and(|life| {
        matches!(life, Life::Starting | Life::Running | Life::Idle) && (life == Life::Idle) != idle
    }) {
        app.engine().tell(Principal::Agent(agent), vec![Ask::Agent(AgentAsk::Idle { agent, idle })]);
        app.engine().run_pending();
    }
}

fn wait_for_mail(app: &Application, agent: AgentId, begins: bool) {
    app.runs().parts().acp.waits.insert(agent, None);
    let input = json!({ "waiter": WAITER, "begins": begins, "wait": MAIL_WAIT });
    let caller = Caller::new(Principal::Agent(agent), directory(app, agent));
    let responder = Box::new(AnswerHeard { app: app.clone(), agent, ask: None });
    call(app, &caller, name_of::<GuardWait>(), input, responder);
}

/// Something came for an agent whose turn is over.
fn mail(app: &Application, agent: AgentId, output: Result<Rendered, Failure>) {
    let Ok(rendered) = output else { return };
    let said: Value = serde_json::from_str(&rendered.json).unwrap_or_default();
    let is_waiting = app.runs().parts().acp.waits.remove(&agent).is_some();
    let (text, proof) = (said["text"].as_str(), said["proof"].as_str());
    if let (Some(text), Some(proof)) = (text, proof) {
        let arrived =
            with_runner(app, |runner| runner.prompt(&key(agent), text)).is_some_and(|it| it.is_ok());
        let input = json!({ "proof": proof, "returned": !arrived });
        let caller = Caller::new(Principal::Agent(agent), None);
        call(app, &caller, name_of::<GuardTold>(), input, Box::new(Unheard));
    } else if is_waiting && said["goes_on"] == true && app.engine().world().agents.living(agent).is_ok() {
        wait_for_mail(app, agent, false);
    }
}

struct Unheard;

impl Responder for Unheard {
    fn respond(self: Box<Self>, _: Result<Rendered, Failure>, _: Vec<String>) {}
}

fn permit(app: &Application, agent: AgentId, ask: u64, by: &str) {
    with_runner(app, |runner| runner.permit(&key(agent), ask, true, by));
}

/// The agent is told no, and once its turn is over, why: the answer itself has no room for that.
fn deny(app: &Application, agent: AgentId, ask: u64, no: &str) {
    let first = no.lines().next().unwrap_or_default();
    with_runner(app, |runner| {
        let key = key(agent);
        runner.permit(&key, ask, false, first).and_then(|()| runner.prompt(&key, no))
    });
}

fn grant(app: &Application, agent: AgentId, ask: u64) {
    with_runner(app, |runner| comity_git::as_user(|| runner.grant_file(&key(agent), ask)));
}

fn refuse(app: &Application, agent: AgentId, ask: u64, no: &str) {
    with_runner(app, |runner| runner.refuse_file(&key(agent), ask, no));
}

fn with_runner<T>(app: &Application, act: impl FnOnce(&Runner) -> T) -> Option<T> {
    let runner: Arc<Runner> = app.runs().runner()?;
    Some(act(&runner))
}

/// Where an agent works.
fn directory(app: &Application, agent: AgentId) -> Option<PathBuf> {
    app.engine().world().runs.of(agent).map(|run| PathBuf::from(&*run.spec.cwd))
}

/// Who or what allowed it; everything else than an explicit yes is a no.
fn allowed_by(
    app: &Application,
    agent: AgentId,
    output: &Result<Rendered, Failure>,
) -> Result<String, String> {
    match output {
        Ok(rendered) => {
            let said: Value = serde_json::from_str(&rendered.json).unwrap_or_default();
            match said["allowed"] == true {
                true => Ok(said["why"].as_str().unwrap_or_default().to_owned()),
                false => Err(rendered.json.clone()),
            }
        }
        Err(no) => Err(words(app, agent, no)),
    }
}

fn words(app: &Application, agent: AgentId, no: &Failure) -> String {
    no.to_text(app.wording_of(Principal::Agent(agent)))
}

/// A path with what is to be in it.
fn write_of(path: &str, content: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(path.len() as u64).to_le_bytes()).update(path.as_bytes()).update(content.as_bytes());
    *hasher.finalize().as_bytes()
}

impl RunParts {
    pub(super) fn ring(&self) {
        self.bell.iter().for_each(crate::reconciler::Bell::ring);
    }
}
