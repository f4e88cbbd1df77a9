//! OpenCode: servers in `opencode.json`; in place of hooks it has plugins, so ours runs the hook program.

use super::line::shell_word;
use super::piece::{Piece, quoted};
use super::{EditProblem, HOOK_SECONDS_MAX, ProgramPaths, SERVER_ARGUMENTS};
use crate::dialect::Dialect;

/// By its first line a plugin is known to be ours.
const FIRST_LINE: &str =
    "// Comity's guard for OpenCode, written by `comity init`: changes in here are lost.";
/// What follows upon the programs and limits.
const SOURCE: &str = include_str!("opencode.js");

pub(super) fn server(comity: &str) -> Piece {
    let command: Vec<&str> = [comity].into_iter().chain(SERVER_ARGUMENTS).collect();
    Piece::Members(vec![
        ("type", Piece::text("local")),
        ("command", Piece::texts(&command)),
        ("enabled", Piece::Flag(true)),
    ])
}

pub(super) fn connect_plugin(
    existing: Option<&str>,
    connection: &ProgramPaths,
) -> Result<String, EditProblem> {
    if existing.is_some_and(|text| !is_our_plugin(text)) {
        return Err(EditProblem::new(
            "a plugin of somebody else has the name of ours",
            "give that plugin another name",
        ));
    }
    let (hook, bash_env) = (quoted(&connection.hook), quoted(&connection.bash_env));
    let dialect = quoted(Dialect::OpenCode.name());
    let milliseconds = HOOK_SECONDS_MAX * 1_000;
    Ok(format!(
        "{FIRST_LINE}\nconst HOOK = {hook};\nconst BASH_ENV = {bash_env};\nconst DIALECT = {dialect};\n\
         const ANSWER_MS_MAX = {milliseconds};\n\n{SOURCE}"
    ))
}

pub(super) fn is_our_plugin(text: &str) -> bool {
    text.lines().next() == Some(FIRST_LINE)
}

/// The line that our plugin runs before a tool call, as it is in a plugin's text.
pub(super) fn hook_command(text: &str) -> Option<String> {
    let dialect = constant(text, "DIALECT")?;
    Some(format!("exec {} {dialect}", shell_word(&constant(text, "HOOK")?)))
}

/// The file that our plugin lets bash read first.
pub(super) fn bash_env(text: &str) -> Option<String> {
    constant(text, "BASH_ENV")
}

fn constant(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter(|_| is_our_plugin(text));
    let value = lines.filter_map(|line| line.strip_prefix(&format!("const {name} = "))).next()?;
    serde_json::from_str(value.strip_suffix(';')?).ok()
}
