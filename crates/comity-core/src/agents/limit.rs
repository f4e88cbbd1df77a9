//! How many agents may be live at a time.

use super::AgentEvent;
use crate::calls;
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::AGENT_LIMIT_MAX;
use crate::next_call::{Argument, call};
use crate::refusal::Refusal;
use crate::world::World;

/// How many agents may be live.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AgentCapacity {
    /// What a person has set.
    pub set: Option<usize>,
    /// The default. Not part of the log: it is configured.
    pub configured: Option<usize>,
}

impl AgentCapacity {
    pub fn max(self) -> Option<usize> {
        self.set.or(self.configured)
    }
}

/// The limit on agents is enforced here and nowhere else.
pub(crate) fn check_limit(world: &World) -> Result<(), Refusal> {
    check_limit_with(world, 0)
}

/// The same, counting so many that are about to join.
pub(crate) fn check_limit_with(world: &World, awaited: usize) -> Result<(), Refusal> {
    let count = world.agents.live().count() + awaited;
    let Some(max) = world.agents.limit.max().filter(|max| count >= *max) else { return Ok(()) };
    Err(Refusal::LimitReached {
        problem: format!("{count} agents are here, of {max} at most"),
        hint: format!(
            "end one with: {}, or let the human raise the limit with: {}",
            call(calls::AGENT_BYE, [("agent", "NAME".into())]),
            call(calls::AGENT_LIMIT, [("max", Argument::Number((max + 1).min(AGENT_LIMIT_MAX) as u64))])
        ),
    })
}

/// Sets the limit on agents. Only the human may: it never raises itself.
pub(crate) fn limit(world: &World, who: Principal, max: usize) -> Result<Vec<Event>, Refusal> {
    if who != Principal::Human {
        return Err(Refusal::NotAllowed {
            problem: "the limit on agents is the human's to set".into(),
            hint: "ask the human, or work with those that are here".into(),
        });
    }
    if !(1..=AGENT_LIMIT_MAX).contains(&max) {
        let problem = format!("a limit of {max} agents is not possible");
        return Err(Refusal::bad_input(problem, format!("give one from 1 to {AGENT_LIMIT_MAX}")));
    }
    match world.agents.limit.set == Some(max) {
        true => Ok(vec![]),
        false => Ok(vec![Event::Agent(AgentEvent::Limited { max })]),
    }
}
