//! The rules of control messages: who may ask whom to end, and which answer belongs to which request.

use std::collections::BTreeSet;

use super::{Control, ControlAsk, ControlEvent, HandshakeId, Shutdown, Shutdowns};
use crate::agents::{self, AgentEvent, Ending};
use crate::calls;
use crate::checks::check_reason;
use crate::deadlines::Due;
use crate::event::{Event, Record};
use crate::ids::{AgentId, Principal};
use crate::limits::{IDLE_SUMMARY_WORDS_MAX, SHUTDOWN_WAIT_MAX, SHUTDOWN_WAIT_MIN};
use crate::next_call::{Argument, call};
use crate::refusal::Refusal;
use crate::roles::{Right, may};
use crate::teams::{leader_of, leads};
use crate::time::Millis;
use crate::world::World;

pub(super) fn decide(world: &World, who: Principal, ask: &ControlAsk) -> Result<Vec<Event>, Refusal> {
    match ask {
        ControlAsk::RequestShutdown { agent, reason, within } => {
            request_shutdown(world, who, *agent, reason.clone(), *within)
        }
        ControlAsk::ForceShutdown { agent, reason } => {
            may_shut_down(world, who, *agent, reason.as_deref())?;
            let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let cause = format!("shut down by {}{why}", world.name_of(who));
            Ok(agents::ending_events(world, *agent, Ending::Terminated, &cause))
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
                return Err(Refusal::bad_input("only agents can be idle", "call it with the agent's token"));
            };
            check_reason(Some(summary))?;
            let idle = ControlEvent::IdleReported {
                to: leader_of(world, agent),
                reason: *reason,
                summary: in_few_words(summary)?,
                task: task.clone(),
                status: status.clone(),
            };
            Ok(vec![Event::Agent(AgentEvent::Idled { agent, idle: true }), Event::Control(idle)])
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
    may_shut_down(world, who, agent, reason.as_deref())?;
    if !(SHUTDOWN_WAIT_MIN..=SHUTDOWN_WAIT_MAX).contains(&within) {
        let problem = format!("{within} isn't a time to wait for an answer");
        return Err(Refusal::bad_input(problem, format!("use {SHUTDOWN_WAIT_MIN} to {SHUTDOWN_WAIT_MAX}")));
    }
    if let Some((request, _)) = world.shutdowns.of(agent) {
        let problem = format!("{} was asked already, as {request}", world.name_of(Principal::Agent(agent)));
        let force = [("agent", world.name_of(Principal::Agent(agent)).into()), ("force", Argument::Yes)];
        let hint = format!("wait for its answer, or end it now: {}", call(calls::SHUTDOWN_REQUEST, force));
        return Err(Refusal::bad_input(problem, hint));
    }
    let request = HandshakeId(world.shutdowns.last.0 + 1);
    Ok(vec![Event::Control(ControlEvent::ShutdownRequested { request, agent, reason, within })])
}

/// Whether `who` may have this agent end.
fn may_shut_down(world: &World, who: Principal, agent: AgentId, reason: Option<&str>) -> Result<(), Refusal> {
    let name = &world.agents.living(agent)?.profile.name;
    check_reason(reason)?;
    if who == Principal::Agent(agent) {
        return Err(Refusal::bad_input(
            "you can't ask yourself to end",
            format!("say goodbye: {}", call(calls::AGENT_BYE, [])),
        ));
    }
    if !leads(world, who, agent) {
        return Err(Refusal::NotAllowed {
            problem: format!("you do not lead {name}"),
            hint: "only its leader or the human can ask an agent to end".into(),
        });
    }
    let is_parent = who.agent().is_some_and(|above| world.agents.is_ancestor(above, agent));
    if !is_parent {
        may(world, who, Right::EndAgents)?;
    }
    Ok(())
}

/// The open request to the caller; any other answer is stale.
fn own(world: &World, who: Principal, request: HandshakeId) -> Result<&Shutdown, Refusal> {
    let found = world.shutdowns.get(request).filter(|shutdown| who == Principal::Agent(shutdown.agent));
    found.ok_or_else(|| Refusal::NotFound {
        problem: format!("no open request {request} asks you to end"),
        hint: format!(
            "it was answered, or another one was meant; see what waits with: {}",
            call(calls::NEXT, [])
        ),
    })
}

/// The agent did not answer in time, and is ended.
pub(crate) fn overdue(world: &World, request: HandshakeId) -> Vec<Event> {
    let Some(shutdown) = world.shutdowns.get(request) else { return vec![] };
    let cause = format!("did not answer when {} asked it to end", world.name_of(shutdown.by));
    let mut events = vec![Event::Control(ControlEvent::ShutdownOverdue { request })];
    events.extend(agents::ending_events(world, shutdown.agent, Ending::Terminated, &cause));
    events
}

pub(super) fn apply(world: &mut World, record: &Record, event: &ControlEvent) {
    match event {
        ControlEvent::ShutdownRequested { request, agent, reason, within } => {
            let until = world.now.plus(*within);
            let asked = Shutdown { agent: *agent, by: record.by, since: world.now, until };
            world.shutdowns.last = *request;
            world.shutdowns.open.insert(*request, asked);
            world.deadlines.set(Due::Shutdown(*request), Some(until));
            let control = Control::ShutdownRequest { request_id: *request, reason: reason.clone() };
            tell(world, Principal::Agent(*agent), record.by, control);
        }
        ControlEvent::ShutdownApproved { request, pane, backend } => {
            let Some(asked) = close(world, *request) else { return };
            let agent = world.name_of(Principal::Agent(asked.agent)).into();
            let (pane_id, backend_type) = (pane.clone(), backend.clone());
            let control = Control::ShutdownApproved { request_id: *request, agent, pane_id, backend_type };
            tell(world, asked.by, Principal::Agent(asked.agent), control);
        }
        ControlEvent::ShutdownRejected { request, reason } => {
            let Some(asked) = close(world, *request) else { return };
            let agent = world.name_of(Principal::Agent(asked.agent)).into();
            let control = Control::ShutdownRejected { request_id: *request, agent, reason: reason.clone() };
            tell(world, asked.by, Principal::Agent(asked.agent), control);
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
            tell(world, *to, record.by, control);
        }
    }
}

/// Sends a control message, unless the receiver has ended and cannot read it.
pub(crate) fn tell(world: &mut World, to: Principal, from: Principal, control: Control) {
    let reads = match to {
        Principal::Agent(agent) => world.agents.living(agent).is_ok(),
        Principal::Human => true,
        Principal::System | Principal::Nobody => false,
    };
    if reads {
        world.mail.queue(to, from, control, world.now);
    }
}

/// Forgets open requests to an agent that has ended.
pub(crate) fn agent_ended(world: &mut World, agent: AgentId) {
    if let Some((request, _)) = world.shutdowns.of(agent) {
        close(world, request);
    }
}

/// Restores the handshakes, with their deadlines.
pub(crate) fn restore(world: &mut World, shutdowns: Shutdowns) {
    for (request, shutdown) in &shutdowns.open {
        world.deadlines.set(Due::Shutdown(*request), Some(shutdown.until));
    }
    world.shutdowns = shutdowns;
}

/// Everybody who was asked to end is live, was asked once, and has a deadline.
pub(crate) fn check(world: &World) -> Result<(), String> {
    let mut asked = BTreeSet::new();
    for (request, shutdown) in &world.shutdowns.open {
        let agent = shutdown.agent;
        if world.agents.living(agent).is_err() {
            return Err(format!("{request} asks {agent} to end, who has ended"));
        }
        if !asked.insert(agent) {
            return Err(format!("{request} asks {agent} to end, who was asked already"));
        }
        if world.deadlines.of(Due::Shutdown(*request)) != Some(shutdown.until) {
            return Err(format!("{request} is not due when its time is up"));
        }
    }
    Ok(())
}

fn close(world: &mut World, request: HandshakeId) -> Option<Shutdown> {
    world.deadlines.set(Due::Shutdown(request), None);
    world.shutdowns.open.remove(&request)
}

fn in_few_words(text: &str) -> Result<Box<str>, Refusal> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > IDLE_SUMMARY_WORDS_MAX {
        let problem = format!("the summary has {} words; {IDLE_SUMMARY_WORDS_MAX} is the most", words.len());
        return Err(Refusal::bad_input(problem, "say it in 5 to 10 words, and send the rest as a letter"));
    }
    Ok(words.join(" ").into())
}
