//! Predecessors: whose place a new agent takes, and whose program asks after its end.

use comity_core::agents::Agent;
use comity_core::permissions::mode_of;
use comity_core::{AgentId, Principal};

use crate::application::Application;
use crate::lineage::Lineage;
use crate::operation::Caller;
use crate::processes;

impl Application {
    /// The agent whose place a new one takes: the newest ended one in its lineage; otherwise, for an unproven caller
    /// that an agent has or may have started, the one with the fewest rights.
    pub(crate) fn predecessor(&self, caller: &Caller) -> Option<AgentId> {
        if let Some(ended) = self.ended_above(caller) {
            return Some(ended);
        }
        let lineage = caller.lineage.as_deref()?;
        let is_lost = caller.who == Principal::Nobody
            && (lineage.links.iter().any(|link| processes::is_marked(link.process.pid))
                || self.astray(lineage, &[]).is_some());
        let world = self.engine().world();
        let may = |agent: &&Agent| (mode_of(&world, agent.id), agent.profile.parent.is_some());
        is_lost.then(|| world.agents.live().min_by_key(may)).flatten().map(|agent| agent.id)
    }

    /// The newest agent in the caller's lineage that has ended.
    pub(crate) fn ended_above(&self, caller: &Caller) -> Option<AgentId> {
        let lineage = caller.lineage.as_deref()?;
        let world = self.engine().world();
        let is_here = |agent: &&Agent| agent.profile.process.is_some_and(|process| lineage.has(process));
        let ended = world.agents.iter().filter(|agent| !agent.is_live()).filter(is_here);
        ended.max_by_key(|agent| (agent.joined, agent.id)).map(|agent| agent.id)
    }

    /// The session that a newcomer may go on with. What an agent has started knows the sessions of others, which are no
    /// secrets, and goes on with none: its program is known by its process.
    pub(crate) fn own_session<'a>(&self, caller: &Caller, session: Option<&'a str>) -> Option<&'a str> {
        let mut links = caller.lineage.as_deref().into_iter().flat_map(|lineage| &lineage.links);
        session.filter(|_| !links.any(|link| processes::is_marked(link.process.pid)))
    }

    /// The name of an ended agent whose own program is in the lineage, if there is one: it may join again.
    pub(super) fn ended_in(&self, lineage: &Lineage) -> Option<String> {
        let world = self.engine().world();
        let ended = world.agents.iter().filter(|agent| !agent.is_live());
        let mut programs = ended.filter_map(|agent| {
            let program = lineage.links.iter().find(|link| agent.profile.process == Some(link.process))?;
            Some((program, &agent.profile.name))
        });
        let (program, name) = programs.next()?;
        Some(format!("{} (process {}) was {name}, which has ended", program.name, program.process.pid))
    }
}
