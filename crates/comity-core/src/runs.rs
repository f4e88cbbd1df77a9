//! Runs: agent programs that Comity starts, starts again when they crash, and ends.
//!
//! A run outlives the agents in it: each start of its program is an agent of its own, with the same name, role and task. The
//! world says what is wanted; the server makes it so, and tells what became of it.

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
pub use team::is_sandboxed;

/// A run's number, printed as `run3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunBackend {
    /// In a terminal that nobody sees, until somebody attaches.
    Process,
    /// In a pane of tmux.
    Tmux,
    /// Without a terminal: it speaks the Agent Client Protocol.
    Acp,
}

/// What is to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// What its agents are called.
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
    /// The task that its first agent gets, and the next one if that is lost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<TaskRef>,
    /// What it is asked to do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prompt: Option<Box<str>>,
    pub backend: RunBackend,
    /// Reads only, until its plan is approved.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub plan: bool,
    /// Goes on when the server stops, for the next one to take over.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub survives: bool,
    /// What it writes is obeyed where it is a command.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub text_commands: bool,
    /// Has a worktree of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub worktree: bool,
    /// Runs in a sandbox: it sees what it works on and nothing else of the machine.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub sandbox: bool,
    /// The run whose agent leads it: it starts when that one runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leader: Option<RunId>,
    /// Wanted by nobody, but for a task that was ready.
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
    /// Whoever watched it was killed with it.
    Unseen,
    NotStarted(Box<str>),
}

/// Why a run is over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Its program ended by itself, without a fault.
    Completed,
    Stopped,
    /// Its program could not be started.
    NotStarted(Box<str>),
    /// Its program crashed as often as it may.
    GaveUp(RunExit),
    /// Its program crashed when its task was somebody else's, or over.
    Crashed(RunExit),
    /// The agent that had started it ended.
    StarterEnded,
}

/// What somebody did to a program that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reached {
    /// What it was doing was ended, and not itself.
    Interrupted,
    /// Its terminal is somebody's.
    Attached,
}

/// Where a run is in its life.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its program is started then, or as soon as the limit on agents lets it.
    Due(Timestamp),
    Starting(AgentId),
    Running {
        agent: AgentId,
        process: Process,
    },
    /// Its program is being ended.
    Ending {
        agent: AgentId,
        /// Whether nobody is asked first.
        force: bool,
        /// Whether it is started anew then.
        again: bool,
    },
    /// The server ended under it.
    Interrupted,
    Over {
        how: RunEnd,
        at: Timestamp,
    },
}

/// One run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRun {
    pub id: RunId,
    pub spec: RunSpec,
    /// Who wanted it.
    pub by: Principal,
    pub since: Timestamp,
    pub state: RunState,
    /// How often its program crashed since somebody last had it started.
    pub crashes: u32,
    /// The agent of its last start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last: Option<AgentId>,
    /// What its client calls the conversation that it has: it goes on with that when it is started again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<Box<str>>,
    /// Whether somebody has taken note of its end.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub noted: bool,
}

/// All runs: those that are not over, and the newest of the others.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRuns {
    by_id: BTreeMap<RunId, AgentRun>,
    pub(crate) last: RunId,
    /// Grows with every change, so that nobody has to look at all of them to see one.
    changes: u64,
    #[serde(skip_serializing_if = "StaffingHistory::is_empty", default)]
    staffing: StaffingHistory,
}

impl AgentRun {
    /// Whether nothing is started for it any more.
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
    /// The run with this number, unless it was over long ago.
    pub fn get(&self, run: RunId) -> Option<&AgentRun> {
        self.by_id.get(&run)
    }

    /// All by number.
    pub fn iter(&self) -> impl Iterator<Item = &AgentRun> {
        self.by_id.values()
    }

    /// Those that are not over.
    pub fn active(&self) -> impl Iterator<Item = &AgentRun> {
        self.iter().filter(|run| !run.is_over())
    }

    /// Those for which an agent will come.
    pub(crate) fn awaited(&self) -> usize {
        self.iter().filter(|run| matches!(run.state, RunState::Due(_))).count()
    }

    /// Those that crashed as often as they may, of which nobody has taken note.
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

    /// The run with this name or number: one that is not over, or else the newest.
    pub fn find(&self, name: &str) -> Result<&AgentRun, Refusal> {
        let by_id = name.parse().ok().and_then(|id: RunId| self.by_id.get(&id));
        let named = || self.iter().filter(|run| &*run.spec.name == name);
        let found = by_id.or_else(|| named().max_by_key(|run| (!run.is_over(), run.id)));
        found.ok_or_else(|| Refusal::NotFound {
            problem: format!("Comity has not started {name:?}"),
            hint: format!("see what it has started with: {}", call(calls::RUN_LIST, [])),
        })
    }

    /// A number that is another one after every change.
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

impl RunProgram {
    /// The first word of it.
    pub fn name(&self) -> &str {
        match self {
            Self::Client(name) => name,
            Self::Command(words) => words.first().map_or("", |word| word),
        }
    }
}

impl RunBackend {
    /// As people write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Tmux => "tmux",
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
