//! Edits the settings of agent programs so that they ask our hook and know our tools, and undoes that.
//!
//! Text goes in and text comes out; callers read and write the files. What is not ours stays byte for byte, and a
//! text that cannot be edited like that is refused.

mod braces;
mod claude;
mod codex;
mod comments;
mod configured;
mod copilot;
mod cursor;
mod gaps;
mod gemini;
mod hooks;
mod json;
mod line;
mod opencode;
mod overrides;
mod piece;
mod places;
mod policy;
mod problem;
mod scan;
mod servers;
mod shell;
mod toml;

pub use comments::plain_json;
pub use configured::{ShellStart, hook_command, shell_start, zsh_dir};
pub use gaps::gaps;
pub use overrides::codex_overrides;
pub use places::{SettingsFile, SettingsKind, SettingsRoot, places, project_places};
pub use policy::{sandbox, shares_server};
pub use problem::EditProblem;
pub use shell::{BASH_ENV_FILE, is_shell_start_script};

use crate::dialect::Dialect;
use comments::JsonForm;
use hooks::Hook;
use json::Document;
use piece::Piece;

const SERVER: &str = "comity";
const HOME_VARIABLE: &str = "COMITY_HOME";
const SERVER_ARGUMENTS: [&str; 1] = ["mcp"];
/// How long a program waits for our hook.
const HOOK_SECONDS_MAX: u64 = 10;
/// How long a hook waits for mail for an idle agent.
const IDLE_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;
const TEXT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The programs to connect: by absolute path, or by name in settings that are checked in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramPaths {
    /// `comity-hook`.
    pub hook: String,
    pub comity: String,
    /// The file that `BASH_ENV` names. It is in the user's directories, because ours may be writable only for root.
    pub bash_env: String,
    /// The state directory, unless it is the default. Clients start their hooks and servers with different
    /// environments, or none.
    pub home: Option<String>,
}

/// Whether a file contains our settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connected {
    /// As they would be written now.
    Yes,
    /// Ours, but not as they would be written now: another path, or an older form.
    Otherwise,
    /// None, or nothing readable.
    No,
}

/// Adds our settings to the text of a program's file. An empty text is treated like no file.
pub fn connect(
    dialect: Dialect,
    kind: SettingsKind,
    existing: Option<&str>,
    connection: &ProgramPaths,
) -> Result<String, EditProblem> {
    check_place(dialect, kind)?;
    connection.check()?;
    let existing = existing.filter(|text| !text.trim().is_empty());
    check_length(existing.unwrap_or_default())?;
    match (dialect, kind) {
        (_, SettingsKind::Plugin) => opencode::connect_plugin(existing, connection),
        (_, SettingsKind::Variables) => {
            Ok(shell::connect_variables(existing.unwrap_or_default(), connection))
        }
        (Dialect::Codex, SettingsKind::Mcp) => toml::connect(existing.unwrap_or_default(), connection),
        (_, SettingsKind::Hooks | SettingsKind::Mcp | SettingsKind::HooksAndMcp) => {
            let mut document = existing
                .map_or_else(|| Ok(Document::new()), |text| Document::parse(text, JsonForm::of(dialect)))?;
            if kind.has_hooks() {
                hooks::connect(&mut document, &wanted_hooks(dialect, connection), is_versioned(dialect))?;
            }
            if has_prefix(dialect, kind) && !connection.is_by_name() {
                shell::connect_claude(&mut document, connection)?;
            }
            if kind.has_servers() {
                servers::connect(&mut document, servers_member(dialect), &server(dialect, connection))?;
            }
            Ok(document.into_text())
        }
    }
}

/// Removes our settings from a program's file; `None` if nothing else is in it.
///
/// After [`connect`] this restores the original text byte for byte.
pub fn disconnect(dialect: Dialect, kind: SettingsKind, text: &str) -> Result<Option<String>, EditProblem> {
    check_place(dialect, kind)?;
    check_length(text)?;
    if text.trim().is_empty() {
        return Ok(Some(text.to_owned()));
    }
    match (dialect, kind) {
        (_, SettingsKind::Plugin) => Ok((!opencode::is_our_plugin(text)).then(|| text.to_owned())),
        (_, SettingsKind::Variables) => Ok(shell::disconnect_variables(text)),
        (Dialect::Codex, SettingsKind::Mcp) => toml::disconnect(text),
        (_, SettingsKind::Hooks | SettingsKind::Mcp | SettingsKind::HooksAndMcp) => {
            let mut document = Document::parse(text, JsonForm::of(dialect))?;
            if kind.has_hooks() {
                hooks::disconnect(&mut document, is_versioned(dialect))?;
            }
            if has_prefix(dialect, kind) {
                shell::disconnect_claude(&mut document)?;
            }
            if kind.has_servers() {
                servers::disconnect(&mut document, servers_member(dialect))?;
            }
            Ok(document.into_text_if_any())
        }
    }
}

/// Whether a text has our settings as [`connect`] would write them.
pub fn is_connected(
    dialect: Dialect,
    kind: SettingsKind,
    text: &str,
    connection: &ProgramPaths,
) -> Connected {
    if connect(dialect, kind, Some(text), connection).is_ok_and(|connected| connected == text) {
        return Connected::Yes;
    }
    match disconnect(dialect, kind, text) {
        Ok(Some(without)) if without == text => Connected::No,
        Ok(_) => Connected::Otherwise,
        Err(_) => Connected::No,
    }
}

impl SettingsKind {
    fn has_hooks(self) -> bool {
        matches!(self, SettingsKind::Hooks | SettingsKind::HooksAndMcp)
    }

    fn has_servers(self) -> bool {
        matches!(self, SettingsKind::Mcp | SettingsKind::HooksAndMcp)
    }
}

impl ProgramPaths {
    /// The programs by name, as on the PATH of anybody who checks out a repository.
    pub fn by_name() -> ProgramPaths {
        ProgramPaths {
            hook: line::HOOK_PROGRAM.to_owned(),
            comity: SERVER.to_owned(),
            bash_env: String::new(),
            home: None,
        }
    }

    fn is_by_name(&self) -> bool {
        *self == ProgramPaths::by_name()
    }

    fn check(&self) -> Result<(), EditProblem> {
        if self.is_by_name() {
            return Ok(());
        }
        for path in [&self.hook, &self.comity, &self.bash_env].into_iter().chain(&self.home) {
            if !path.starts_with('/') {
                return Err(EditProblem::new(
                    format!("{path:?} isn't an absolute path"),
                    "give the whole path of the program: agents run it from other folders",
                ));
            }
            if path.chars().any(char::is_control) {
                return Err(EditProblem::new(
                    format!("the path {path:?} has control characters in it"),
                    "install the program in a folder with a plain name",
                ));
            }
        }
        if !line::is_our_program(&self.hook) {
            return Err(EditProblem::new(
                format!("{:?} is not called {}", self.hook, line::HOOK_PROGRAM),
                "give the hook program its own name: by that it is found again when it is removed",
            ));
        }
        if !shell::is_our_bash_env(&self.bash_env) {
            return Err(EditProblem::new(
                format!("{:?} is not called {}", self.bash_env, shell::BASH_ENV_FILE),
                "give the file its own name: by that it is found again when it is removed",
            ));
        }
        Ok(())
    }
}

fn check_place(dialect: Dialect, kind: SettingsKind) -> Result<(), EditProblem> {
    if places(dialect).iter().any(|place| place.kind == kind) {
        return Ok(());
    }
    Err(EditProblem::new(
        format!("{dialect} has no file of the kind {kind:?}"),
        "ask for one of the places that it has",
    ))
}

fn check_length(text: &str) -> Result<(), EditProblem> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(EditProblem::new(
        format!("the file has {} bytes; the limit is {TEXT_BYTES_MAX}", text.len()),
        "look at what fills it; settings are short",
    ))
}

fn wanted_hooks(dialect: Dialect, connection: &ProgramPaths) -> Vec<Hook> {
    let lines = line::HookLines::of(connection, dialect);
    match dialect {
        Dialect::ClaudeCode => claude::hooks(&lines),
        Dialect::Codex => codex::hooks(&lines),
        Dialect::GeminiCli => gemini::hooks(&lines),
        Dialect::CopilotCli => copilot::hooks(&lines),
        Dialect::Cursor => cursor::hooks(&lines),
        Dialect::OpenCode => Vec::new(),
    }
}

/// Whether a file also sets the prefix of shell commands.
fn has_prefix(dialect: Dialect, kind: SettingsKind) -> bool {
    dialect == Dialect::ClaudeCode && kind == SettingsKind::Hooks
}

/// Whether the file with the hooks has a version.
fn is_versioned(dialect: Dialect) -> bool {
    match dialect {
        Dialect::CopilotCli | Dialect::Cursor => true,
        Dialect::ClaudeCode | Dialect::Codex | Dialect::GeminiCli | Dialect::OpenCode => false,
    }
}

/// The member that holds the MCP servers.
fn servers_member(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenCode => "mcp",
        Dialect::Codex => "mcp_servers",
        Dialect::ClaudeCode | Dialect::GeminiCli | Dialect::CopilotCli | Dialect::Cursor => "mcpServers",
    }
}

fn server(dialect: Dialect, connection: &ProgramPaths) -> Piece {
    match dialect {
        Dialect::ClaudeCode => claude::server(connection),
        // In a repository it reads the same file.
        Dialect::CopilotCli if connection.is_by_name() => claude::server(connection),
        Dialect::CopilotCli => copilot::server(connection),
        Dialect::OpenCode => opencode::server(connection),
        Dialect::Codex | Dialect::GeminiCli | Dialect::Cursor => servers::plain(connection),
    }
}
