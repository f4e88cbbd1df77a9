//! Control messages: typed, a channel of their own, never conversation. Text that looks like one stays text.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::agents::{self, Ending};
use crate::deadlines::Due;
use crate::event::{Event, EventType, Record, durable};
use crate::ids::{AgentId, Principal};
use crate::limits::{IDLE_SUMMARY_WORDS_MAX, SHUTDOWN_WAIT_MAX, SHUTDOWN_WAIT_MIN};
use crate::locks::check_reason;
use crate::refusal::Refusal;
use crate::roles::{Right, may};
use crate::teams::{leader_of, leads};
use crate::time::{Millis, Timestamp};
use crate::world::World;

/// The number of a control message in somebody's box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ControlId(pub u64);

/// The number of a handshake; an answer finds its question by this alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// One control message, as its receiver gets it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Control {
    /// You are asked to end.
    ShutdownRequest {
        /// Answer with this.
        request_id: RequestId,
        /// Why.
        reason: Option<Box<str>>,
    },
    /// Who you asked to end agrees.
    ShutdownApproved {
        /// Which request.
        request_id: RequestId,
        /// Its name.
        agent: Box<str>,
        /// The pane it ran in.
        pane_id: Option<Box<str>>,
        /// What ran it.
        backend_type: Option<Box<str>>,
    },
    /// Who you asked to end goes on.
    ShutdownRejected {
        /// Which request.
        request_id: RequestId,
        /// Its name.
        agent: Box<str>,
        /// Why.
        reason: Box<str>,
    },
    /// Somebody below you waits for work.
    IdleNotification {
        /// Its name.
        agent: Box<str>,
        /// Why it is idle.
        idle_reason: IdleReason,
        /// What it did, in a few words.
        summary: Box<str>,
        /// The task that it worked on.
        completed_task_id: Option<Box<str>>,
        /// How that went.
        completed_status: Option<Box<str>>,
    },
}

/// Why somebody is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleReason {
    /// It is done and free.
    Available,
    /// Somebody ended its turn.
    Interrupted,
    /// Its turn failed.
    Failed,
}

/// What can be asked on this channel.
#[derive(Clone, PartialEq, Debug)]
pub enum ControlAsk {
    /// Asks an agent to end.
    RequestShutdown {
        /// Which.
        agent: AgentId,
        /// Why.
        reason: Option<Box<str>>,
        /// How long it has to answer; after that it is ended all the same.
        within: Millis,
    },
    /// Agrees to end.
    ApproveShutdown {
        /// Which request.
        request: RequestId,
        /// The pane it runs in.
        pane: Option<Box<str>>,
        /// What runs it.
        backend: Option<Box<str>>,
    },
    /// Goes on, and says why.
    RejectShutdown {
        /// Which request.
        request: RequestId,
        /// Why.
        reason: Box<str>,
    },
    /// Tells the leader that the caller waits for work.
    ReportIdle {
        /// Why.
        reason: IdleReason,
        /// What it did, in a few words.
        summary: Box<str>,
        /// The task that it worked on.
        task: Option<Box<str>>,
        /// How that went.
        status: Option<Box<str>>,
    },
}

/// What happened on this channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlEvent {
    /// An agent was asked to end.
    ShutdownRequested {
        /// Names the handshake.
        request: RequestId,
        /// Who is asked.
        agent: AgentId,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
        /// How long it has to answer.
        within: Millis,
    },
    /// It agreed.
    ShutdownApproved {
        /// Which request.
        request: RequestId,
        /// The pane it ran in.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pane: Option<Box<str>>,
        /// What ran it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backend: Option<Box<str>>,
    },
    /// It goes on.
    ShutdownRejected {
        /// Which request.
        request: RequestId,
        /// Why.
        reason: Box<str>,
    },
    /// It did not answer in time.
    ShutdownOverdue {
        /// Which request.
        request: RequestId,
    },
    /// An agent told its leader that it waits for work.
    IdleReported {
        /// To whom.
        to: Principal,
        /// Why.
        reason: IdleReason,
        /// What it did.
        summary: Box<str>,
        /// The task that it worked on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        task: Option<Box<str>>,
        /// How that went.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        status: Option<Box<str>>,
    },
}

/// A shutdown that is not answered yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shutdown {
    /// Who is asked.
    pub agent: AgentId,
    /// Who asks.
    pub by: Principal,
    /// When it is ended all the same.
    pub until: Timestamp,
}

/// All handshakes that are open.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Shutdowns {
    pub(crate) last: RequestId,
    #[serde(with = "crate::snapshot::pairs")]
    pub(crate) open: BTreeMap<RequestId, Shutdown>,
}

impl Shutdowns {
    /// The open request with this number.
    pub fn get(&self, request: RequestId) -> Option<&Shutdown> {
        self.open.get(&request)
    }

    /// The open request to this agent.
    pub fn of(&self, agent: AgentId) -> Option<(RequestId, &Shutdown)> {
        self.open.iter().find(|(_, shutdown)| shutdown.agent == agent).map(|(id, shutdown)| (*id, shutdown))
    }
}

impl Control {
    /// What matters more comes first.
    pub(crate) fn urgency(&self) -> u8 {
        match self {
            Control::ShutdownRequest { .. } => 0,
            Control::ShutdownApproved { .. }
            | Control::ShutdownRejected { .. }
            | Control::IdleNotification { .. } => 2,
        }
    }
}

impl ControlEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            ControlEvent::ShutdownRequested { .. } => durable("shutdown_requested", "shutdown:requested"),
            ControlEvent::ShutdownApproved { .. } => durable("shutdown_approved", "shutdown:approved"),
            ControlEvent::ShutdownRejected { .. } => durable("shutdown_rejected", "shutdown:rejected"),
            ControlEvent::ShutdownOverdue { .. } => durable("shutdown_overdue", "shutdown:overdue"),
            ControlEvent::IdleReported { .. } => durable("idle_reported", "agent:idle_reported"),
        }
    }
}

pub(crate) fn decide(world: &World, who: Principal, ask: &ControlAsk) -> Result<Vec<Event>, Refusal> {
    match ask {
        ControlAsk::RequestShutdown { agent, reason, within } => {
            request_shutdown(world, who, *agent, reason.clone(), *within)
        }
        ControlAsk::ApproveShutdown { request, pane, backend } => {
            let shutdown = own(world, who, *request)?;
            let cause = format!("shut down, as {} asked", world.name_of(shutdown.by));
            let approved = ControlEvent::ShutdownApproved {
                request: *request,
                pane: pane.clone(),
                backend: backend.clone(),
            };
            let mut events = vec![Event::Control(approved)];
            events.extend(agents::ending_events(world, shutdown.agent, Ending::Completed, &cause));
            Ok(events)
        }
        ControlAsk::RejectShutdown { request, reason } => {
            own(world, who, *request)?;
            check_reason(Some(reason))?;
            let rejected = ControlEvent::ShutdownRejected { request: *request, reason: reason.clone() };
            Ok(vec![Event::Control(rejected)])
        }
        ControlAsk::ReportIdle { reason, summary, task, status } => {
            let Principal::Agent(agent) = who else {
                return Err(Refusal::bad_input("only an agent is idle", "call it with the agent's token"));
            };
            check_reason(Some(summary))?;
            let idle = ControlEvent::IdleReported {
                to: leader_of(world, agent),
                reason: *reason,
                summary: first_words(summary),
                task: task.clone(),
                status: status.clone(),
            };
            Ok(vec![Event::AgentIdled { agent, idle: true }, Event::Control(idle)])
        }
    }
}

fn request_shutdown(
    world: &World,
    who: Principal,
    agent: AgentId,
    reason: Option<Box<str>>,
    within: Millis,
) -> Result<Vec<Event>, Refusal> {
    let name = &world.agents.living(agent)?.profile.name;
    check_reason(reason.as_deref())?;
    if who == Principal::Agent(agent) {
        return Err(Refusal::bad_input("you cannot ask yourself to end", "say goodbye: comity agent bye"));
    }
    if !leads(world, who, agent) {
        return Err(Refusal::NotAllowed {
            problem: format!("you do not lead {name}"),
            hint: "an agent is asked to end by who leads it, or by the human".into(),
        });
    }
    let is_parent = who.agent().is_some_and(|above| world.agents.is_ancestor(above, agent));
    if !is_parent {
        may(world, who, Right::EndAgents)?;
    }
    if !(SHUTDOWN_WAIT_MIN..=SHUTDOWN_WAIT_MAX).contains(&within) {
        let problem = format!("{within} is no time to wait for an answer");
        return Err(Refusal::bad_input(problem, format!("use {SHUTDOWN_WAIT_MIN} to {SHUTDOWN_WAIT_MAX}")));
    }
    if let Some((request, _)) = world.shutdowns.of(agent) {
        let problem = format!("{name} was asked already, as {request}");
        return Err(Refusal::bad_input(problem, "wait for its answer, or end it: comity agent bye NAME"));
    }
    let request = RequestId(world.shutdowns.last.0 + 1);
    Ok(vec![Event::Control(ControlEvent::ShutdownRequested { request, agent, reason, within })])
}

/// The open request that the caller was asked with; any other answer is stale.
fn own(world: &World, who: Principal, request: RequestId) -> Result<&Shutdown, Refusal> {
    let found = world.shutdowns.get(request).filter(|shutdown| who == Principal::Agent(shutdown.agent));
    found.ok_or_else(|| Refusal::NotFound {
        problem: format!("no open request {request} asks you to end"),
        hint: "it was answered, or another one was meant; see what waits with: comity next".into(),
    })
}

/// The time to answer is over: the agent ends all the same.
pub(crate) fn overdue(world: &World, request: RequestId) -> Vec<Event> {
    let Some(shutdown) = world.shutdowns.get(request) else { return vec![] };
    let cause = format!("did not answer when {} asked it to end", world.name_of(shutdown.by));
    let mut events = vec![Event::Control(ControlEvent::ShutdownOverdue { request })];
    events.extend(agents::ending_events(world, shutdown.agent, Ending::Terminated, &cause));
    events
}

pub(crate) fn apply(world: &mut World, record: &Record, event: &ControlEvent) {
    match event {
        ControlEvent::ShutdownRequested { request, agent, reason, within } => {
            let until = world.now.plus(*within);
            let asked = Shutdown { agent: *agent, by: record.by, until };
            world.shutdowns.last = *request;
            world.shutdowns.open.insert(*request, asked);
            world.deadlines.set(Due::Shutdown(*request), Some(until));
            let control = Control::ShutdownRequest { request_id: *request, reason: reason.clone() };
            world.mail.queue(Principal::Agent(*agent), record.by, control, world.now);
        }
        ControlEvent::ShutdownApproved { request, pane, backend } => {
            let Some(asked) = close(world, *request) else { return };
            let agent = world.name_of(Principal::Agent(asked.agent)).into();
            let (pane_id, backend_type) = (pane.clone(), backend.clone());
            let control = Control::ShutdownApproved { request_id: *request, agent, pane_id, backend_type };
            world.mail.queue(asked.by, Principal::Agent(asked.agent), control, world.now);
        }
        ControlEvent::ShutdownRejected { request, reason } => {
            let Some(asked) = close(world, *request) else { return };
            let agent = world.name_of(Principal::Agent(asked.agent)).into();
            let control = Control::ShutdownRejected { request_id: *request, agent, reason: reason.clone() };
            world.mail.queue(asked.by, Principal::Agent(asked.agent), control, world.now);
        }
        ControlEvent::ShutdownOverdue { request } => drop(close(world, *request)),
        ControlEvent::IdleReported { to, reason, summary, task, status } => {
            let control = Control::IdleNotification {
                agent: world.name_of(record.by).into(),
                idle_reason: *reason,
                summary: summary.clone(),
                completed_task_id: task.clone(),
                completed_status: status.clone(),
            };
            world.mail.queue(*to, record.by, control, world.now);
        }
    }
}

/// An agent that has ended is asked no more.
pub(crate) fn agent_ended(world: &mut World, agent: AgentId) {
    if let Some((request, _)) = world.shutdowns.of(agent) {
        close(world, request);
    }
}

fn close(world: &mut World, request: RequestId) -> Option<Shutdown> {
    world.deadlines.set(Due::Shutdown(request), None);
    world.shutdowns.open.remove(&request)
}

fn first_words(text: &str) -> Box<str> {
    text.split_whitespace().take(IDLE_SUMMARY_WORDS_MAX).collect::<Vec<_>>().join(" ").into()
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl FromStr for RequestId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('r').and_then(|number| number.parse().ok()).map(RequestId).ok_or(())
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::ShutdownRequest { request_id, reason } => {
                write!(f, "you are asked to end ({request_id})")?;
                reason.as_deref().map_or(Ok(()), |reason| write!(f, ": {reason}"))?;
                write!(
                    f,
                    "; answer with: comity shutdown approve {request_id}, or reject {request_id} --reason WHY"
                )
            }
            Control::ShutdownApproved { request_id, agent, .. } => {
                write!(f, "{agent} ends, as you asked ({request_id})")
            }
            Control::ShutdownRejected { request_id, agent, reason } => {
                write!(f, "{agent} does not end ({request_id}): {reason}")
            }
            Control::IdleNotification { agent, idle_reason, summary, completed_task_id, .. } => {
                let why = match idle_reason {
                    IdleReason::Available => "waits for work",
                    IdleReason::Interrupted => "was interrupted",
                    IdleReason::Failed => "failed",
                };
                write!(f, "{agent} {why}: {summary}")?;
                completed_task_id.as_deref().map_or(Ok(()), |task| write!(f, " (task {task})"))
            }
        }
    }
}
