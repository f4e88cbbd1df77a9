//! A leader and its workers, started together.

use std::collections::BTreeSet;

use super::{AgentRun, RunEvent, RunId, RunSpec, RunState, rules};
use crate::agents;
use crate::event::Event;
use crate::ids::Principal;
use crate::people::Asker;
use crate::permissions::mode_of;
use crate::refusal::Refusal;
use crate::roles::Mode;
use crate::world::World;

pub(super) fn want(
    world: &World,
    asker: &Asker,
    leader: &RunSpec,
    workers: &[RunSpec],
) -> Result<Vec<Event>, Refusal> {
    let mut names = BTreeSet::new();
    for spec in std::iter::once(leader).chain(workers) {
        rules::check_wanted(world, asker, spec)?;
        if !names.insert(&spec.name) {
            return Err(Refusal::bad_input(
                format!("two of them are called {}", spec.name),
                "choose other names",
            ));
        }
    }
    agents::check_limit_with(world, world.runs.awaited() + workers.len())?;
    let first = RunId(world.runs.last.0 + 1);
    let leader = led_by_run_of(world, asker.who, leader);
    let led = workers.iter().map(|spec| RunSpec { leader: Some(first), ..spec.clone() });
    let all = std::iter::once(leader).chain(led).zip(first.0..);
    Ok(all
        .map(|(spec, run)| Event::Run(RunEvent::Wanted { run: RunId(run), spec: Box::new(spec) }))
        .collect())
}

/// What an agent that Comity started wants is led by its run: it comes back with that.
pub(super) fn led_by_run_of(world: &World, who: Principal, spec: &RunSpec) -> RunSpec {
    let run = who.agent().and_then(|agent| world.runs.of(agent));
    RunSpec { leader: run.map(|run| run.id), ..spec.clone() }
}

/// Who decides about a run that was given up.
pub(crate) fn answers_for(world: &World, run: &AgentRun) -> Principal {
    let above = above(world, run).filter(|above| match above {
        Principal::Agent(agent) => world.agents.living(*agent).is_ok(),
        Principal::Human | Principal::System | Principal::Nobody => false,
    });
    above.unwrap_or(Principal::Human)
}

/// Who is above a run's agent: whoever wanted it, or its leader's agent, if that runs.
pub(super) fn above(world: &World, run: &AgentRun) -> Option<Principal> {
    let Some(leader) = run.spec.leader else { return Some(run.by) };
    match world.runs.get(leader)?.state {
        RunState::Running { agent, .. } => {
            world.agents.living(agent).ok().map(|agent| Principal::Agent(agent.id))
        }
        RunState::Due(_)
        | RunState::Starting(_)
        | RunState::Ending { .. }
        | RunState::Interrupted
        | RunState::Over { .. } => None,
    }
}

/// Whether its leader still plans what it is to do: until then it could do nothing, for it has no wider mode.
pub(super) fn waits_for_a_plan(world: &World, run: &AgentRun) -> bool {
    let leader = run.spec.leader.and_then(|leader| world.runs.get(leader)).filter(|leader| leader.spec.plan);
    leader.and_then(AgentRun::agent).is_some_and(|agent| mode_of(world, agent) == Mode::Plan)
}

/// Whether its leader's run is over, so that it is led by nobody any more.
pub(super) fn is_left(world: &World, run: &AgentRun) -> bool {
    match run.spec.leader {
        Some(leader) => world.runs.get(leader).is_none_or(AgentRun::is_over),
        None => run.by.agent().is_some_and(|by| world.agents.living(by).is_err()),
    }
}

/// Whether its agent ended because its leader's did, and that one comes back.
pub(super) fn follows_its_leader(world: &World, run: &AgentRun) -> bool {
    let parent = run.agent().and_then(|agent| world.agents.get(agent)?.profile.parent);
    let is_led = run.spec.leader.is_some() && !is_left(world, run);
    is_led && parent.is_some_and(|parent| world.agents.living(parent).is_err())
}
