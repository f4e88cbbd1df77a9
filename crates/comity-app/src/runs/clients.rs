//! The clients that Comity starts by name, with its hooks and tools by flags, variables and files of its own.
//!
//! Nothing of the user's is changed. Our own tools need no permission of the client's: Comity decides who may do what.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use comity_core::roles::Mode;
use comity_guard::connect::{ProgramPaths, SettingsKind, codex_overrides, connect, plain_json};
use comity_guard::dialect::Dialect;
use serde_json::{Value, json};

use super::prompt::FirstPrompt;

/// What a client is started with.
pub(super) struct ClientStart {
    /// Of this agent alone; it goes when the agent ends.
    pub(super) directory: PathBuf,
    pub(super) paths: ProgramPaths,
    pub(super) prompt: FirstPrompt,
    pub(super) model: Option<String>,
    pub(super) mode: Mode,
    /// The session that it goes on with.
    pub(super) session: Option<String>,
}

/// The command that starts a client, and the variables that it needs besides the server's.
pub(super) struct ClientCommand {
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
}

type StartClient = fn(&ClientStart) -> Result<ClientCommand, String>;

const CLIENTS: [(&str, StartClient); 5] =
    [("claude", claude), ("codex", codex), ("copilot", copilot), ("gemini", gemini), ("opencode", opencode)];

pub(super) fn find(client: &str) -> Option<StartClient> {
    CLIENTS.iter().find(|(name, _)| *name == client).map(|(_, start)| *start)
}

impl ClientStart {
    /// A text with our things in it, in the form of this client's settings.
    fn connected(
        &self,
        dialect: Dialect,
        kind: SettingsKind,
        existing: Option<&str>,
    ) -> Result<String, String> {
        connect(dialect, kind, existing, &self.paths).map_err(|problem| problem.to_string())
    }

    /// A file of this agent's own.
    fn file(&self, name: &str, text: &str) -> Result<String, String> {
        let file = self.directory.join(name);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file.display().to_string())
    }

    fn with_model(&self, command: &mut Vec<String>) {
        command.extend(self.model.iter().flat_map(|model| ["--model".to_owned(), model.clone()]));
    }

    /// The variable that lets bash begin where what others hold is read-only.
    fn bash_env(&self) -> (String, String) {
        ("BASH_ENV".into(), self.paths.bash_env.clone())
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn claude(start: &ClientStart) -> Result<ClientCommand, String> {
    let hooks = start.connected(Dialect::ClaudeCode, SettingsKind::Hooks, None)?;
    let servers = start.connected(Dialect::ClaudeCode, SettingsKind::Mcp, None)?;
    let (hooks, servers) = (start.file("settings.json", &hooks)?, start.file("mcp.json", &servers)?);
    let mut command = words(&["claude", "--settings", &hooks, "--mcp-config", &servers]);
    command.extend(words(&["--allowedTools", "mcp__comity"]));
    start.with_model(&mut command);
    let mode = match start.mode {
        // The guard keeps it from writing until its plan is approved; out of a mode of its own only its user would let it.
        Mode::Plan | Mode::Ask => None,
        Mode::AcceptEdits => Some("acceptEdits"),
        Mode::Full => Some("bypassPermissions"),
    };
    command.extend(mode.into_iter().flat_map(|mode| words(&["--permission-mode", mode])));
    command.extend(start.prompt.role.iter().flat_map(|role| words(&["--append-system-prompt", role])));
    let session = start.session.as_deref();
    command.extend(session.into_iter().flat_map(|session| words(&["--resume", session])));
    // Before a prompt: an option that takes several values would take it for one.
    let prompt = start.prompt.first(session);
    command.extend(prompt.into_iter().flat_map(|prompt| words(&["--", &prompt])));
    Ok(ClientCommand { command, environment: Vec::new() })
}

/// Codex takes every setting as a flag, in TOML. Hooks that its user has not seen run only if all may.
fn codex(start: &ClientStart) -> Result<ClientCommand, String> {
    let session = start.session.as_deref();
    let mut command = words(&["codex"]);
    command.extend(session.into_iter().flat_map(|session| words(&["resume", session])));
    command.push("--dangerously-bypass-hook-trust".into());
    let overrides = codex_overrides(&start.paths).map_err(|problem| problem.to_string())?;
    command.extend(overrides.into_iter().flat_map(|setting| ["-c".to_owned(), setting]));
    start.with_model(&mut command);
    let (sandbox, asks) = match start.mode {
        Mode::Plan | Mode::Ask => ("", ""),
        Mode::AcceptEdits => ("workspace-write", "on-request"),
        Mode::Full => ("danger-full-access", "never"),
    };
    if !sandbox.is_empty() {
        command.extend(words(&["--sandbox", sandbox, "--ask-for-approval", asks]));
    }
    command.extend(start.prompt.first_with_role(session));
    Ok(ClientCommand { command, environment: Vec::new() })
}

/// Copilot CLI finds its hooks in its home, so it gets one in which all else is a link to the user's.
fn copilot(start: &ClientStart) -> Result<ClientCommand, String> {
    let home = start.directory.join("copilot");
    let users = variable("COPILOT_HOME").map(PathBuf::from).or_else(|| Some(user_home()?.join(".copilot")));
    let own = ["hooks", "mcp-config.json"];
    linked(users.as_deref(), &home, &own)?;
    let users_file = |name: &str| users.as_ref().and_then(|users| fs::read_to_string(users.join(name)).ok());
    linked(
        users.as_deref().map(|users| users.join("hooks")).as_deref(),
        &home.join("hooks"),
        &["comity.json"],
    )?;
    let hooks = start.connected(Dialect::CopilotCli, SettingsKind::Hooks, None)?;
    start.file("copilot/hooks/comity.json", &hooks)?;
    let servers = users_file("mcp-config.json");
    let servers = start.connected(Dialect::CopilotCli, SettingsKind::Mcp, servers.as_deref())?;
    start.file("copilot/mcp-config.json", &servers)?;
    let mut command = words(&["copilot", "--allow-tool", "comity"]);
    start.with_model(&mut command);
    command.extend(match start.mode {
        Mode::Plan | Mode::Ask => Vec::new(),
        Mode::AcceptEdits => words(&["--allow-tool", "write"]),
        Mode::Full => words(&["--allow-all-tools"]),
    });
    let session = start.session.as_deref();
    command.extend(session.map(|session| format!("--resume={session}")));
    let prompt = start.prompt.first_with_role(session);
    command.extend(prompt.into_iter().flat_map(|prompt| words(&["--interactive", &prompt])));
    let home = home.display().to_string();
    Ok(ClientCommand { command, environment: vec![("COPILOT_HOME".into(), home), start.bash_env()] })
}

/// Gemini CLI has one file with settings, so it gets a home in which all else is a link to the user's.
fn gemini(start: &ClientStart) -> Result<ClientCommand, String> {
    let home = start.directory.join("gemini");
    let users = variable(GEMINI_HOME).map(PathBuf::from).or_else(user_home).map(|home| home.join(".gemini"));
    linked(users.as_deref(), &home.join(".gemini"), &["settings.json"])?;
    let existing = users.and_then(|users| fs::read_to_string(users.join("settings.json")).ok());
    let settings = start.connected(Dialect::GeminiCli, SettingsKind::HooksAndMcp, existing.as_deref())?;
    let mut settings: Value = serde_json::from_str(&plain_json(Dialect::GeminiCli, &settings))
        .map_err(|error| format!("Gemini's settings: {error}"))?;
    settings["mcpServers"]["comity"]["trust"] = true.into();
    start.file("gemini/.gemini/settings.json", &settings.to_string())?;
    let mut command = words(&["gemini"]);
    start.with_model(&mut command);
    let mode = match start.mode {
        Mode::Plan | Mode::Ask => None,
        Mode::AcceptEdits => Some("auto_edit"),
        Mode::Full => Some("yolo"),
    };
    command.extend(mode.into_iter().flat_map(|mode| words(&["--approval-mode", mode])));
    let session = start.session.as_deref();
    command.extend(session.into_iter().flat_map(|session| words(&["--resume", session])));
    let prompt = start.prompt.first_with_role(session);
    command.extend(prompt.into_iter().flat_map(|prompt| words(&["--prompt-interactive", &prompt])));
    let home = home.display().to_string();
    Ok(ClientCommand { command, environment: vec![(GEMINI_HOME.into(), home), start.bash_env()] })
}

const GEMINI_HOME: &str = "GEMINI_CLI_HOME";

/// OpenCode reads more settings from a variable; our plugin is named in them.
fn opencode(start: &ClientStart) -> Result<ClientCommand, String> {
    let users = variable(OPENCODE_CONFIG);
    let settings = start.connected(Dialect::OpenCode, SettingsKind::Mcp, users.as_deref())?;
    let mut settings: Value = serde_json::from_str(&plain_json(Dialect::OpenCode, &settings))
        .map_err(|error| format!("{OPENCODE_CONFIG}: {error}"))?;
    let plugin = start.connected(Dialect::OpenCode, SettingsKind::Plugin, None)?;
    let plugin = format!("file://{}", start.file("comity.js", &plugin)?);
    match settings["plugin"].as_array_mut() {
        Some(plugins) => plugins.push(plugin.into()),
        None => settings["plugin"] = json!([plugin]),
    }
    match start.mode {
        Mode::Plan | Mode::Ask => {}
        Mode::AcceptEdits => settings["permission"]["edit"] = "allow".into(),
        Mode::Full => settings["permission"] = "allow".into(),
    }
    let mut command = words(&["opencode"]);
    start.with_model(&mut command);
    let session = start.session.as_deref();
    command.extend(session.into_iter().flat_map(|session| words(&["--session", session])));
    let prompt = start.prompt.first_with_role(session);
    command.extend(prompt.into_iter().flat_map(|prompt| words(&["--prompt", &prompt])));
    Ok(ClientCommand { command, environment: vec![(OPENCODE_CONFIG.into(), settings.to_string())] })
}

const OPENCODE_CONFIG: &str = "OPENCODE_CONFIG_CONTENT";

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn user_home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from)
}

/// A directory with links to all that is in another, but for these.
fn linked(from: Option<&Path>, to: &Path, but: &[&str]) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", to.display());
    fs::create_dir_all(to).map_err(failed)?;
    let entries = from.and_then(|from| fs::read_dir(from).ok()).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| !but.iter().any(|name| entry.file_name() == *name)) {
        symlink(entry.path(), to.join(entry.file_name())).map_err(failed)?;
    }
    Ok(())
}
