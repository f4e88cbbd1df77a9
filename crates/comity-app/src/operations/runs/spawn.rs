//! Starts a program as an agent.

use std::fmt;

use comity_core::next_call::Argument;
use comity_core::roles::DEFAULT_ROLE;
use comity_core::runs::{RunAsk, RunBackend, RunProgram, RunSpec};
use comity_core::tasks::TaskRef;
use comity_core::{Ask, Event, Refusal, World};
use comity_runner::Surroundings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RunChange, SteeredRun, StopRun};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::operations::runs::{ResumeRuns, RunLogs};
use crate::runs::{RunPlace, place_for};

/// Start a program as an agent. It gets a name, a role and an identity of its own, comes back if it crashes, and ends with
/// whoever started it, or with Comity's server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// What it is for: developer, reviewer, …
    pub role: Option<String>,
    /// What to start: claude, codex, copilot, gemini, opencode, or a command of yours
    pub agent: String,
    /// What to call it; its role otherwise
    pub name: Option<String>,
    /// The task that it gets
    pub task: Option<String>,
    /// What it is asked to do; a command finds it in COMITY_PROMPT
    pub prompt: Option<String>,
    /// The team it works in
    pub team: Option<String>,
    /// The model it runs on
    pub model: Option<String>,
    /// How it runs: process (unseen until you look), tmux, iterm2, auto (in a pane where there can be one), or acp (a client that
    /// speaks the Agent Client Protocol)
    pub backend: Option<String>,
    /// The terminal that it is wanted from, as `comity` tells by itself
    #[serde(default)]
    #[schemars(skip)]
    pub terminal: Surroundings,
    /// It has a worktree and a branch of its own
    #[serde(default)]
    pub worktree: bool,
    /// It reads only until its plan is approved
    #[serde(default)]
    pub plan: bool,
    /// It has no tools: obey the commands that it writes, such as ⟦⟦ LOCK_FILE {"filePath": "src/a.rs"} ⟧⟧
    #[serde(default)]
    pub text_commands: bool,
    /// It goes on when the server stops, for the next one to take over
    #[serde(default)]
    pub survive: bool,
}

/// What is being started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Spawned {
    #[serde(flatten)]
    pub run: SteeredRun,
    /// What is started.
    pub program: String,
}

impl Operation for Spawn {
    type Output = Spawned;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Spawned>, Failure> {
        let cwd = cwd(caller)?;
        let place = app.projects().place(caller).ok();
        let project = place.as_ref().map(|place| place.project());
        let task = self.task.map(|task| match project {
            Some(project) => Ok(TaskRef { project, task: task.into() }),
            None => {
                Err(Refusal::bad_input("there are no tasks outside a repository", "call from inside one"))
            }
        });
        let boxed = |text: Option<String>| text.map(Into::into);
        let role = self.role;
        let name = match self.name {
            Some(name) => name,
            None => free_name(&app.engine().world(), role.as_deref().unwrap_or(DEFAULT_ROLE), &[]),
        };
        let RunPlace { backend, beside } =
            place_for(&app.engine().world(), caller, self.backend.as_deref(), &self.terminal)?;
        if self.survive && backend == RunBackend::Acp {
            let problem = "what is under way over ACP can't be taken over by another server";
            let hint = format!("leave out survive; resume its session with: {}", next_call::<ResumeRuns>([]));
            return Err(Refusal::bad_input(problem, hint).into());
        }
        let spec = RunSpec {
            name: name.into(),
            program: program(&self.agent, backend)?,
            role: boxed(role),
            team: boxed(self.team),
            model: boxed(self.model),
            cwd,
            project,
            task: task.transpose()?,
            prompt: boxed(self.prompt),
            backend,
            beside,
            plan: self.plan,
            survives: self.survive,
            text_commands: self.text_commands,
            worktree: self.worktree,
            leader: None,
            staffed: false,
        };
        let program = spec.program.name().to_owned();
        let asks = vec![Ask::Run(RunAsk::Want { spec: Box::new(spec) })];
        Ok(Plan::grant(asks, |events: &[Event], world, _| {
            let run = RunChange::of(events, world, "").runs.into_iter().next();
            let run = run.ok_or_else(|| Refusal::bad_input("it is over already", "start it again"))?;
            Ok(Spawned { run, program })
        }))
    }
}

/// Where it works.
pub(super) fn cwd(caller: &Caller) -> Result<Box<str>, Refusal> {
    let cwd = caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into());
    cwd.ok_or_else(|| {
        Refusal::bad_input("it is not known where to start it", "call from the directory it is to work in")
    })
}

pub(super) fn program(agent: &str, backend: RunBackend) -> Result<RunProgram, Refusal> {
    match agent.trim().is_empty() {
        true => Err(Refusal::bad_input("there is no program to start", "name one, such as claude")),
        false => Ok(crate::runs::program(agent, backend)),
    }
}

/// The role, with a number if somebody is called that.
pub(super) fn free_name(world: &World, role: &str, taken: &[String]) -> String {
    let is_free = |name: &str| {
        world.agents.find(name).is_err()
            && !world.runs.active().any(|run| &*run.spec.name == name)
            && !taken.iter().any(|other| other == name)
    };
    let numbered = (2_u32..).map(|number| format!("{role}-{number}"));
    std::iter::once(role.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
}

impl fmt::Display for Spawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spawned { run: SteeredRun { name, run, .. }, program } = self;
        let agent = || [("agent", Argument::from(name.as_str()))];
        let (logs, stop) = (next_call::<RunLogs>(agent()), next_call::<StopRun>(agent()));
        write!(f, "{name} is being started ({run}: {program})\n  see it: {logs}; end it: {stop}")
    }
}
