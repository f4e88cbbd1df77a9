//! What is noted of a run besides its life: its client's conversation, how it runs, and that somebody knows of its end.

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

/// There is no pane where one was wanted: that is not tried again.
pub(super) fn fall_back(
    world: &World,
    who: Principal,
    run: RunId,
    agent: AgentId,
    why: &str,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let run = known(world, run)?;
    let to = run.spec.fallback().filter(|_| run.agent() == Some(agent));
    let fell = to.map(|to| RunEvent::FellBack { run: run.id, to, why: bounded(why).into() });
    Ok(fell.map(Event::Run).into_iter().collect())
}

/// As much of a text as is kept.
fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(PROFILE_BYTES_MAX)).unwrap_or_default()
}

/// The conversation of the client in a run, as its hook tells.
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
