//! What is run for an agent: the program, its arguments, and an environment that says who it is.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use comity_core::permissions::mode_of;
use comity_core::runs::{AgentRun, RunBackend, RunProgram};
use comity_core::{AgentId, World};
use comity_guard::connect::{BASH_ENV_FILE, ProgramPaths};
use comity_runner::{Program, Size};

use super::acp_start;
use super::clients::{self, ClientStart};
use super::prompt::FirstPrompt;
use crate::application::Application;
use crate::tokens::Token;

/// The terminal of a program that nobody looks at yet.
const TERMINAL: Size = Size { columns: 120, rows: 40 };
/// Variables that say who one is, or what is around: an agent gets its own.
const NOT_INHERITED: [&str; 6] = ["COMITY_TOKEN", "TERM", "TMUX", "TMUX_PANE", "COLUMNS", "LINES"];
/// How such a variable begins that a client sets for what it starts.
const MARKS: [&str; 2] = ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID"];

/// What runs for the agent.
pub(super) fn program(
    app: &Application,
    run: &AgentRun,
    agent: AgentId,
    token: &Token,
    directory: PathBuf,
) -> Result<Program, String> {
    let spec = &run.spec;
    let prompt = {
        let world = app.engine().world();
        FirstPrompt::of(&world, spec, mode_of(&world, agent))
    };
    let mut environment = inherited();
    environment.push(("COMITY_TOKEN".into(), token.reveal().into()));
    environment.push(("COMITY_HOME".into(), app.home().display().to_string()));
    environment.extend(prompt.whole().map(|prompt| ("COMITY_PROMPT".into(), prompt)));
    let command = match &spec.program {
        RunProgram::Command(words) => words.iter().map(ToString::to_string).collect(),
        RunProgram::Client(name) if spec.backend == RunBackend::Acp => acp_start::command(name)?,
        RunProgram::Client(name) => {
            let client =
                clients::find(name).ok_or_else(|| format!("Comity can't start {name} by its name"))?;
            let started = client(&start_of(app, run, agent, prompt)?)?;
            let names: Vec<&str> = started.environment.iter().map(|(name, _)| name.as_str()).collect();
            environment.retain(|(name, _)| !names.contains(&name.as_str()));
            environment.extend(started.environment);
            started.command
        }
    };
    Ok(Program { command, environment, directory, terminal: None, survives: spec.survives })
}

/// Gives a program the terminal that it is shown in; a pane has one.
pub(super) fn show_in(program: &mut Program, backend: RunBackend) {
    if backend == RunBackend::Process {
        program.environment.push(("TERM".into(), "xterm-256color".into()));
        program.terminal = Some(TERMINAL);
    }
}

/// Removes what was made for an agent.
pub(super) fn forget(app: &Application, agent: AgentId) {
    // If it can't be removed now, it is with the next server's start.
    let _ = fs::remove_dir_all(directory(app, agent));
}

fn directory(app: &Application, agent: AgentId) -> PathBuf {
    app.home().join("runs").join(super::key(agent))
}

/// What the server has, but for who it is; Comity's own programs are found there.
fn inherited() -> Vec<(String, String)> {
    let own = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let is_wanted = |name: &str| !NOT_INHERITED.contains(&name) && !MARKS.contains(&name);
    own.filter(|(name, _)| is_wanted(name))
        .filter_map(|(name, value)| {
            let value = if name == "PATH" { with_own_programs(value) } else { value };
            Some((name, value.into_string().ok()?))
        })
        .collect()
}

fn with_own_programs(path: OsString) -> OsString {
    let Some(own) = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()))
    else {
        return path;
    };
    let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if !directories.contains(&own) {
        directories.push(own);
    }
    std::env::join_paths(directories).unwrap_or(path)
}

/// The model that was asked for, or else its role's.
pub(super) fn model_of(world: &World, run: &AgentRun) -> Option<String> {
    let role = run.spec.role.as_deref().and_then(|role| world.roles.get(role));
    let model = run.spec.model.as_ref().or(role.and_then(|role| role.model.as_ref()));
    model.map(ToString::to_string)
}

/// What a client is started with: what has to be known of Comity is in a directory of the agent's own.
fn start_of(
    app: &Application,
    run: &AgentRun,
    agent: AgentId,
    prompt: FirstPrompt,
) -> Result<ClientStart, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = |name: &str| own.with_file_name(name).display().to_string();
    let directory = directory(app, agent);
    let bash_env = directory.join(BASH_ENV_FILE);
    let paths = ProgramPaths {
        hook: beside("comity-hook"),
        comity: own.display().to_string(),
        bash_env: bash_env.display().to_string(),
        home: Some(app.home().display().to_string()),
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&directory)
        .and_then(|()| fs::write(&bash_env, paths.bash_env_script()))
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let world = app.engine().world();
    let session = run.session.as_deref().map(str::to_owned);
    let (model, mode) = (model_of(&world, run), mode_of(&world, agent));
    Ok(ClientStart { directory, paths, prompt, model, mode, session })
}
