//! OpenCode: servers in `opencode.json`; it has plugins in place of hooks, so ours runs the hook program.

use serde_json::Value;

use super::line::shell_word;
use super::piece::{Piece, quoted};
use super::servers::environment;
use super::{EditProblem, HOME_VARIABLE, HOOK_SECONDS_MAX, ProgramPaths, SERVER_ARGUMENTS};
use crate::dialect::Dialect;

/// Identifies our plugin.
const FIRST_LINE: &str =
    "// Comity's guard for OpenCode, written by `comity init`: changes in here are lost.";
/// What follows after the programs and limits.
const SOURCE: &str = include_str!("opencode.js");

pub(super) fn server(connection: &ProgramPaths) -> Piece {
    let command: Vec<&str> = [connection.comity.as_str()].into_iter().chain(SERVER_ARGUMENTS).collect();
    let mut members = vec![("type", Piece::text("local")), ("command", Piece::texts(&command))];
    members.extend(environment("environment", connection));
    members.push(("enabled", Piece::Flag(true)));
    Piece::Members(members)
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
    let (hook, is_by_name) = (quoted(&connection.hook), connection.is_by_name());
    let unless_by_name = |path: &str| if is_by_name { "null".to_owned() } else { quoted(path) };
    let (bash_env, zdotdir) = (unless_by_name(&connection.bash_env), unless_by_name(&connection.zsh_dir()));
    let dialect = quoted(Dialect::OpenCode.name());
    let milliseconds = HOOK_SECONDS_MAX * 1_000;
    let home = connection.home.as_deref().map(|home| format!("{}:{}", quoted(HOME_VARIABLE), quoted(home)));
    let variables = format!("{{{}}}", home.unwrap_or_default());
    Ok(format!(
        "{FIRST_LINE}\nconst HOOK = {hook};\nconst BASH_ENV = {bash_env};\nconst ZDOTDIR = {zdotdir};\n\
         const VARIABLES = {variables};\n\
         const PASSES_IF_GONE = {is_by_name};\n\
         const DIALECT = {dialect};\nconst ANSWER_MS_MAX = {milliseconds};\n\n{SOURCE}"
    ))
}

pub(super) fn is_our_plugin(text: &str) -> bool {
    text.lines().next() == Some(FIRST_LINE)
}

/// The command that our plugin runs before a tool call.
pub(super) fn hook_command(text: &str) -> Option<String> {
    let (hook, dialect) = (constant(text, "HOOK")?, constant(text, "DIALECT")?);
    let variables = constant(text, "VARIABLES");
    let home = variables.as_ref().and_then(|variables| variables[HOME_VARIABLE].as_str());
    let env = home.map(|home| format!("env {HOME_VARIABLE}={} ", shell_word(home))).unwrap_or_default();
    Some(format!("exec {env}{} {}", shell_word(hook.as_str()?), dialect.as_str()?))
}

/// The file that our plugin names in `BASH_ENV`.
pub(super) fn bash_env(text: &str) -> Option<String> {
    constant(text, "BASH_ENV")?.as_str().map(str::to_owned)
}

/// The directory that our plugin names in `ZDOTDIR`.
pub(super) fn zsh_dir(text: &str) -> Option<String> {
    constant(text, "ZDOTDIR")?.as_str().map(str::to_owned)
}

fn constant(text: &str, name: &str) -> Option<Value> {
    let lines = text.lines().filter(|_| is_our_plugin(text));
    let value = lines.filter_map(|line| line.strip_prefix(&format!("const {name} = "))).next()?;
    serde_json::from_str(value.strip_suffix(';')?).ok()
}
