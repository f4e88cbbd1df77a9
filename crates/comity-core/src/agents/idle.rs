//! Idle and at work.

use super::{AgentEvent, Life};
use crate::event::Event;
use crate::features::Ask;
use crate::ids::Principal;
use crate::world::World;

/// An agent that said that it was idle and does something is at work again. Looking for something to do, and being told
/// things, is no work yet.
pub(crate) fn works_again(world: &World, who: Principal, ask: &Ask) -> Option<Event> {
    let agent = world.agents.get(who.agent()?).filter(|agent| agent.life == Life::Idle)?;
    ask.feature().is_work().then_some(Event::Agent(AgentEvent::Idled { agent: agent.id, idle: false }))
}
