//! Goodbye and death: one way out, which releases everything that the agent and its descendants hold.

use std::collections::BTreeSet;

use super::{Agent, AgentEvent, Ending};
use crate::checks::check_reason;
use crate::deadlines::Due;
use crate::event::Event;
use crate::features;
use crate::ids::{AgentId, Principal};
use crate::locks::Hold;
use crate::refusal::Refusal;
use crate::time::{Millis, Timestamp};
use crate::world::World;

/// Ends an agent and all its descendants, and releases what they hold. Those that have ended already are left as they
/// are.
pub(crate) fn end(
    world: &World,
    who: Principal,
    agent: AgentId,
    ending: Ending,
    cause: &str,
) -> Result<Vec<Event>, Refusal> {
    let may = match who {
        Principal::System | Principal::Human => true,
        Principal::Agent(caller) => caller == agent || world.agents.is_ancestor(caller, agent),
        Principal::Nobody => false,
    };
    if !may {
        return Err(Refusal::NotAllowed {
            problem: format!("you may not end {}", world.name_of(Principal::Agent(agent))),
            hint: "an agent is ended by itself, by an agent above it, or by the human".into(),
        });
    }
    world.agents.living(agent)?;
    check_reason(Some(cause))?;
    Ok(ending_events(world, agent, ending, cause))
}

/// Ends an agent that was silent for too long.
pub(crate) fn silence_events(world: &World, agent: AgentId) -> Vec<Event> {
    let disconnected = world.agents.get(agent).is_some_and(|agent| agent.disconnected.is_some());
    let cause = if disconnected { "its connection closed" } else { "no sign of life" };
    ending_events(world, agent, Ending::Exited, cause)
}

impl World {
    /// The agents that will have been silent for too long at `now`, or for longer than one of their locks lasts, and
    /// whose connection is still open.
    pub fn falling_silent(&self, now: Timestamp) -> BTreeSet<AgentId> {
        let holder = |fence| self.locks.get(fence).filter(|lock| lock.hold == Hold::Held)?.holder.agent();
        let silent = self.deadlines.all_due(now).filter_map(|due| match due {
            Due::Agent(agent) => Some(agent),
            Due::Lock(fence) => holder(fence),
            _ => None,
        });
        let is_connected =
            |agent: &AgentId| self.agents.get(*agent).is_some_and(|agent| agent.disconnected.is_none());
        silent.filter(is_connected).collect()
    }
}

/// Ends agents that were silent across restarts. The rules' clock stands still while no server runs, so a server that
/// is killed again and again would keep dead agents' locks for ever. The machine's uptime goes on.
pub(crate) fn silent_across_restarts(
    world: &World,
    boot: Option<&str>,
    uptime: Option<Millis>,
) -> Vec<Event> {
    let mut events = Vec::new();
    let Some(uptime) = uptime.filter(|_| boot.is_some() && world.people.boot() == boot) else {
        return events;
    };
    let silence_of = |agent: &Agent| {
        let since = agent.silent_since_uptime.filter(|_| agent.is_live() && !agent.is_watched())?;
        Some(Millis(uptime.0.saturating_sub(since.0)))
    };
    let is_over =
        |agent: &Agent| silence_of(agent).is_some_and(|silence| silence >= world.patience.agent_timeout);
    for agent in world.agents.live() {
        // Descendants end with it.
        let Some(silence) = silence_of(agent).filter(|_| !world.agents.started_by(agent.id).any(is_over))
        else {
            continue;
        };
        if is_over(agent) {
            events.extend(silence_events(world, agent.id));
            continue;
        }
        let held = world.locks.live_of(Principal::Agent(agent.id));
        let over = held.filter(|lock| lock.wanted.ttl <= silence);
        events.extend(over.flat_map(|lock| crate::locks::lapse(world, lock.fence)));
    }
    events
}

pub(crate) fn ending_events(world: &World, top: AgentId, ending: Ending, cause: &str) -> Vec<Event> {
    let mut events = Vec::new();
    let family = world.agents.with_descendants(top);
    for &agent in &family {
        if !world.agents.get(agent).is_some_and(Agent::is_live) {
            continue;
        }
        events.extend(features::given_up(world, agent, &family));
        let (ending, cause) = match agent == top {
            true => (ending, cause.into()),
            false => (Ending::Terminated, format!("{} ended", world.name_of(Principal::Agent(top))).into()),
        };
        events.push(Event::Agent(AgentEvent::Ended { agent, ending, cause }));
    }
    events
}
