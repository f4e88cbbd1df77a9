//! Whom a record has to name: everybody in it, and whose it was as the model knows.

use comity_core::agents::AgentEvent;
use comity_core::control::ControlEvent;
use comity_core::decisions::DecisionEvent;
use comity_core::locks::LockEvent;
use comity_core::mail::MailEvent;
use comity_core::permissions::PermissionEvent;
use comity_core::pools::PoolEvent;
use comity_core::teams::TeamEvent;
use comity_core::{AgentId, Event, Principal, Record};
use serde_json::Value;

use super::{Found, Oracle};

impl Oracle {
    /// Whom a record concerns, as far as the model knows before it.
    pub(super) fn concerned(&self, record: &Record) -> Vec<AgentId> {
        let mut all = Vec::new();
        mentioned(&serde_json::to_value(&record.event).unwrap_or_default(), &mut all);
        let owners = self.owner_of(&record.event).into_iter().chain(self.others_of(&record.event));
        all.extend(owners.filter_map(Principal::agent));
        all
    }

    /// Who else has to do with an event, and does not stand in it.
    fn others_of(&self, event: &Event) -> Vec<Principal> {
        let request = |request| self.permissions.open.get(request).map(|asked| Principal::Agent(asked.asker));
        let other = match event {
            Event::Pool(
                PoolEvent::Opened { slot, .. }
                | PoolEvent::Noted { slot, .. }
                | PoolEvent::Extended { slot, .. }
                | PoolEvent::Shared { slot, .. }
                | PoolEvent::Unshared { slot, .. },
            ) => self.shelves.by_name.values().find_map(|shelf| Some(shelf.slots.get(slot)?.owner)),
            Event::Decision(DecisionEvent::Confirmed { id } | DecisionEvent::Rejected { id, .. }) => {
                self.decisions.get(id).map(|ruling| ruling.by)
            }
            Event::Mail(MailEvent::PutAside { to, letters } | MailEvent::Undelivered { to, letters }) => {
                let pile = self.post.piles.get(to).into_iter().flat_map(|pile| &pile.letters);
                return pile
                    .filter(|letter| letters.contains(&letter.id))
                    .map(|letter| letter.from)
                    .collect();
            }
            Event::Control(
                ControlEvent::ShutdownApproved { request, .. }
                | ControlEvent::ShutdownRejected { request, .. }
                | ControlEvent::ShutdownOverdue { request },
            ) => self.asked.get(request).map(|asked| asked.by),
            Event::Permission(
                PermissionEvent::Used { request: id, .. } | PermissionEvent::Lapsed { request: id },
            ) => request(id),
            Event::Permission(
                PermissionEvent::PlanEscalated { plan, .. }
                | PermissionEvent::PlanApproved { plan, .. }
                | PermissionEvent::PlanRejected { plan, .. }
                | PermissionEvent::PlanWithdrawn { plan, .. },
            ) => self.permissions.plans.get(plan).map(|plan| Principal::Agent(plan.asker)),
            Event::Permission(
                PermissionEvent::RuleRemoved { rule, .. } | PermissionEvent::RulePassedOn { rule, .. },
            ) => self.permissions.rules.get(rule).copied(),
            Event::Team(TeamEvent::Deleted { name: team } | TeamEvent::Admitted { team, .. }) => {
                self.teams.get(team).copied()
            }
            Event::Agent(AgentEvent::Ended { agent, .. }) => {
                let parent = || self.agents.get(agent)?.parent;
                self.leader(*agent).agent().or_else(parent).map(Principal::Agent)
            }
            Event::Run(event) => {
                let run = self.runs.get(&event.run());
                let agent = run.and_then(|run| run.phase.agent()).map(Principal::Agent);
                return run.map(|run| run.by).into_iter().chain(agent).collect();
            }
            _ => None,
        };
        other.into_iter().collect()
    }

    fn owner_of(&self, event: &Event) -> Option<Principal> {
        match event {
            Event::Lock(LockEvent::Renewed { fence, .. })
            | Event::Lock(LockEvent::Released { fence, .. })
            | Event::Lock(LockEvent::Lapsed { fence, .. })
            | Event::Lock(LockEvent::Expired { fence, .. })
            | Event::Lock(LockEvent::Orphaned { fence, .. })
            | Event::Lock(LockEvent::Extended { fence, .. })
            | Event::Lock(LockEvent::HandedOver { fence, .. }) => Some(self.locks.get(fence)?.holder),
            Event::Lock(LockEvent::WaitEnded { ticket, .. }) => Some(self.waits.get(ticket)?.who),
            Event::Control(
                ControlEvent::ShutdownApproved { request, .. }
                | ControlEvent::ShutdownRejected { request, .. }
                | ControlEvent::ShutdownOverdue { request },
            ) => Some(Principal::Agent(self.asked.get(request)?.agent)),
            Event::Permission(
                PermissionEvent::Escalated { request, .. }
                | PermissionEvent::Allowed { request, .. }
                | PermissionEvent::Denied { request, .. }
                | PermissionEvent::Expired { request }
                | PermissionEvent::Withdrawn { request, .. },
            ) => Some(Principal::Agent(self.permissions.open.get(request)?.asker)),
            Event::Worktree(event) => self.of_worktree(event),
            Event::Task(event) => {
                let id = &event.on()?.task;
                let job = self.jobs.iter().find(|job| job.id == *id)?;
                job.owner.or(job.done_by)
            }
            _ => None,
        }
    }
}

/// Every agent whose id is somewhere in a value.
fn mentioned(value: &Value, all: &mut Vec<AgentId>) {
    match value {
        Value::String(text) => all.extend(text.parse::<AgentId>().ok()),
        Value::Array(values) => values.iter().for_each(|value| mentioned(value, all)),
        Value::Object(fields) => fields.values().for_each(|value| mentioned(value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub(super) fn check(record: &Record, concerned: &[AgentId]) -> Found {
    match concerned.iter().find(|agent| !record.concerns_agent(**agent)) {
        Some(agent) => {
            let (seq, action) = (record.seq, record.event.kind().action);
            Err(format!("record {seq} ({action}) concerns {agent}, and does not say so"))
        }
        None => Ok(()),
    }
}
