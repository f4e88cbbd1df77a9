//! Who may decide about whom. An agent cannot pass on more than it has to agents that it starts.

use super::call::ToolCall;
use super::modes::mode_of;
use super::verdict::{Judgement, judge};
use crate::ids::{AgentId, Principal};
use crate::refusal::Refusal;
use crate::roles::{Mode, Right, may};
use crate::teams::{leader_of, leads};
use crate::world::World;

/// Who answers this agent's requests: the first above it that may, or the human.
pub fn answerer_of(world: &World, agent: AgentId) -> Principal {
    let mut at = agent;
    for _ in 0..world.agents.len() {
        match leader_of(world, at) {
            Principal::Agent(leader) if leader == agent => break,
            Principal::Agent(leader) => {
                if may(world, Principal::Agent(leader), Right::AnswerPermissions).is_ok() {
                    return Principal::Agent(leader);
                }
                at = leader;
            }
            Principal::Human | Principal::System | Principal::Nobody => break,
        }
    }
    Principal::Human
}

/// Who answers one request: as for all of the agent's, provided that the agent that started it could make the call
/// itself without asking.
pub(super) fn answerer_of_call(world: &World, asker: AgentId, call: &ToolCall) -> Principal {
    started_it(world, asker, |parent| may_itself(world, parent, call))
        .unwrap_or_else(|| answerer_of(world, asker))
}

/// Who answers a plan: as for requests, unless the agent that started its author is itself limited to planning.
pub(super) fn answerer_of_plan(world: &World, asker: AgentId) -> Principal {
    started_it(world, asker, |parent| acts(world, parent)).unwrap_or_else(|| answerer_of(world, asker))
}

fn started_it(world: &World, asker: AgentId, may: impl Fn(AgentId) -> bool) -> Option<Principal> {
    let parent = world.agents.get(asker)?.profile.parent?;
    world.agents.living(parent).ok().filter(|_| may(parent)).map(|parent| Principal::Agent(parent.id))
}

fn may_itself(world: &World, agent: AgentId, call: &ToolCall) -> bool {
    matches!(judge(world, agent, call), Judgement::Allowed(_))
}

fn acts(world: &World, agent: AgentId) -> bool {
    mode_of(world, agent) != Mode::Plan
}

pub(super) fn may_answer_call(
    world: &World,
    who: Principal,
    asker: AgentId,
    call: &ToolCall,
) -> Result<(), Refusal> {
    match started_it(world, asker, |parent| may_itself(world, parent, call)) {
        Some(parent) if parent == who => Ok(()),
        _ => may_answer(world, who, asker),
    }
}

pub(super) fn may_answer_plan(world: &World, who: Principal, asker: AgentId) -> Result<(), Refusal> {
    match started_it(world, asker, |parent| acts(world, parent)) {
        Some(parent) if parent == who => Ok(()),
        _ => may_answer(world, who, asker),
    }
}

/// Whether `who` may answer the requests of this agent.
pub fn may_answer(world: &World, who: Principal, agent: AgentId) -> Result<(), Refusal> {
    may_decide_about(world, who, agent, Right::AnswerPermissions)
}

/// The human may. An agent may if it has the right and stands above. Nobody decides about itself.
pub(super) fn may_decide_about(
    world: &World,
    who: Principal,
    agent: AgentId,
    right: Right,
) -> Result<(), Refusal> {
    let no = |problem: String| {
        let hint = format!("ask {}", world.name_of(answerer_of(world, agent)));
        Err(Refusal::NotAllowed { problem, hint })
    };
    match who {
        Principal::Human => Ok(()),
        Principal::System => no("Comity decides nothing by itself".into()),
        Principal::Nobody => no("nothing proves who you are".into()),
        Principal::Agent(id) if id == agent => no("nobody decides about itself".into()),
        Principal::Agent(id) if !leads(world, who, agent) => {
            let (own, other) = (world.name_of(Principal::Agent(id)), world.name_of(Principal::Agent(agent)));
            no(format!("{own} does not lead {other}"))
        }
        Principal::Agent(_) => may(world, who, right),
    }
}
