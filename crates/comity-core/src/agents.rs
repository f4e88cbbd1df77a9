//! Agents: who is here, and the rules of joining and ending.

mod apply;
mod ending;
mod feature;
mod idle;
mod joining;
mod limit;
mod notices;
mod refusal;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, TokenHash};
use crate::limits::{ENDED_AGENTS_MAX, NOTICES_MAX};
use crate::notices::Notice;
use crate::refusal::Refusal;
use crate::time::{Millis, Timestamp};

pub(crate) use apply::{SEEN_GRAIN, restore, server_started};
use ending::end;
pub(crate) use ending::{ending_events, silence_events, silent_across_restarts};
pub use feature::{AgentAsk, AgentEvent};
pub(crate) use idle::works_again;
pub use joining::check_name;
use joining::{add_token, attach, join, join_beside, rename};
pub(crate) use joining::{check_agent_name, join_below, may_bring_into};
pub use limit::AgentCapacity;
use limit::limit;
pub(crate) use limit::{check_limit, check_limit_with};
pub use notices::AgentTold;
pub use refusal::AgentRefusal;

/// What an agent says of itself when it joins.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    pub name: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<Box<str>>,
    /// The team it would like to be in: its leader or the human admits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wished_team: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The session id that its program gave itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<str>>,
    /// The id that its program gave it, if it is one of several agents that run in one program; `parent` is the program's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<str>>,
    /// From when on, and in which process group, processes may be its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    /// The agent that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<AgentId>,
}

/// From when on, and in which process group, an orphaned process may be an agent's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// In the kernel's ticks since boot.
    pub start: u64,
    /// A group that processes stay in when they lose their parents; `None` if it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<Box<str>>,
}

/// A process, told apart from a later one with the same pid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub start: u64,
}

/// How an agent ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    Completed,
    Failed,
    Terminated,
    Exited,
}

/// Where an agent is in its life cycle.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", deny_unknown_fields)]
pub enum Life {
    /// It has joined, and not done anything yet.
    Starting,
    Running,
    /// It waits for something to do.
    Idle,
    /// This state is final.
    Ended {
        ending: Ending,
        cause: Box<str>,
        at: Timestamp,
    },
}

/// A live agent, or one that has ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    pub id: AgentId,
    pub profile: Profile,
    pub tokens: Vec<TokenHash>,
    pub joined: Timestamp,
    /// Its last sign of life.
    pub seen: Timestamp,
    /// When its own connection closed, if it has.
    pub disconnected: Option<Timestamp>,
    /// How long the machine had been up at the first server start after its last sign of life.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub silent_since_uptime: Option<Millis>,
    pub life: Life,
    /// What it has not been told yet.
    pub notices: Vec<Notice>,
}

/// All live agents, and the newest of the ended ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Agents {
    pub limit: AgentCapacity,
    pub(crate) by_id: BTreeMap<AgentId, Agent>,
    live_names: BTreeMap<Box<str>, AgentId>,
    tokens: BTreeMap<TokenHash, AgentId>,
    children: BTreeMap<AgentId, BTreeSet<AgentId>>,
    ended: BTreeSet<(Timestamp, AgentId)>,
    processes: BTreeSet<(Process, AgentId)>,
    pub(crate) changes: usize,
}

impl Life {
    pub fn word(&self) -> &'static str {
        match self {
            Life::Starting => "starting",
            Life::Running => "running",
            Life::Idle => "idle",
            Life::Ended { ending, .. } => ending.word(),
        }
    }
}

impl Ending {
    pub fn word(self) -> &'static str {
        match self {
            Ending::Completed => "completed",
            Ending::Failed => "failed",
            Ending::Terminated => "terminated",
            Ending::Exited => "exited",
        }
    }
}

impl Agent {
    pub fn is_live(&self) -> bool {
        !matches!(self.life, Life::Ended { .. })
    }

    /// Whether it lives as long as its process, which is watched.
    pub fn is_watched(&self) -> bool {
        self.is_live() && self.profile.process.is_some()
    }
}

impl Agents {
    /// The agent with this id.
    pub fn get(&self, agent: AgentId) -> Option<&Agent> {
        self.by_id.get(&agent)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.by_id.values()
    }

    pub fn live(&self) -> impl Iterator<Item = &Agent> {
        self.live_names.values().filter_map(|id| self.by_id.get(id))
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Whether there is room for one more.
    pub(crate) fn may_join(&self) -> bool {
        self.limit.max().is_none_or(|max| self.live_names.len() < max)
    }

    /// Counts agents that joined or ended, and processes that became known: if it moved, there may be another process
    /// to watch.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// The live agent with this name or id.
    pub fn find(&self, name: &str) -> Result<&Agent, Refusal> {
        let by_id =
            name.parse().ok().and_then(|id: AgentId| self.by_id.get(&id)).filter(|agent| agent.is_live());
        let found = by_id.or_else(|| self.by_id.get(self.live_names.get(name)?));
        found.ok_or_else(|| {
            let live = self.live_names.keys().take(20).map(ToString::to_string).collect();
            Refusal::Agent(AgentRefusal::Unknown { name: name.into(), live })
        })
    }

    /// The live agent that this token belongs to.
    pub fn by_token(&self, token: &TokenHash) -> Result<&Agent, Refusal> {
        let agent = self
            .tokens
            .get(token)
            .and_then(|id| self.by_id.get(id))
            .ok_or(Refusal::Agent(AgentRefusal::BadToken))?;
        must_live(agent)
    }

    /// The live agent, or why it cannot act.
    pub fn living(&self, agent: AgentId) -> Result<&Agent, Refusal> {
        let unknown = || Refusal::Agent(AgentRefusal::Unknown { name: agent.to_string(), live: vec![] });
        self.by_id.get(&agent).ok_or_else(unknown).and_then(must_live)
    }

    /// The agent and all its descendants, topmost first; a cycle of parents ends the walk.
    pub(crate) fn with_descendants(&self, top: AgentId) -> Vec<AgentId> {
        let mut family = vec![top];
        let mut seen = BTreeSet::from([top]);
        let mut next = 0;
        while let Some(parent) = family.get(next) {
            for child in self.children.get(parent).into_iter().flatten() {
                if seen.insert(*child) {
                    family.push(*child);
                }
            }
            next += 1;
        }
        family
    }

    /// The live sub-agent with this id in another agent's program.
    pub fn within(&self, program: AgentId, id: &str) -> Option<&Agent> {
        self.sub_agents(program).find(|agent| agent.profile.within.as_deref() == Some(id))
    }

    /// Whether sub-agents live in this agent's program.
    pub fn has_sub_agents(&self, program: AgentId) -> bool {
        self.sub_agents(program).next().is_some()
    }

    fn sub_agents(&self, program: AgentId) -> impl Iterator<Item = &Agent> {
        let children = self.children.get(&program).into_iter().flatten().filter_map(|id| self.by_id.get(id));
        children.filter(|agent| agent.is_live() && agent.profile.within.is_some())
    }

    /// Whether `above` is the parent of `below`, or an ancestor further up.
    pub fn is_ancestor(&self, above: AgentId, below: AgentId) -> bool {
        self.started_by(below).any(|agent| agent.id == above)
    }

    /// The chain of parents, the nearest first; a cycle ends the walk.
    pub fn started_by(&self, agent: AgentId) -> impl Iterator<Item = &Agent> {
        let mut seen = BTreeSet::from([agent]);
        let parent = move |at: AgentId| self.by_id.get(&self.by_id.get(&at)?.profile.parent?);
        std::iter::successors(parent(agent), move |above| parent(above.id))
            .take_while(move |above| seen.insert(above.id))
    }

    pub(crate) fn insert(&mut self, agent: Agent) {
        self.changes += 1;
        for token in &agent.tokens {
            self.tokens.insert(*token, agent.id);
        }
        if let Some(parent) = agent.profile.parent {
            self.children.entry(parent).or_default().insert(agent.id);
        }
        match &agent.life {
            Life::Ended { at, .. } => {
                self.ended.insert((*at, agent.id));
            }
            Life::Starting | Life::Running | Life::Idle => {
                self.live_names.insert(agent.profile.name.clone(), agent.id);
                self.processes.extend(agent.profile.process.map(|process| (process, agent.id)));
            }
        }
        self.by_id.insert(agent.id, agent);
    }

    pub(crate) fn add_token(&mut self, id: AgentId, token: TokenHash) {
        if let Some(agent) = self.by_id.get_mut(&id) {
            agent.tokens.push(token);
            self.tokens.insert(token, id);
        }
    }

    pub(crate) fn rename(&mut self, id: AgentId, name: &str) {
        if let Some(agent) = self.by_id.get_mut(&id).filter(|agent| agent.is_live()) {
            self.live_names.remove(&agent.profile.name);
            agent.profile.name = name.into();
            self.live_names.insert(name.into(), id);
        }
    }

    pub(crate) fn notify(&mut self, id: AgentId, notice: Notice) {
        if let Some(agent) = self.by_id.get_mut(&id).filter(|agent| agent.is_live()) {
            agent.notices.push(notice);
            if agent.notices.len() > NOTICES_MAX {
                agent.notices.remove(0);
            }
        }
    }

    /// The live agent with this process.
    pub fn by_process(&self, process: Process) -> Option<AgentId> {
        let of_it = (process, AgentId::from_bits(0))..;
        self.processes.range(of_it).next().filter(|(found, _)| *found == process).map(|(_, agent)| *agent)
    }

    pub(crate) fn know_process(&mut self, id: AgentId, process: Process) {
        self.changes += 1;
        let Some(agent) = self.by_id.get_mut(&id).filter(|agent| agent.is_live()) else { return };
        if let Some(before) = agent.profile.process.replace(process) {
            self.processes.remove(&(before, id));
        }
        self.processes.insert((process, id));
    }

    pub(crate) fn end(&mut self, id: AgentId, ending: Ending, cause: &str, at: Timestamp) {
        let Some(agent) = self.by_id.get_mut(&id).filter(|agent| agent.is_live()) else { return };
        if let Some(process) = agent.profile.process {
            self.processes.remove(&(process, id));
        }
        agent.life = Life::Ended { ending, cause: cause.into(), at };
        self.changes += 1;
        agent.notices.clear();
        self.live_names.remove(&agent.profile.name);
        self.ended.insert((at, id));
        while self.ended.len() > ENDED_AGENTS_MAX
            && let Some((_, oldest)) = self.ended.pop_first()
        {
            self.forget(oldest);
        }
    }

    fn forget(&mut self, id: AgentId) {
        let Some(agent) = self.by_id.remove(&id) else { return };
        for token in &agent.tokens {
            self.tokens.remove(token);
        }
        if let Some(siblings) = agent.profile.parent.and_then(|parent| self.children.get_mut(&parent)) {
            siblings.remove(&id);
        }
        self.children.remove(&id);
    }
}

fn must_live(agent: &Agent) -> Result<&Agent, Refusal> {
    match &agent.life {
        Life::Starting | Life::Running | Life::Idle => Ok(agent),
        Life::Ended { cause, .. } => {
            let (name, cause) = (agent.profile.name.to_string(), cause.to_string());
            Err(Refusal::Agent(AgentRefusal::Ended { name, cause }))
        }
    }
}
