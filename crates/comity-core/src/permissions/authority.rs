//! Who may decide about whom. What an agent does not have it cannot hand to an agent that it starts.

use crate::agents::Agent;
use crate::ids::{AgentId, Principal};
use crate::refusal::Refusal;
use crate::roles::{Right, may};
use crate::teams::{leader_of, leads};
use crate::world::World;

/// Who answers the requests of this agent: the first above it that may, else the human.
pub fn answerer_of(world: &World, agent: AgentId) -> Principal {
    let mut at = agent;
    for _ in 0..world.agents.len() {
        match leader_of(world, at) {
            Principal::Agent(leader) if leader == agent => break,
            Principal::Agent(leader) => {
                if has_right(world, leader, Right::AnswerPermissions).is_ok() {
                    return Principal::Agent(leader);
                }
                at = leader;
            }
            Principal::Human | Principal::System | Principal::Nobody => break,
        }
    }
    Principal::Human
}

/// Whether `who` may answer the requests of this agent.
pub fn may_answer(world: &World, who: Principal, agent: AgentId) -> Result<(), Refusal> {
    may_decide_about(world, who, agent, Right::AnswerPermissions)
}

/// The human may; an agent may if it has the right and stands above. Nobody may decide about itself.
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
        Principal::System => no("comity decides nothing by itself".into()),
        Principal::Nobody => no("nothing proves who you are".into()),
        Principal::Agent(id) if id == agent => no("nobody decides about itself".into()),
        Principal::Agent(id) if !leads(world, who, agent) => {
            let (own, other) = (world.name_of(Principal::Agent(id)), world.name_of(Principal::Agent(agent)));
            no(format!("{own} does not lead {other}"))
        }
        Principal::Agent(id) => has_right(world, id, right),
    }
}

/// Whether an agent has a right: by its role, and so do all that it was started by, up to the human.
pub(super) fn has_right(world: &World, agent: AgentId, right: Right) -> Result<(), Refusal> {
    may(world, Principal::Agent(agent), right)?;
    for above in lineage(world, agent) {
        let above = Principal::Agent(above);
        if may(world, above, right).is_err() {
            let own = world.name_of(Principal::Agent(agent));
            return Err(Refusal::NotAllowed {
                problem: format!("{own} was started by {}, which has no right to that", world.name_of(above)),
                hint: "ask your leader or the human".into(),
            });
        }
    }
    Ok(())
}

/// The parents of an agent, the nearest first; a cycle ends the walk.
pub(super) fn lineage(world: &World, agent: AgentId) -> Vec<AgentId> {
    let mut above: Vec<AgentId> = Vec::new();
    let parent = |id: AgentId| world.agents.get(id).and_then(|agent: &Agent| agent.profile.parent);
    let mut at = agent;
    while let Some(next) = parent(at).filter(|next| *next != agent && !above.contains(next)) {
        above.push(next);
        at = next;
    }
    above
}
