//! Edits the settings of agent programs such that they ask our hook and know our tools, and back.
//!
//! Text goes in and text comes out; whoever calls reads and writes the files. What is not ours stays as it
//! was, byte for byte, and a text that cannot be edited like that is refused.

mod braces;
mod claude;
mod codex;
mod configured;
mod copilot;
mod cursor;
mod gaps;
mod gemini;
mod hooks;
mod json;
mod line;
mod opencode;
mod piece;
mod places;
mod policy;
mod problem;
mod scan;
mod servers;
mod shell;
mod toml;

pub use configured::{ShellStart, hook_command, shell_start};
pub use gaps::gaps;
pub use places::{SettingsFile, SettingsKind, SettingsRoot, places};
pub use policy::sandbox;
pub use problem::EditProblem;
pub use shell::{BASH_ENV_FILE, is_bash_env_script};

use crate::dialect::Dialect;
use hooks::Hook;
use json::Document;
use piece::Piece;

/// The name of our MCP server.
const SERVER: &str = "comity";
/// The arguments that make our program an MCP server.
const SERVER_ARGUMENTS: [&str; 1] = ["mcp"];
/// How long a program waits for our hook.
const HOOK_SECONDS_MAX: u64 = 10;
/// The longest text that is edited.
const TEXT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The programs that are connected, by their absolute paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramPaths {
    /// `comity-hook`.
    pub hook: String,
    /// `comity`.
    pub comity: String,
    /// The file that `BASH_ENV` names, which lies among the user's own: where the programs are, only root may write.
    pub bash_env: String,
}

/// Whether a file has what it should have of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connected {
    /// All of it, as it would be written now.
    Yes,
    /// Something of ours, but not as it would be written now: another path, or an older form.
    Otherwise,
    /// Nothing, or nothing that can be read.
    No,
}

/// The text of a program's file with our things in it. An empty text is like none.
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
            let mut document = existing.map_or_else(|| Ok(Document::new()), Document::parse)?;
            if kind.has_hooks() {
                hooks::connect(&mut document, &wanted_hooks(dialect, connection), is_versioned(dialect))?;
            }
            if has_prefix(dialect, kind) {
                shell::connect_claude(&mut document, connection)?;
            }
            if kind.has_servers() {
                servers::connect(&mut document, servers_member(dialect), &server(dialect, connection))?;
            }
            Ok(document.into_text())
        }
    }
}

/// The text of a program's file without our things; none if there is nothing else in it.
///
/// After [`connect`] it is the text from before, byte for byte.
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
            let mut document = Document::parse(text)?;
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

/// Whether a text has our things in it as [`connect`] would put them there.
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
    fn check(&self) -> Result<(), EditProblem> {
        for path in [&self.hook, &self.comity, &self.bash_env] {
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
    let lines = line::HookLines::of(&connection.hook, dialect);
    match dialect {
        Dialect::ClaudeCode => claude::hooks(&lines),
        Dialect::Codex => codex::hooks(&lines),
        Dialect::GeminiCli => gemini::hooks(&lines),
        Dialect::CopilotCli => copilot::hooks(&lines),
        Dialect::Cursor => cursor::hooks(&lines),
        Dialect::OpenCode => Vec::new(),
    }
}

/// Whether a file also says what shell commands begin with.
fn has_prefix(dialect: Dialect, kind: SettingsKind) -> bool {
    dialect == Dialect::ClaudeCode && kind == SettingsKind::Hooks
}

/// Whether the file with the hooks says of which version it is.
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
    let comity = connection.comity.as_str();
    match dialect {
        Dialect::ClaudeCode => claude::server(comity),
        Dialect::CopilotCli => copilot::server(comity),
        Dialect::OpenCode => opencode::server(comity),
        Dialect::Codex | Dialect::GeminiCli | Dialect::Cursor => servers::plain(comity),
    }
}
