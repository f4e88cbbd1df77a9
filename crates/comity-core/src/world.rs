//! The state of everything, as a fold over the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::agents::{Agent, Agents, Life};
use crate::answers::Answers;
use crate::control::Shutdowns;
use crate::deadlines::{Deadlines, Due};
use crate::decisions::Decisions;
use crate::event::{Event, Record};
use crate::ids::{AgentId, Fence, Principal, ProjectId, Ticket};
use crate::limits::{AGENT_TIMEOUT, DISCONNECT_GRACE};
use crate::locks::{Hold, Locks};
use crate::mail::Mail;
use crate::moves::Moves;
use crate::notices::{Notice, Told};
use crate::people::People;
use crate::permissions::Permissions;
use crate::pools::Pools;
use crate::projects::Project;
use crate::reads::Reads;
use crate::roles::Roles;
use crate::tasks::Tasks;
use crate::teams::Teams;
use crate::time::{Millis, Timestamp};
use crate::worktrees::{Worktree, Worktrees};

/// A sign of life within this span of the last one changes nothing.
const SEEN_GRAIN: Millis = Millis::seconds(1);

/// How patient the rules are. Not part of the log: another server may be set otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patience {
    /// Silence after which an agent of which nothing is known to be alive is dead.
    pub agent_timeout: Millis,
    /// How long an agent may be without its connection.
    pub disconnect_grace: Millis,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { agent_timeout: AGENT_TIMEOUT, disconnect_grace: DISCONNECT_GRACE }
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
    /// Who is here.
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
    /// What was settled.
    pub decisions: Decisions,
    /// The teams that were made.
    pub teams: Teams,
    /// Who may do what without asking, and who has asked.
    pub permissions: Permissions,
    /// How the human is known.
    pub people: People,
    /// What there is to do, and whose it is.
    pub tasks: Tasks,
    /// Who has which of the scarce things, and who waits.
    pub pools: Pools,
    /// How many agents may be here, if a person has set it.
    pub agents_limit: Option<usize>,
    /// How many agents may be here otherwise. Not part of the log: it is configured.
    pub agents_configured: Option<usize>,
    /// What roles there are. Not part of the log: it is configured.
    pub roles: Arc<Roles>,
    /// The repositories.
    pub projects: BTreeMap<ProjectId, Project>,
    /// Recent answers by idempotency key.
    pub answers: Answers,
    pub(crate) deadlines: Deadlines,
    pub(crate) patience: Patience,
}

impl World {
    /// An empty world.
    pub fn new(patience: Patience) -> World {
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

    /// Who waits in a queue with this ticket.
    pub fn waiter(&self, ticket: Ticket) -> Option<Principal> {
        let by_lock = self.locks.wait(ticket).map(|wait| wait.who);
        by_lock.or_else(|| self.pools.place(ticket).map(|(_, place)| place.who))
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
        let now = self.now;
        if let Principal::Agent(agent) = record.by {
            self.saw(agent, SEEN_GRAIN);
        }
        if let Some(key) = &record.key {
            self.answers.remember(record.by, key, &record.event);
        }
        match &record.event {
            Event::ServerStarted { fence_floor, boot, uptime, .. } => {
                let is_same_boot = boot.is_some() && self.people.boot() == boot.as_deref();
                self.people.booted(boot.as_deref());
                self.server_started(*fence_floor, *uptime, is_same_boot);
                self.moves.server_started();
            }
            Event::ProjectAdded { project, common_dir, case } => {
                self.projects.insert(*project, Project { common_dir: common_dir.clone(), case: *case });
            }
            Event::AgentJoined { agent, profile, token } => {
                self.people.agent_came(profile.since.as_ref());
                self.agents.insert(Agent {
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
                self.watch_agent(*agent);
            }
            Event::AgentNamed { agent, name } => self.agents.rename(*agent, name),
            Event::AgentTokenAdded { agent, token } => self.agents.add_token(*agent, *token),
            Event::AgentProcessKnown { agent, process } => {
                self.agents.know_process(*agent, *process);
                self.watch_agent(*agent);
                crate::locks::watch_held_by(self, Principal::Agent(*agent));
            }
            Event::AgentSeen { agent } => self.saw(*agent, Millis(0)),
            Event::AgentIdled { agent, idle } => {
                self.change_agent(*agent, |agent| {
                    agent.life = if *idle { Life::Idle } else { Life::Running }
                });
            }
            Event::AgentDisconnected { agent } => {
                self.change_agent(*agent, |agent| agent.disconnected = Some(now));
            }
            Event::AgentEnded { agent, ending, cause } => {
                self.agents.end(*agent, *ending, cause, now);
                self.reads.forget(*agent);
                self.moves.forget(*agent);
                crate::control::agent_ended(self, *agent);
                let agents = &self.agents;
                self.permissions.forget(|agent| agents.get(agent).is_none());
                self.tasks.forget_agent(*agent);
                self.pools.forget_agent(*agent);
                crate::mail::agent_ended(self, *agent);
                self.deadlines.set(Due::Agent(*agent), None);
            }
            Event::NothingChanged {} | Event::MergeConflicted { .. } => {}
            Event::MoveIntended(intended) => self.moves.intend(record.seq, record.by, intended),
            Event::MoveUndone { number, .. } => self.moves.undo(*number),
            Event::Committed { project, commit, recovered } => {
                self.moves.committed(record.by, *project, commit, *recovered);
                // Who has ended by now does not ask again.
                if let Some(gone) = record.by.agent().filter(|id| self.agents.living(*id).is_err()) {
                    self.moves.forget(gone);
                }
            }
            Event::BranchMerged { project, target, commit, .. } => {
                self.moves.merged(record.by, *project, target, commit);
            }
            Event::FileKnown { project, file } => {
                if let Principal::Agent(agent) = record.by {
                    self.reads.learn(agent, *project, &file.path, file.content, record.seq);
                }
            }
            Event::UnlockedWrite(write) => crate::writes::apply(self, record.seq, write),
            Event::CommitUnguarded(commit) => crate::commits::apply(self, record.seq, commit),
            Event::WorktreeAdded { project, tree } => {
                let (project, owner) = (*project, record.by);
                let (tree, added) = (tree.clone(), record.seq);
                let (released, kept) = (None, None);
                self.worktrees.insert(Worktree { project, tree, owner, since: now, added, released, kept });
            }
            Event::WorktreeReleased { project, slug } => self.worktrees.release(*project, slug, record.by),
            Event::WorktreeKept { project, slug, why } => {
                if let Some(by) = self.worktrees.keep(*project, slug, why) {
                    let (slug, why) = (slug.to_string(), why.to_string());
                    self.tell(by, record.seq, Told::WorktreeKept { slug, why });
                }
            }
            Event::WorktreeRemoved { project, slug, .. } => self.worktrees.remove(*project, slug),
            Event::Mail(event) => crate::mail::apply(self, record, event),
            Event::Control(event) => crate::control::apply(self, record, event),
            Event::Decision(event) => crate::decisions::apply(self, record, event),
            Event::Team(event) => crate::teams::apply(self, event),
            Event::Permission(event) => crate::permissions::apply(self, event),
            Event::Task(event) => crate::tasks::apply(self, record, event),
            Event::Pool(event) => crate::pools::apply(self, record, event),
            Event::Person(event) => crate::people::apply(self, record, event),
            Event::EntriesRefused { .. } | Event::KeyReused { .. } => {}
            Event::AgentsLimited { max } => self.agents_limit = Some(*max),
            Event::NoticesTaken { agent, up_to } => {
                self.change_agent(*agent, |agent| agent.notices.retain(|notice| notice.id > *up_to));
            }
            Event::LockAcquired { .. }
            | Event::LockRenewed { .. }
            | Event::LockReleased { .. }
            | Event::LockLapsed { .. }
            | Event::LockExpired { .. }
            | Event::LockOrphaned { .. }
            | Event::LockExtended { .. }
            | Event::LockHandedOver { .. }
            | Event::WaitStarted { .. }
            | Event::WaitEnded { .. } => crate::locks::apply(self, record),
        }
    }

    /// After a restart nobody's time was cut short: all that was known is counted from now.
    fn server_started(&mut self, fence_floor: Fence, uptime: Option<Millis>, is_same_boot: bool) {
        self.fence = self.fence.max(fence_floor);
        let live: Vec<AgentId> = self.agents.live().map(|agent| agent.id).collect();
        for agent in live {
            let silent_since = self.agents.get(agent).and_then(|agent| agent.silent_since_uptime);
            self.saw(agent, Millis(0));
            self.change_agent(agent, |agent| {
                agent.disconnected = None;
                agent.silent_since_uptime = silent_since.filter(|_| is_same_boot).or(uptime);
            });
        }
    }

    /// A sign of life renews all that the agent holds.
    fn saw(&mut self, id: AgentId, grain: Millis) {
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
        crate::locks::watch_held_by(self, Principal::Agent(id));
    }

    fn change_agent(&mut self, id: AgentId, change: impl FnOnce(&mut Agent)) {
        if let Some(agent) = self.agents.by_id.get_mut(&id).filter(|agent| agent.is_live()) {
            change(agent);
            self.watch_agent(id);
        }
    }

    /// Sets the moment at which silence makes the agent dead. A process that is watched needs none.
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

    pub(crate) fn tell(&mut self, who: Principal, id: u64, what: Told) {
        let at = self.now;
        if let Principal::Agent(agent) = who {
            self.agents.notify(agent, Notice { id, at, what });
        }
    }
}
