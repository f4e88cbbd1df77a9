//! The state of everything, as a fold over the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::agents::{Agents, SEEN_GRAIN};
use crate::answers::Answers;
use crate::branch_moves::Moves;
use crate::control::Shutdowns;
use crate::deadlines::{Deadlines, Due};
use crate::decisions::Decisions;
use crate::event::Record;
use crate::ids::{AgentId, Fence, Principal, ProjectId, Ticket};
use crate::limits::{AGENT_TIMEOUT, DISCONNECT_GRACE, SLOT_RESERVATION_TTL};
use crate::locks::{Hold, Locks};
use crate::mail::Mail;
use crate::notices::{Notice, NoticeKind};
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

/// How patient the rules are. Not part of the log: another server may be set otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timeouts {
    /// Silence after which an agent of which nothing is known to be alive is dead.
    pub agent_timeout: Millis,
    /// How long an agent may be without its connection.
    pub disconnect_grace: Millis,
    /// How long a slot is kept for whoever asked for space.
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

/// Agents, locks, projects and answers at one moment.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The number of the last record that is in here.
    pub head: u64,
    /// The engine's time at the last record.
    pub now: Timestamp,
    /// The largest fence that was given.
    pub fence: Fence,
    /// The last ticket that was given.
    pub ticket: Ticket,
    pub agents: Agents,
    /// Who may edit which path, and who waits.
    pub locks: Locks,
    /// What agents know of files.
    pub reads: Reads,
    /// Who works in a copy of their own.
    pub worktrees: Worktrees,
    /// Branches that are about to move.
    pub moves: Moves,
    /// Letters and control messages on their way.
    pub mail: Mail,
    /// Who was asked to end.
    pub shutdowns: Shutdowns,
    pub decisions: Decisions,
    /// The teams that were made.
    pub teams: Teams,
    /// Who may do what without asking, and who has asked.
    pub permissions: Permissions,
    /// How the human is known.
    pub people: People,
    /// What there is to do, and whose it is.
    pub tasks: TaskTable,
    /// Who has which of the scarce things, and who waits.
    pub pools: Pools,
    /// What Comity runs.
    pub runs: AgentRuns,
    /// How many agents may be here, if a person has set it.
    pub agents_limit: Option<usize>,
    /// How many agents may be here otherwise. Not part of the log: it is configured.
    pub agents_configured: Option<usize>,
    /// What roles there are. Not part of the log: it is configured.
    pub roles: Arc<Roles>,
    pub projects: BTreeMap<ProjectId, Project>,
    /// Recent answers by idempotency key.
    pub answers: Answers,
    pub(crate) deadlines: Deadlines,
    pub(crate) patience: Timeouts,
}

impl World {
    /// An empty world.
    pub fn new(patience: Timeouts) -> World {
        World { patience, ..World::default() }
    }

    /// When time alone will change something.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.next()
    }

    /// The agents that will have been silent for too long at `now`, or for longer than a lock of theirs lasts, and whose
    /// connection has not closed.
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

    /// How many agents may be here, if there is a limit.
    pub fn agents_max(&self) -> Option<usize> {
        self.agents_limit.or(self.agents_configured)
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

    /// Folds one record in. It cannot fail: a record in the log did happen.
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

    pub(crate) fn tell(&mut self, who: Principal, id: u64, what: impl Into<NoticeKind>) {
        let at = self.now;
        if let Principal::Agent(agent) = who {
            self.agents.notify(agent, Notice { id, at, what: what.into() });
        }
    }
}
