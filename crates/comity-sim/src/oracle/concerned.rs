//! Whom a record has to name: everybody in it, and whose it was as the model knows.

use comity_core::control::ControlEvent;
use comity_core::locks::LockEvent;
use comity_core::permissions::PermissionEvent;
use comity_core::{AgentId, Event, Principal, Record};
use serde_json::Value;

use super::{Found, Oracle};

impl Oracle {
    /// Whom a record concerns, as far as the model knows before it.
    pub(super) fn concerned(&self, record: &Record) -> Vec<AgentId> {
        let mut all = Vec::new();
        mentioned(&serde_json::to_value(&record.event).unwrap_or_default(), &mut all);
        all.extend(self.owner_of(&record.event).and_then(Principal::agent));
        all
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
                self.jobs.iter().find(|job| job.id == *id)?.owner
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
        Some(agent) => Err(format!("record {} concerns {agent}, and does not say so", record.seq)),
        None => Ok(()),
    }
}
