//! The state of everything, as a fold over the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agents::{Agents, SEEN_GRAIN};
use crate::answers::Answers;
use crate::branch_moves::Moves;
use crate::control::Shutdowns;
use crate::deadlines::Deadlines;
use crate::decisions::Decisions;
use crate::event::Record;
use crate::ids::{Fence, Principal, ProjectId, Ticket};
use crate::limits::{AGENT_TIMEOUT, DISCONNECT_GRACE, SLOT_RESERVATION_TTL};
use crate::locks::Locks;
use crate::mail::Mail;
use crate::people::People;
use crate::permissions::Permissions;
use crate::pools::Pools;
use crate::projects::Project;
use crate::reads::Reads;
use crate::roles::Roles;
use crate::runs::AgentRuns;
use crate::tasks::TaskTable;
use crate::teams::Teams;
use crate::time::{Millis, Timestamp};
use crate::worktrees::Worktrees;

/// Timeouts of the rules. Not part of the log: another server may be configured otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timeouts {
    /// Silence after which an agent without a watched process is dead.
    pub agent_timeout: Millis,
    /// How long an agent may be disconnected.
    pub disconnect_grace: Millis,
    /// How long a slot is reserved for somebody who asked for space.
    pub slot_reservation: Millis,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            agent_timeout: AGENT_TIMEOUT,
            disconnect_grace: DISCONNECT_GRACE,
            slot_reservation: SLOT_RESERVATION_TTL,
        }
    }
}

/// The state of everything at one moment: the part of each feature, and what they share.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The number of the last record that was folded in.
    pub head: u64,
    /// The engine's time at the last record.
    pub now: Timestamp,
    pub fence: Fence,
    pub ticket: Ticket,
    pub agents: Agents,
    pub locks: Locks,
    pub reads: Reads,
    pub worktrees: Worktrees,
    pub moves: Moves,
    pub mail: Mail,
    pub shutdowns: Shutdowns,
    pub decisions: Decisions,
    pub teams: Teams,
    pub permissions: Permissions,
    pub people: People,
    pub tasks: TaskTable,
    pub pools: Pools,
    pub runs: AgentRuns,
    /// The roles there are. Not part of the log: they are configured.
    pub roles: Arc<Roles>,
    pub projects: BTreeMap<ProjectId, Project>,
    pub answers: Answers,
    pub(crate) deadlines: Deadlines,
    pub(crate) patience: Timeouts,
}

impl World {
    /// An empty world.
    pub fn new(patience: Timeouts) -> World {
        World { patience, ..World::default() }
    }

    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.next()
    }

    /// What people call this principal.
    pub fn name_of(&self, who: Principal) -> String {
        match who {
            Principal::System => "comity".into(),
            Principal::Human => "the human".into(),
            Principal::Nobody => "nobody".into(),
            Principal::Agent(id) => match self.agents.get(id) {
                Some(agent) => agent.profile.name.to_string(),
                None => id.to_string(),
            },
        }
    }

    /// Folds one record in. It cannot fail: a record in the log has happened.
    pub fn apply(&mut self, record: &Record) {
        self.head = record.seq;
        self.now = self.now.max(record.now);
        if let Principal::Agent(agent) = record.by {
            self.saw(agent, SEEN_GRAIN);
        }
        if let Some(key) = &record.key {
            self.answers.remember(record.by, key, &record.event);
        }
        record.event.feature().apply(self, record);
    }
}
