//! Side notes on a run: its client's conversation, and that somebody acknowledged its end.

use super::rules::{known, may_steer};
use super::{AgentRun, RunEvent, RunId};
use crate::checks::only_comity;
use crate::event::Event;
use crate::ids::{AgentId, Principal};
use crate::limits::PROFILE_BYTES_MAX;
use crate::refusal::Refusal;
use crate::world::World;

pub(super) fn note(world: &World, who: Principal, run: RunId) -> Result<Vec<Event>, Refusal> {
    let run = known(world, run)?;
    may_steer(world, who, run)?;
    let is_open = world.runs.given_up().any(|other| other.id == run.id);
    Ok(is_open.then_some(Event::Run(RunEvent::Noted { run: run.id })).into_iter().collect())
}

/// Records the conversation of a run's client, as its hook reports it.
pub(super) fn know_session(
    world: &World,
    who: Principal,
    agent: AgentId,
    session: &str,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let is_new = |run: &&AgentRun| run.session.as_deref() != Some(session);
    let run = world.runs.of(agent).filter(is_new).filter(|_| session.len() <= PROFILE_BYTES_MAX);
    let known = run.map(|run| RunEvent::SessionKnown { run: run.id, session: session.into() });
    Ok(known.map(Event::Run).into_iter().collect())
}
