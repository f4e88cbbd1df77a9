//! Whom an event concerns besides the one who acted: whose lock, letter, task, tab or life it is about.
//!
//! Some events name them. Others name a lock, a request or a slot, and only the world before the event tells whose
//! that was.

use crate::event::{Event, Record};
use crate::ids::{AgentId, Principal};
use crate::world::World;

impl Record {
    /// Whether the agent acted, or the event concerns it.
    pub fn concerns_agent(&self, agent: AgentId) -> bool {
        self.by == Principal::Agent(agent)
            || self.concerns.contains(&agent)
            || self.event.feature().concerns(None).contains(&agent)
    }

    pub fn concerned(&self) -> Vec<AgentId> {
        let mut all = self.event.feature().concerns(None);
        all.extend(&self.concerns);
        tidy(all, self.by)
    }
}

/// The agents that it concerns and does not name itself.
pub(crate) fn implied(event: &Event, by: Principal, before: &World) -> Vec<AgentId> {
    let mut implied = tidy(event.feature().concerns(Some(before)), by);
    if !implied.is_empty() {
        let named = event.feature().concerns(None);
        implied.retain(|agent| !named.contains(agent));
    }
    implied
}

fn tidy(mut agents: Vec<AgentId>, by: Principal) -> Vec<AgentId> {
    agents.sort_unstable();
    agents.dedup();
    agents.retain(|agent| Principal::Agent(*agent) != by);
    agents
}

pub(crate) fn agents(who: impl IntoIterator<Item = Principal>) -> Vec<AgentId> {
    who.into_iter().filter_map(Principal::agent).collect()
}
