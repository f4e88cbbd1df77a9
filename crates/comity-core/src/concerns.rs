//! Whom an event concerns: whose lock, letter, task, tab or life it is about, besides who acted.
//!
//! Some events name them; others name a lock, a request or a slot, and only the world before the event knows whose it was.

use crate::event::{Event, Record};
use crate::ids::{AgentId, Principal};
use crate::world::World;

impl Record {
    /// Whether an agent acted, or it was the agent's that something happened to.
    pub fn concerns_agent(&self, agent: AgentId) -> bool {
        self.by == Principal::Agent(agent)
            || self.concerns.contains(&agent)
            || self.event.feature().concerns(None).contains(&agent)
    }

    /// The agents that it concerns, besides who acted.
    pub fn concerned(&self) -> Vec<AgentId> {
        let mut all = self.event.feature().concerns(None);
        all.extend(&self.concerns);
        tidy(all, self.by)
    }
}

/// What the event does not say itself: the agents whom it concerns by what it is about.
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

/// Those of them that are agents.
pub(crate) fn agents(who: impl IntoIterator<Item = Principal>) -> Vec<AgentId> {
    who.into_iter().filter_map(Principal::agent).collect()
}
