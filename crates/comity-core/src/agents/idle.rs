//! When an agent counts as idle, and when as working.

use super::{AgentEvent, Life};
use crate::event::Event;
use crate::features::Ask;
use crate::ids::Principal;
use crate::world::World;

/// The event that makes an idle agent a working one when it does something. Looking for something to do and reading
/// notices do not count.
pub(crate) fn works_again(world: &World, who: Principal, ask: &Ask) -> Option<Event> {
    let agent = world.agents.get(who.agent()?).filter(|agent| agent.life == Life::Idle)?;
    ask.feature().is_work().then_some(Event::Agent(AgentEvent::Idled { agent: agent.id, idle: false }))
}
