//! How records change agents: signs of life, and when silence counts.

use super::{Agent, AgentEvent, AgentTold, Ending, Life};
use crate::deadlines::Due;
use crate::event::Record;
use crate::features;
use crate::ids::{AgentId, Principal};
use crate::locks;
use crate::teams::leader_of;
use crate::time::Millis;
use crate::world::World;

/// A sign of life within this span of the last one changes nothing.
pub(crate) const SEEN_GRAIN: Millis = Millis::seconds(1);

pub(super) fn apply(world: &mut World, record: &Record, event: &AgentEvent) {
    let now = world.now;
    match event {
        AgentEvent::Joined { agent, profile, token } => {
            world.people.agent_came(profile.since.as_ref());
            world.agents.insert(Agent {
                id: *agent,
                profile: (**profile).clone(),
                tokens: vec![*token],
                joined: now,
                seen: now,
                disconnected: None,
                silent_since_uptime: None,
                life: Life::Starting,
                notices: Vec::new(),
            });
            world.watch_agent(*agent);
        }
        AgentEvent::Named { agent, name } => world.agents.rename(*agent, name),
        AgentEvent::Limited { max } => world.agents.limit.set = Some(*max),
        AgentEvent::TokenAdded { agent, token } => world.agents.add_token(*agent, *token),
        AgentEvent::ProcessKnown { agent, process } => {
            world.agents.know_process(*agent, *process);
            world.watch_agent(*agent);
            locks::watch_held_by(world, Principal::Agent(*agent));
        }
        AgentEvent::Seen { agent } => world.saw(*agent, Millis(0)),
        AgentEvent::Idled { agent, idle } => {
            world.change_agent(*agent, |agent| agent.life = if *idle { Life::Idle } else { Life::Running });
        }
        AgentEvent::Disconnected { agent } => {
            world.change_agent(*agent, |agent| agent.disconnected = Some(now));
        }
        AgentEvent::Ended { agent, ending, cause } => {
            tell_leader(world, record, *agent, *ending, cause);
            world.agents.end(*agent, *ending, cause, now);
            features::forget_agent(world, *agent);
            world.deadlines.set(Due::Agent(*agent), None);
        }
    }
}

/// Tells a leader that one of its agents has ended, unless it ended that agent itself.
fn tell_leader(world: &mut World, record: &Record, agent: AgentId, ending: Ending, cause: &str) {
    let is_within = world.agents.get(agent).is_some_and(|agent| agent.profile.within.is_some());
    let leader = leader_of(world, agent);
    // A program knows by itself when its sub-agent is done.
    if leader == record.by || (is_within && ending == Ending::Completed) {
        return;
    }
    let (name, how) = (world.name_of(Principal::Agent(agent)), ending.word().to_owned());
    world.tell(leader, record.seq, AgentTold::WorkerEnded { name, how, cause: cause.into() });
}

/// Restores agents, with the times at which their silence counts.
pub(crate) fn restore(world: &mut World, agents: Vec<Agent>) {
    for agent in agents {
        let id = agent.id;
        world.agents.insert(agent);
        world.watch_agent(id);
    }
}

/// After a restart all timeouts count from now, so nobody's time was cut short.
pub(crate) fn server_started(world: &mut World, uptime: Option<Millis>, is_same_boot: bool) {
    let live: Vec<AgentId> = world.agents.live().map(|agent| agent.id).collect();
    for agent in live {
        let silent_since = world.agents.get(agent).and_then(|agent| agent.silent_since_uptime);
        world.saw(agent, Millis(0));
        world.change_agent(agent, |agent| {
            agent.disconnected = None;
            agent.silent_since_uptime = silent_since.filter(|_| is_same_boot).or(uptime);
        });
    }
}

impl World {
    /// A sign of life renews everything that the agent holds.
    pub(crate) fn saw(&mut self, id: AgentId, grain: Millis) {
        let now = self.now;
        let Some(agent) = self.agents.by_id.get_mut(&id).filter(|agent| agent.is_live()) else { return };
        agent.silent_since_uptime = None;
        if agent.disconnected.is_none()
            && grain.0 > 0
            && now.since(agent.seen) < grain
            && agent.life != Life::Starting
        {
            return;
        }
        agent.seen = now;
        agent.disconnected = None;
        if agent.life == Life::Starting {
            agent.life = Life::Running;
        }
        self.watch_agent(id);
        locks::watch_held_by(self, Principal::Agent(id));
    }

    pub(crate) fn change_agent(&mut self, id: AgentId, change: impl FnOnce(&mut Agent)) {
        if let Some(agent) = self.agents.by_id.get_mut(&id).filter(|agent| agent.is_live()) {
            change(agent);
            self.watch_agent(id);
        }
    }

    /// Sets the time at which silence makes the agent dead. With a watched process it needs none.
    pub(crate) fn watch_agent(&mut self, id: AgentId) {
        let Some(agent) = self.agents.get(id) else { return };
        let deadline = match (agent.disconnected, agent.profile.process) {
            _ if !agent.is_live() => None,
            (_, Some(_)) => None,
            (Some(at), None) => Some(at.plus(self.patience.disconnect_grace)),
            (None, None) => Some(agent.seen.plus(self.patience.agent_timeout)),
        };
        self.deadlines.set(Due::Agent(id), deadline);
    }
}
