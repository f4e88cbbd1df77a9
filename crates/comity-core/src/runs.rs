//! Runs: agent programs that Comity starts, restarts when they crash, and ends.
//!
//! A run outlives its agents: each start of its program is an agent of its own, with the same name, role and task.
//! The world says what should run; the server makes it so, and tells what became of it.

mod feature;
mod noted;
mod rules;
mod staffing;
mod team;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::agents::Process;
use crate::calls;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::RUNS_OVER_MAX;
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::tasks::TaskRef;
use crate::time::Timestamp;

pub use feature::{RunAsk, RunEvent};
pub use rules::may_steer;
pub(crate) use rules::{FOLLOW_UP, check};
use staffing::StaffingHistory;
pub use staffing::{Staffing, next_staffing};
pub(crate) use team::answers_for;

/// Printed as `run3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunBackend {
    /// In a terminal of its own, which people can attach to.
    Process,
    Tmux,
    /// In a session of iTerm2, beside the one that it was wanted from.
    Iterm2,
    /// Without a terminal: it speaks the Agent Client Protocol.
    Acp,
}

/// Beside what a run's pane is made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RunBeside {
    /// A pane of the tmux server at this socket.
    Tmux { server: Box<str>, pane: Box<str> },
    /// A session of iTerm2.
    Iterm2 { session: Box<str> },
}

/// What is to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The name of its agents.
    pub name: Box<str>,
    /// A client that Comity knows how to start, or the user's own command.
    pub program: RunProgram,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub role: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub team: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<Box<str>>,
    pub cwd: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<ProjectId>,
    /// The task of its first agent, and of the next one if that is lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskRef>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt: Option<Box<str>>,
    pub backend: RunBackend,
    /// Where it was wanted from, if its pane is made there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub beside: Option<RunBeside>,
    /// Reads only, until its plan is approved.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub plan: bool,
    /// Keeps running when the server stops, and is taken over by the next one.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub survives: bool,
    /// Commands in its output are obeyed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub text_commands: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub worktree: bool,
    /// The run whose agent leads it: it starts once that one runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leader: Option<RunId>,
    /// Started for a ready task, not by anybody.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub staffed: bool,
}

/// What is started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunProgram {
    /// By the name that Comity knows it by, such as `claude`.
    Client(Box<str>),
    Command(Vec<Box<str>>),
}

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunExit {
    Code(i32),
    Signal(i32),
    /// Its guardian was killed, too.
    Unseen,
    NotStarted(Box<str>),
}

/// Why a run is over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Its program ended without a fault.
    Completed,
    Stopped,
    NotStarted(Box<str>),
    /// Its program crashed too often.
    GaveUp(RunExit),
    /// Its program crashed when its task was over, or somebody else's.
    Crashed(RunExit),
    StarterEnded,
}

/// What somebody did to a running program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// Its current work was interrupted; the program goes on.
    Interrupted,
    /// Somebody attached to its terminal.
    Attached,
}

/// Where a run is in its life cycle.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its program starts then, or as soon as the limit on agents allows.
    Due(Timestamp),
    Starting(AgentId),
    Running {
        agent: AgentId,
        process: Process,
    },
    /// Its program is being ended.
    Ending {
        agent: AgentId,
        /// Whether it is killed without being asked first.
        force: bool,
        /// Whether it is started again afterwards.
        again: bool,
    },
    /// The server ended while it ran.
    Interrupted,
    Over {
        how: RunEnd,
        at: Timestamp,
    },
}

/// A program that Comity runs, with its restarts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRun {
    pub id: RunId,
    pub spec: RunSpec,
    /// Who wanted it.
    pub by: Principal,
    pub since: Timestamp,
    pub state: RunState,
    /// How often its program crashed since somebody last started it.
    pub crashes: u32,
    /// The agent of its last start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last: Option<AgentId>,
    /// Its client's name for the conversation, to continue it after a restart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<Box<str>>,
    /// Whether somebody has acknowledged its end.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub noted: bool,
}

/// All runs that are not over, and the newest of the others.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRuns {
    by_id: BTreeMap<RunId, AgentRun>,
    pub(crate) last: RunId,
    /// Grows with every change, so that one is noticed without looking at all.
    changes: u64,
    #[serde(skip_serializing_if = "StaffingHistory::is_empty", default)]
    staffing: StaffingHistory,
}

impl AgentRun {
    /// Whether it is never started again.
    pub fn is_over(&self) -> bool {
        matches!(self.state, RunState::Over { .. })
    }

    /// The agent that runs in it now.
    pub fn agent(&self) -> Option<AgentId> {
        match self.state {
            RunState::Starting(agent) | RunState::Running { agent, .. } | RunState::Ending { agent, .. } => {
                Some(agent)
            }
            RunState::Due(_) | RunState::Interrupted | RunState::Over { .. } => None,
        }
    }
}

impl AgentRuns {
    /// `None` also if it was over long ago.
    pub fn get(&self, run: RunId) -> Option<&AgentRun> {
        self.by_id.get(&run)
    }

    /// By number.
    pub fn iter(&self) -> impl Iterator<Item = &AgentRun> {
        self.by_id.values()
    }

    pub fn active(&self) -> impl Iterator<Item = &AgentRun> {
        self.iter().filter(|run| !run.is_over())
    }

    /// How many runs will get an agent that is not registered yet.
    pub(crate) fn awaited(&self) -> usize {
        self.iter().filter(|run| matches!(run.state, RunState::Due(_))).count()
    }

    /// Runs that crashed too often, and that nobody has acknowledged.
    pub fn given_up(&self) -> impl Iterator<Item = &AgentRun> {
        let is_given_up = |run: &&AgentRun| {
            matches!(run.state, RunState::Over { how: RunEnd::GaveUp(_) | RunEnd::NotStarted(_), .. })
                && !run.noted
        };
        self.iter().filter(is_given_up)
    }

    /// The run that this agent is in.
    pub fn of(&self, agent: AgentId) -> Option<&AgentRun> {
        self.iter().find(|run| run.agent() == Some(agent))
    }

    /// The run with this name or number: an active one, otherwise the newest.
    pub fn find(&self, name: &str) -> Result<&AgentRun, Refusal> {
        let by_id = name.parse().ok().and_then(|id: RunId| self.by_id.get(&id));
        let named = || self.iter().filter(|run| &*run.spec.name == name);
        let found = by_id.or_else(|| named().max_by_key(|run| (!run.is_over(), run.id)));
        found.ok_or_else(|| Refusal::NotFound {
            problem: format!("Comity has not started {name:?}"),
            hint: format!("see what it has started with: {}", call(calls::RUN_LIST, [])),
        })
    }

    /// Grows with every change.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) fn insert(&mut self, run: AgentRun) {
        self.changes += 1;
        self.last = self.last.max(run.id);
        self.by_id.insert(run.id, run);
        let over: Vec<RunId> = self.iter().filter(|run| run.is_over()).map(|run| run.id).collect();
        for oldest in over.iter().take(over.len().saturating_sub(RUNS_OVER_MAX)) {
            self.by_id.remove(oldest);
        }
    }

    pub(crate) fn change(&mut self, run: RunId, change: impl FnOnce(&mut AgentRun)) {
        self.changes += 1;
        if let Some(run) = self.by_id.get_mut(&run) {
            change(run);
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run{}", self.0)
    }
}

impl FromStr for RunId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix("run").and_then(|number| number.parse().ok()).map(Self).ok_or(())
    }
}

impl RunSpec {
    /// How it runs if there is no pane for it.
    pub fn fallback(&self) -> Option<RunBackend> {
        match (self.backend, &self.beside) {
            // A session of our own, instead of the user's window.
            (RunBackend::Tmux, Some(_)) => Some(RunBackend::Tmux),
            (RunBackend::Tmux, None) | (RunBackend::Iterm2, _) => Some(RunBackend::Process),
            (RunBackend::Process | RunBackend::Acp, _) => None,
        }
    }
}

impl RunProgram {
    /// The first word of the command.
    pub fn name(&self) -> &str {
        match self {
            Self::Client(name) => name,
            Self::Command(words) => words.first().map_or("", |word| word),
        }
    }
}

impl RunBackend {
    /// Whether it is shown in a pane of another program's.
    pub fn is_pane(self) -> bool {
        matches!(self, Self::Tmux | Self::Iterm2)
    }

    /// As people write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Tmux => "tmux",
            Self::Iterm2 => "iterm2",
            Self::Acp => "acp",
        }
    }
}

impl fmt::Display for RunExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::Unseen => f.write_str("killed"),
            Self::NotStarted(why) => write!(f, "not started: {why}"),
        }
    }
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("completed"),
            Self::Stopped => f.write_str("stopped"),
            Self::NotStarted(why) => write!(f, "not started: {why}"),
            Self::GaveUp(exit) => write!(f, "crashed too often ({exit})"),
            Self::Crashed(exit) => write!(f, "crashed ({exit})"),
            Self::StarterEnded => f.write_str("ended with the agent that started it"),
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Due(_) => f.write_str("waiting to start"),
            Self::Starting(_) => f.write_str("starting"),
            Self::Running { .. } => f.write_str("running"),
            Self::Ending { again: true, .. } => f.write_str("restarting"),
            Self::Ending { again: false, .. } => f.write_str("stopping"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Over { how, .. } => how.fmt(f),
        }
    }
}
