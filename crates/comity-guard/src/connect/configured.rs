//! What a program's settings say about us, as the program itself reads them: proofs have to use these.

use serde_json::Value;

use super::comments::plain_json;
use super::shell::{BASH_ENV, ENV, SHELL_PREFIX, is_our_bash_env, is_our_prefix, value_of};
use super::{SettingsKind, line, opencode, policy};
use crate::dialect::Dialect;

/// What shell commands start through, according to one settings file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShellStart {
    /// Our program, which gets the command.
    Prefix(String),
    /// bash, which first reads this file of ours.
    BashEnv(String),
    /// Something of the user's own, which we left alone.
    Users {
        setting: &'static str,
        value: String,
    },
    Plain,
}

/// The command that a program runs before a tool call, if it is one of ours.
pub fn hook_command(dialect: Dialect, kind: SettingsKind, text: &str) -> Option<String> {
    let event = match (dialect, kind) {
        (Dialect::ClaudeCode | Dialect::Codex, SettingsKind::Hooks) => "PreToolUse",
        (Dialect::GeminiCli, SettingsKind::HooksAndMcp) => "BeforeTool",
        (Dialect::CopilotCli | Dialect::Cursor, SettingsKind::Hooks) => "preToolUse",
        (Dialect::OpenCode, SettingsKind::Plugin) => return opencode::hook_command(text),
        _ => return None,
    };
    let settings: Value = serde_json::from_str(&plain_json(dialect, text)).ok()?;
    let entries = settings["hooks"][event].as_array()?;
    let handlers = entries.iter().flat_map(|entry| match entry["hooks"].as_array() {
        Some(handlers) => handlers.iter().collect(),
        None => vec![entry],
    });
    let lines = handlers.filter_map(|handler| handler["command"].as_str().or(handler["bash"].as_str()));
    lines.into_iter().find(|line| line::is_hook_line(line)).map(str::to_owned)
}

/// What shell commands start through; `None` if this file does not say.
pub fn shell_start(dialect: Dialect, kind: SettingsKind, text: &str) -> Option<ShellStart> {
    match (dialect, kind) {
        (Dialect::ClaudeCode, SettingsKind::Hooks) => Some(prefix(text)),
        (Dialect::Codex, SettingsKind::Mcp) => Some(policy::shell_start(text)),
        (Dialect::GeminiCli, SettingsKind::Variables) => {
            let set = text.lines().find_map(value_of).map(str::to_owned);
            Some(bash_env(set))
        }
        (Dialect::OpenCode, SettingsKind::Plugin) => Some(bash_env(opencode::bash_env(text))),
        _ => None,
    }
}

/// Our directory with zsh's first startup file, if the settings name it.
pub fn zsh_dir(dialect: Dialect, kind: SettingsKind, text: &str) -> Option<String> {
    match (dialect, kind) {
        (Dialect::Codex, SettingsKind::Mcp) => policy::zsh_dir(text),
        (Dialect::OpenCode, SettingsKind::Plugin) => opencode::zsh_dir(text),
        _ => None,
    }
}

fn prefix(text: &str) -> ShellStart {
    let settings: Value = serde_json::from_str(text).unwrap_or_default();
    match settings[ENV][SHELL_PREFIX].as_str() {
        Some(program) if is_our_prefix(program) => ShellStart::Prefix(program.to_owned()),
        Some(program) => ShellStart::Users { setting: SHELL_PREFIX, value: program.to_owned() },
        None => ShellStart::Plain,
    }
}

pub(super) fn bash_env(set: Option<String>) -> ShellStart {
    match set {
        Some(file) if is_our_bash_env(&file) => ShellStart::BashEnv(file),
        Some(value) => ShellStart::Users { setting: BASH_ENV, value },
        None => ShellStart::Plain,
    }
}
