//! The input of a tool that runs commands: its lines, where they run, and whether there is anything else.

use serde_json::{Map, Value};

use super::fields::Fields;
use super::tools::{ToolKind, kind};

/// Fields that hold a command line.
pub(super) const COMMANDS: &[&str] = &["command", "cmd", "script"];
/// Fields that say where it runs.
pub(super) const DIRECTORIES: &[&str] = &["workdir", "dir_path", "directory"];
/// Fields that change neither what runs nor where.
const HARMLESS: &[&str] = &[
    "description",
    "explanation",
    "justification",
    "timeout",
    "timeout_ms",
    "run_in_background",
    "is_background",
    "yield_time_ms",
    "max_output_tokens",
];
/// Shells that a proof holds for.
const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash"];

/// A single line for a shell, without anything else that would change it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShellCall {
    pub command: String,
    /// Where it runs, relative to where the call starts; empty if that is the same.
    pub directory: String,
}

/// The line that a call runs, if it is certain: an unknown field might change its meaning.
pub fn shell_call(tool: &str, input: &Value) -> Option<ShellCall> {
    if kind(tool) != ToolKind::Shell || tool == "powershell" {
        return None;
    }
    let input = match input {
        Value::String(command) => {
            return Some(ShellCall { command: command.clone(), directory: String::new() });
        }
        Value::Object(input) => input,
        _ => return None,
    };
    let is_known = |(name, value): (&String, &Value)| match name.as_str() {
        name if COMMANDS.contains(&name) || DIRECTORIES.contains(&name) => value.is_string(),
        name if HARMLESS.contains(&name) => true,
        "login" => value.is_boolean(),
        "shell" => value.as_str().is_some_and(is_shell),
        _ => value.is_null(),
    };
    if !input.iter().all(is_known) {
        return None;
    }
    let command = only(input, COMMANDS)??.to_owned();
    let directory = only(input, DIRECTORIES)?.unwrap_or_default().to_owned();
    Some(ShellCall { command, directory })
}

/// Whether a call has a command, and no other field would change what runs.
pub(crate) fn is_command_alone(tool: &str, input: &Value) -> bool {
    let Value::Object(fields) = input else { return kind(tool) == ToolKind::Shell };
    let is_words = |value: &Value| value.as_array().is_some_and(|words| words.iter().all(Value::is_string));
    let given: Vec<&String> = fields.keys().filter(|name| COMMANDS.contains(&name.as_str())).collect();
    let [name] = given[..] else { return false };
    let mut line = input.clone();
    if is_words(&line[name]) {
        line[name] = Value::String(String::new());
    }
    shell_call(tool, &line).is_some() && starts_the_programs_shell(tool, &line)
}

/// Whether a call starts its program's usual shell in the usual way, so that what is known of that holds.
pub fn starts_the_programs_shell(tool: &str, input: &Value) -> bool {
    let changes_it = |name: &str| input.get(name).is_some_and(|value| !value.is_null());
    kind(tool) == ToolKind::Shell
        && tool != "powershell"
        && !["shell", "env", "environment"].into_iter().any(changes_it)
}

fn is_shell(path: &str) -> bool {
    let name = path.strip_prefix("/usr").unwrap_or(path).strip_prefix("/bin/").unwrap_or(path);
    SHELLS.contains(&name)
}

/// The text of the only field with one of these names; `None` if several have one.
fn only<'a>(input: &'a Map<String, Value>, names: &[&str]) -> Option<Option<&'a str>> {
    let mut given = names.iter().filter_map(|name| input.get(*name));
    let first = given.next().map(|value| value.as_str());
    match given.next() {
        None => Some(first.flatten()),
        Some(_) => None,
    }
}

/// All values in fields with these names.
pub(super) fn all<'a>(input: &Fields<'a>, names: &[&str]) -> Vec<&'a Value> {
    names.iter().filter_map(|name| input.0.get(*name)).filter(|value| !value.is_null()).collect()
}
