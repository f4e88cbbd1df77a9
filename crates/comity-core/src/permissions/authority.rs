//! Who may decide about whom. What an agent does not have it cannot hand to an agent that it starts.

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
