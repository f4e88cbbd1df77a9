//! Modes: how much an agent may do before it has to ask.

use serde::{Deserialize, Serialize};

use super::authority::may_decide_about;
use super::event::PermissionEvent;
use crate::ids::{AgentId, Principal};
use crate::refusal::Refusal;
use crate::roles::{DEFAULT_ROLE, Mode, Right};
use crate::world::World;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModeSet {
    pub(super) mode: Mode,
    pub(super) by: Principal,
}

/// The agent's mode: what was set, otherwise its role's; never wider than that of whoever started it, unless the
/// human set it.
pub fn mode_of(world: &World, agent: AgentId) -> Mode {
    let mut mode = Mode::Full;
    let above = world.agents.started_by(agent).map(|above| above.id);
    for id in std::iter::once(agent).chain(above) {
        match world.permissions.modes.get(&id) {
            Some(set) if set.by == Principal::Human => return mode.min(set.mode),
            Some(set) => mode = mode.min(set.mode),
            None => mode = mode.min(of_role(world, id)),
        }
    }
    mode
}

fn of_role(world: &World, agent: AgentId) -> Mode {
    mode_of_role(world, world.agents.get(agent).and_then(|agent| agent.profile.role.as_deref()))
}

/// The mode that a role starts in.
pub(crate) fn mode_of_role(world: &World, role: Option<&str>) -> Mode {
    world.roles.get(role.unwrap_or(DEFAULT_ROLE)).map(|role| role.mode).unwrap_or_default()
}

/// Changes a mode. A leader gives nobody a wider one than its own; an agent may only narrow its own.
pub(super) fn set(
    world: &World,
    who: Principal,
    agent: AgentId,
    mode: Mode,
) -> Result<Vec<PermissionEvent>, Refusal> {
    world.agents.living(agent)?;
    let now = mode_of(world, agent);
    if who == Principal::Agent(agent) {
        if mode > now {
            return Err(Refusal::NotAllowed {
                problem: format!("you are in {} mode, and may not widen it yourself", now.word()),
                hint: format!("ask {}", world.name_of(super::answerer_of(world, agent))),
            });
        }
    } else {
        may_decide_about(world, who, agent, Right::SetModes)?;
        within(world, who, mode)?;
    }
    let is_so = world.permissions.modes.get(&agent).is_some_and(|set| set.mode == mode && set.by == who);
    match is_so {
        true => Ok(vec![]),
        false => Ok(vec![PermissionEvent::ModeSet { agent, mode, by: who }]),
    }
}

pub(super) fn within(world: &World, who: Principal, mode: Mode) -> Result<(), Refusal> {
    let Principal::Agent(id) = who else { return Ok(()) };
    let own = mode_of(world, id);
    match mode > own {
        false => Ok(()),
        true => Err(Refusal::NotAllowed {
            problem: format!("you are in {} mode yourself, and {} is wider", own.word(), mode.word()),
            hint: "ask the human, or choose a narrower one".into(),
        }),
    }
}
