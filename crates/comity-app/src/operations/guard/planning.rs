//! Whoever is in plan mode changes nothing: its hook denies what was not proven to only read.

use comity_core::permissions::mode_of;
use comity_core::roles::Mode;
use comity_core::{Principal, Refusal};
use comity_guard::payload::HookCall;
use serde_json::Value;

use super::is_own_tool;
use super::tool::{Judged, Shell};
use crate::operation::Failure;
use crate::operations::permissions::reading;

/// Denies a call that would change something, if its agent is in plan mode.
///
/// A command that runs confined may be anything: it runs where nothing can be written to.
pub(super) fn check(judged: &Judged<'_>, payload: &str, shell: Shell) -> Result<(), Failure> {
    let Principal::Agent(agent) = judged.who else { return Ok(()) };
    if mode_of(&judged.app.engine().world(), agent) != Mode::Plan {
        return Ok(());
    }
    if is_sealed(judged, shell) {
        return Ok(());
    }
    let tool = tool_of(judged.call);
    if is_own_tool(tool) {
        return Ok(());
    }
    let input = HookCall::tool_input(payload.as_bytes()).unwrap_or(Value::Null);
    let call = reading::call(judged.app, &judged.cwd, tool, &input)?;
    match call.reads_only {
        true => Ok(()),
        false => Err(Refusal::bad_input(
            "you are in plan mode, and this was not proven to change nothing",
            "look around, then submit your plan: comity plan submit FILE",
        )
        .into()),
    }
}

/// Whether a call of who is in plan mode is a command that runs where nothing can be written to.
///
/// One that is seen to write is denied all the same: that says more than the kernel does.
pub(super) fn is_sealed(judged: &Judged<'_>, shell: Shell) -> bool {
    shell == Shell::Confined && judged.call.runs_commands() && judged.call.effects.writes.is_empty()
}

/// The tool of a call. Cursor has an event of its own for command lines, without a tool.
pub(super) fn tool_of(call: &HookCall) -> &str {
    call.tool.as_deref().unwrap_or("Shell")
}
