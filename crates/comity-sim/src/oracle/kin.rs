//! Who leads whom, as the model sees it.

use std::collections::BTreeSet;

use comity_core::agents::{Process, Profile};
use comity_core::{AgentId, Principal};

use super::Oracle;

/// What the model knows of an agent, also after its end.
#[derive(Debug)]
pub(crate) struct Kin {
    pub(crate) name: Box<str>,
    pub(super) role: Option<Box<str>>,
    pub(super) team: Option<Box<str>>,
    pub(super) wished: Option<Box<str>>,
    pub(super) parent: Option<AgentId>,
    pub(super) session: Option<Box<str>>,
    pub(super) process: Option<Process>,
    /// Whether it is part of another agent's program.
    pub(super) is_within: bool,
}

impl Kin {
    pub(super) fn of(profile: &Profile) -> Kin {
        let (role, team) = (profile.role.clone(), profile.team.clone());
        let (session, process) = (profile.session.clone(), profile.process);
        let (name, wished) = (profile.name.clone(), profile.wished_team.clone());
        let (parent, is_within) = (profile.parent, profile.within.is_some());
        Kin { name, role, team, wished, parent, session, process, is_within }
    }
}

impl Oracle {
    /// The parent, else who made the team, else another one in it that leads, else the human.
    pub(crate) fn leader(&self, agent: AgentId) -> Principal {
        let Some(kin) = self.kin.get(&agent) else { return Principal::Human };
        if let Some(parent) = kin.parent.filter(|parent| self.agents.contains_key(parent)) {
            return Principal::Agent(parent);
        }
        let Some(team) = kin.team.as_deref() else { return Principal::Human };
        match self.teams.get(team) {
            Some(Principal::Agent(lead)) if *lead != agent && self.agents.contains_key(lead) => {
                return Principal::Agent(*lead);
            }
            Some(Principal::Human | Principal::System | Principal::Nobody) => return Principal::Human,
            Some(Principal::Agent(_)) | None => {}
        }
        let leads = self.members(team).filter(|other| *other != agent && self.is_lead(*other));
        let first = leads.min_by_key(|other| self.kin.get(other).map(|kin| &kin.name));
        first.map_or(Principal::Human, Principal::Agent)
    }

    /// Whether somebody is above an agent, by way of leaders or of parents.
    pub(super) fn leads(&self, who: Principal, agent: AgentId) -> bool {
        if who.agent().is_none() {
            return true;
        }
        let mut seen = BTreeSet::from([agent]);
        let mut at = agent;
        while let Principal::Agent(leader) = self.leader(at) {
            if Principal::Agent(leader) == who {
                return true;
            }
            if !seen.insert(leader) {
                break;
            }
            at = leader;
        }
        let mut at = self.kin.get(&agent).and_then(|kin| kin.parent);
        while let Some(parent) = at {
            if Principal::Agent(parent) == who {
                return true;
            }
            at = self.kin.get(&parent).and_then(|kin| kin.parent);
        }
        false
    }

    /// Leads by its role, and so does everybody that it was started by.
    pub(crate) fn is_lead(&self, agent: AgentId) -> bool {
        let mut line = vec![agent];
        while let Some(parent) = line.last().and_then(|last| self.kin.get(last)?.parent) {
            if line.contains(&parent) {
                break;
            }
            line.push(parent);
        }
        line.into_iter().all(|agent| self.has_role(agent, "lead"))
    }

    pub(super) fn has_role(&self, agent: AgentId, role: &str) -> bool {
        self.kin.get(&agent).is_some_and(|kin| kin.role.as_deref() == Some(role))
    }

    pub(super) fn is_in(&self, agent: AgentId, team: &str) -> bool {
        self.kin.get(&agent).is_some_and(|kin| kin.team.as_deref() == Some(team))
    }

    /// The team that an agent would like to be in.
    pub(crate) fn wished_team(&self, agent: AgentId) -> Option<&str> {
        self.kin.get(&agent)?.wished.as_deref()
    }

    /// The living of a team.
    pub(super) fn members(&self, team: &str) -> impl Iterator<Item = AgentId> {
        self.agents.keys().copied().filter(move |agent| self.is_in(*agent, team))
    }
}
