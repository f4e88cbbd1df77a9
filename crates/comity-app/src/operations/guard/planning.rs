//! In plan mode nothing may be changed: the hook denies what is not proven to only read.

use comity_core::Refusal;
use comity_guard::payload::{HookCall, starts_the_programs_shell};
use serde_json::Value;

use super::is_own_tool;
use super::shell::Shell;
use super::tool::Judged;
use crate::catalog::{self, CATALOG, CatalogEntry};
use crate::operation::Failure;
use crate::operations::permissions::reading;
use crate::operations::permissions::submit_plan_first;

/// Denies a call that would change something, if its agent is in plan mode.
///
/// A confined command may be anything: it runs where nothing can be written.
pub(super) fn check(judged: &Judged<'_>, payload: &str, shell: Shell) -> Result<(), Failure> {
    if !judged.app.is_planning(judged.who) {
        return Ok(());
    }
    if is_sealed(judged, shell) || is_harmless(judged, payload)? {
        return Ok(());
    }
    let may_be_proven = shell == Shell::Unproven && judged.call.runs_commands();
    Err(Refusal::bad_input(
        "you are in plan mode, and this was not proven to change nothing",
        match may_be_proven {
            true => format!(
                "{}; to run this, show first that your commands can't write: run pwd by itself",
                submit_plan_first()
            ),
            false => submit_plan_first(),
        },
    )
    .into())
}

/// Whether a call is proven to change nothing, wherever it runs.
pub(super) fn is_harmless(judged: &Judged<'_>, payload: &str) -> Result<bool, Failure> {
    let tool = tool_of(judged.call);
    if is_own_tool(tool) {
        return Ok(true);
    }
    let input = HookCall::tool_input(payload.as_bytes()).unwrap_or(Value::Null);
    let call = reading::call(judged.app, &judged.cwd, tool, &input)?;
    Ok(call.reads_only || is_own_command(tool, &input))
}

/// Whether the call is one plain command of Comity, which has rules of its own for plan mode.
pub(super) fn is_own_command(tool: &str, input: &Value) -> bool {
    let (_, _, commands) = comity_guard::payload::tool(tool, input);
    let Some(words) = commands.and_then(|commands| commands.single) else { return false };
    let Some(("comity", words)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) else {
        return false;
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let entry = catalog::spelled(&words).map(|(entry, _)| entry);
    // The first word of several commands also begins commands that are not operations, such as `comity lease run`.
    let is_group = |entry: &CatalogEntry| {
        let own: Vec<_> = entry.words().collect();
        let is_below = |other: &CatalogEntry| {
            let other: Vec<_> = other.words().collect();
            other.len() > own.len() && other.starts_with(&own)
        };
        CATALOG.iter().any(is_below) && words.len() > own.len()
    };
    entry.is_some_and(|entry| !entry.writes_files && !is_group(entry))
}

/// Whether a call of an agent in plan mode is a command that runs where nothing can be written.
///
/// One that obviously writes is denied all the same: that tells more than the kernel's error.
pub(super) fn is_sealed(judged: &Judged<'_>, shell: Shell) -> bool {
    shell == Shell::Confined
        && judged.call.runs_commands()
        && judged.call.effects.writes.is_empty()
        && starts_shell(judged)
}

/// Whether a call runs a command in the shell that the agent program starts for every command.
pub(super) fn starts_shell(judged: &Judged<'_>) -> bool {
    let input = HookCall::tool_input(judged.payload.as_bytes()).unwrap_or(Value::Null);
    starts_the_programs_shell(tool_of(judged.call), &input)
}

/// The tool of a call. In Cursor, command lines are an event of their own, without a tool.
pub(super) fn tool_of(call: &HookCall) -> &str {
    call.tool.as_deref().unwrap_or("Shell")
}
