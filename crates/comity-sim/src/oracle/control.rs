//! What the model makes of records about handshakes, teams and decisions.

use comity_core::control::{ControlEvent, HandshakeId};
use comity_core::decisions::DecisionEvent;
use comity_core::limits::DECISIONS_MAX;
use comity_core::teams::TeamEvent;
use comity_core::{AgentId, Principal, Record, Timestamp};

use super::post::Urgency;
use super::{Found, Oracle};

/// An agent that was asked to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndAsked {
    pub(crate) agent: AgentId,
    pub(super) by: Principal,
    pub(super) until: Timestamp,
}

/// A decision as the model sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ruling {
    pub(super) by: Principal,
    pub(super) pending: bool,
}

impl Oracle {
    pub(super) fn observe_control(&mut self, record: &Record, event: &ControlEvent) -> Found {
        let (by, now) = (record.by, record.now);
        match event {
            ControlEvent::ShutdownRequested { request, agent, within, .. } => {
                if *request <= self.last_request || !self.agents.contains_key(agent) {
                    return Err(format!("{request} to {agent} follows {}", self.last_request));
                }
                if self.asked.values().any(|asked| asked.agent == *agent) {
                    return Err(format!("{agent} was asked to end twice at a time"));
                }
                if by == Principal::Agent(*agent) || !self.leads(by, *agent) {
                    return Err(format!("{by} asked {agent} to end, but does not lead it"));
                }
                self.last_request = *request;
                self.asked.insert(*request, EndAsked { agent: *agent, by, until: now.plus(*within) });
                self.hears(Principal::Agent(*agent), Urgency::Shutdown);
                Ok(())
            }
            ControlEvent::ShutdownApproved { request, .. } => {
                let asked = self.answered(*request, by)?;
                self.leaving.push(asked.agent);
                self.hears(asked.by, Urgency::Other);
                Ok(())
            }
            ControlEvent::ShutdownRejected { request, .. } => {
                let asked = self.answered(*request, by)?;
                self.hears(asked.by, Urgency::Other);
                Ok(())
            }
            ControlEvent::ShutdownOverdue { request } => {
                let asked = self.closed(*request)?;
                if by != Principal::System || now < asked.until {
                    return Err(format!("{request} was overdue too early"));
                }
                self.leaving.push(asked.agent);
                self.overdue.push(asked.agent);
                Ok(())
            }
            ControlEvent::IdleReported { to, .. } => {
                let leader = by.agent().map(|agent| self.leader(agent));
                if leader != Some(*to) {
                    return Err(format!("{by} told {to} that it is idle, but {leader:?} leads it"));
                }
                self.hears(*to, Urgency::Other);
                Ok(())
            }
        }
    }

    fn answered(&mut self, request: HandshakeId, by: Principal) -> Result<EndAsked, String> {
        let asked = self.closed(request)?;
        match by == Principal::Agent(asked.agent) {
            true => Ok(asked),
            false => Err(format!("{by} answered {request}, which was for {}", asked.agent)),
        }
    }

    /// A handshake ends one way: after that it is not open.
    fn closed(&mut self, request: HandshakeId) -> Result<EndAsked, String> {
        self.asked.remove(&request).ok_or_else(|| format!("{request} ended, but it is not open"))
    }

    pub(super) fn observe_team(&mut self, record: &Record, event: &TeamEvent) -> Found {
        let by = record.by;
        match event {
            TeamEvent::Created { name, lead, .. } => {
                let is_free = by.agent().is_none_or(|agent| {
                    self.leader(agent) == Principal::Human || self.has_role(agent, "lead")
                });
                if *lead != by || !is_free || self.teams.insert(name.clone(), *lead).is_some() {
                    return Err(format!("{by} made the team {name} for {lead}"));
                }
                Ok(())
            }
            TeamEvent::Admitted { agent, team } => {
                let leads_it = match (self.teams.get(team), by) {
                    (Some(lead), _) => *lead == by,
                    (None, Principal::Agent(me)) => self.is_in(me, team) && self.is_lead(me),
                    (None, _) => false,
                };
                let may_have = self.wished_team(*agent) == Some(team) || self.leads(by, *agent);
                let may = leads_it && may_have && by != Principal::Agent(*agent);
                if !self.is_alive(Principal::Agent(*agent)) || (by != Principal::Human && !may) {
                    return Err(format!("{by} let {agent} into the team {team}"));
                }
                if let Some(kin) = self.kin.get_mut(agent) {
                    (kin.team, kin.wished) = (Some(team.clone()), None);
                }
                Ok(())
            }
            TeamEvent::Deleted { name } => {
                let Some(lead) = self.teams.remove(name) else {
                    return Err(format!("there is no team {name}"));
                };
                let is_above = lead.agent().is_some_and(|lead| self.leads(by, lead));
                let is_empty = self.members(name).all(|agent| Principal::Agent(agent) == lead);
                match is_empty && (by == lead || by == Principal::Human || is_above) {
                    true => Ok(()),
                    false => Err(format!("{by} ended the team {name} of {lead}")),
                }
            }
        }
    }

    pub(super) fn observe_decision(&mut self, record: &Record, event: &DecisionEvent) -> Found {
        let (id, pending) = match event {
            DecisionEvent::Made { id, pending, .. } => (*id, *pending),
            DecisionEvent::Confirmed { id } | DecisionEvent::Rejected { id, .. } => {
                return self.ruled(record, *id);
            }
        };
        if id.0 != self.last_decision.0 + 1 {
            return Err(format!("{id} follows {}", self.last_decision));
        }
        self.last_decision = id;
        self.decisions.insert(id, Ruling { by: record.by, pending });
        if self.decisions.len() > DECISIONS_MAX {
            let oldest = self.decisions.iter().find(|(_, ruling)| !ruling.pending).map(|(id, _)| *id);
            oldest.and_then(|oldest| self.decisions.remove(&oldest));
        }
        Ok(())
    }

    /// Somebody above settles what is pending, once.
    fn ruled(&mut self, record: &Record, id: comity_core::decisions::DecisionId) -> Found {
        let by = record.by;
        let Some(ruling) = self.decisions.get(&id).copied().filter(|ruling| ruling.pending) else {
            return Err(format!("{id} was settled, but is not pending"));
        };
        let is_above = match ruling.by {
            Principal::Agent(maker) => by != ruling.by && self.leads(by, maker),
            Principal::Human | Principal::System | Principal::Nobody => by == Principal::Human,
        };
        if !is_above {
            return Err(format!("{by} settled {id} of {}", ruling.by));
        }
        self.decisions.insert(id, Ruling { pending: false, ..ruling });
        self.tell(ruling.by, record.seq);
        Ok(())
    }
}
