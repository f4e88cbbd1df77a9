//! Operations on the programs that Comity runs.

mod activity;
mod attach;
mod dismiss;
mod goal;
mod interrupt;
mod list;
mod logs;
mod restart;
mod resume;
mod spawn;
mod stop;
mod type_into;

use std::fmt;

use comity_core::calls;
use comity_core::runs::{AgentRun, RunEvent, RunId, RunState, may_steer};
use comity_core::{Event, Millis, Principal, Refusal, World};
use schemars::JsonSchema;
use serde::Serialize;

pub use activity::RunActivity;
pub use attach::AttachRun;
pub use dismiss::DismissRun;
pub use goal::RunGoal;
pub use interrupt::InterruptRun;
pub use list::ListRuns;
pub use logs::{RunLogs, plain};
pub use restart::RestartRun;
pub use resume::ResumeRuns;
pub use spawn::Spawn;
pub use stop::StopRun;
pub use type_into::TypeIntoRun;

use crate::application::Application;
use crate::catalog::{CatalogEntry, GET, POST};
use crate::operation::{AtTerminal, Caller, Failure};

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<RunGoal>(     "run_goal",      "run <goal>",            POST, "/api/runs/goal")     .changes().examples(&["run \"Make the login faster\" --workers 3 --worktree"]),
    CatalogEntry::of::<Spawn>(       "spawn",         "spawn <role>",          POST, "/api/runs")          .changes().examples(&["spawn developer --agent claude --task parser", "spawn qa --agent 'make watch-tests' --backend tmux"]),
    CatalogEntry::of::<ListRuns>(    calls::RUN_LIST,    "runs",                  GET,  "/api/runs").long().also(&["run list"]).watched(),
    CatalogEntry::of::<RunLogs>(     "run_logs",      "logs <agent>",          GET,  "/api/runs/logs")     .long().waits(),
    CatalogEntry::of::<AttachRun>(   "run_attach",    "attach <agent>",        POST, "/api/runs/attach")   .changes().at_terminal(AtTerminal::Attaches),
    CatalogEntry::of::<TypeIntoRun>( "run_type",      "",                      POST, "/api/runs/type")     .acts().writes_files().internal(),
    CatalogEntry::of::<InterruptRun>("run_interrupt", "interrupt <agent>",     POST, "/api/runs/interrupt").changes(),
    CatalogEntry::of::<StopRun>(     "run_stop",      "stop <agent>",          POST, "/api/runs/stop")     .removes(),
    CatalogEntry::of::<RestartRun>(  calls::RUN_RESTART, "agent restart <agent>", POST, "/api/runs/restart")  .changes().writes_files().answers("", "restart"),
    CatalogEntry::of::<DismissRun>(  "run_dismiss",   "agent dismiss <agent>", POST, "/api/runs/dismiss")  .changes().answers("", "dismiss"),
    CatalogEntry::of::<ResumeRuns>(  "run_resume",    "resume <agents>",       POST, "/api/runs/resume")   .changes().writes_files(),
];

/// A program as everybody sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunView {
    /// Its number, such as run3.
    pub run: String,
    /// What its agents are called.
    pub name: String,
    pub state: String,
    /// Whether nothing is started for it any more.
    pub over: bool,
    /// The agent that it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    pub program: String,
    /// How it runs: process, tmux or acp.
    pub backend: &'static str,
    /// What it does and has used, where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<RunActivity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub started_by: String,
    /// The repository that it is for, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How often it crashed since it was last started by somebody.
    pub crashes: u32,
    pub age_ms: u64,
}

impl RunView {
    fn of(run: &AgentRun, world: &World, age: Millis) -> RunView {
        let spec = &run.spec;
        let pid = match run.state {
            RunState::Running { process, .. } => Some(process.pid),
            RunState::Due(_)
            | RunState::Starting(_)
            | RunState::Ending { .. }
            | RunState::Interrupted
            | RunState::Over { .. } => None,
        };
        RunView {
            run: run.id.to_string(),
            name: spec.name.to_string(),
            state: run.state.to_string(),
            over: run.is_over(),
            agent: run.agent().map(|agent| agent.to_string()),
            pid,
            program: spec.program.name().to_owned(),
            backend: spec.backend.word(),
            activity: None,
            role: spec.role.as_deref().map(str::to_owned),
            task: spec.task.as_ref().map(|on| on.task.to_string()),
            started_by: match run.by {
                Principal::Human => "you".to_owned(),
                by => world.name_of(by),
            },
            project: None,
            crashes: run.crashes,
            age_ms: age.0,
        }
    }
}

/// What becomes of programs that somebody steered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunChange {
    /// Those that something changes for.
    pub runs: Vec<SteeredRun>,
    #[serde(skip)]
    otherwise: &'static str,
}

/// A program, and what it does from now on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SteeredRun {
    /// Its number, such as run3.
    pub run: String,
    /// What its agents are called.
    pub name: String,
    /// What follows from what was asked, whatever happens later.
    pub state: String,
}

impl SteeredRun {
    fn of(run: RunId, world: &World, state: impl fmt::Display) -> Option<SteeredRun> {
        let spec = &world.runs.get(run)?.spec;
        Some(SteeredRun { run: run.to_string(), name: spec.name.to_string(), state: state.to_string() })
    }
}

impl RunChange {
    fn of(events: &[Event], world: &World, otherwise: &'static str) -> RunChange {
        let steered = |event: &Event| match event {
            Event::Run(RunEvent::Wanted { run, .. } | RunEvent::Resumed { run }) => {
                SteeredRun::of(*run, world, DUE)
            }
            Event::Run(RunEvent::EndWanted { run, again, .. }) => {
                SteeredRun::of(*run, world, if *again { "restarting" } else { "stopping" })
            }
            Event::Run(RunEvent::Over { run, how }) => SteeredRun::of(*run, world, how),
            Event::Run(RunEvent::Noted { run }) => SteeredRun::of(*run, world, "out of your inbox"),
            _ => None,
        };
        RunChange { runs: events.iter().filter_map(steered).collect(), otherwise }
    }

    fn due(runs: &[RunId], world: &World, otherwise: &'static str) -> RunChange {
        let due = runs.iter().filter_map(|run| SteeredRun::of(*run, world, DUE));
        RunChange { runs: due.collect(), otherwise }
    }
}

/// What a program is until it can be started.
const DUE: &str = "waiting to start";

impl fmt::Display for RunChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runs.is_empty() {
            return f.write_str(self.otherwise);
        }
        let lines: Vec<String> =
            self.runs.iter().map(|run| format!("{} ({}) is {}", run.name, run.run, run.state)).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The run that is meant and its agent's name towards the runner, for whoever may steer it.
fn reachable(app: &Application, caller: &Caller, name: &str) -> Result<(AgentRun, String), Failure> {
    let world = app.engine().world();
    let run = world.runs.find(name)?;
    may_steer(&world, caller.who, run)?;
    let agent = run.agent().or(run.last).ok_or_else(|| {
        Refusal::bad_input(format!("{} has not started yet", run.spec.name), "ask again in a moment")
    })?;
    Ok((run.clone(), crate::runs::key(agent)))
}
