//! Judges what a tool call would write where no hook asks: for an agent whose program asks in other ways.

use std::path::Path;

use comity_core::AgentId;
use comity_core::Principal;
use comity_guard::Dialect;
use comity_guard::payload::HookCall;
use serde_json::{Value, json};

use super::shell::Shell;
use super::tool::Judged;
use crate::application::Application;
use crate::engine::Failed;
use crate::operation::{Caller, Failure};

/// Whether an agent may make this call, as far as locks and its mode go; what it writes is locked for it. Nobody is
/// asked for permission.
pub(crate) fn judge_writes(
    app: &Application,
    agent: AgentId,
    cwd: &Path,
    (tool, input): (&str, &Value),
) -> Result<(), Failure> {
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": agent.to_string(), "cwd": cwd.to_string_lossy(),
        "tool_name": tool, "tool_input": input,
    })
    .to_string();
    let call = HookCall::parse(Some(Dialect::ClaudeCode), payload.as_bytes()).map_err(Failure::fault)?;
    let who = Principal::Agent(agent);
    let judged = Judged::of(app, &Caller::new(who, Some(cwd.to_owned())), &call, &payload)?;
    for ask in judged.asks(&payload, Shell::of(app, who))? {
        app.engine().ask(who, ask).map_err(|failed| match failed {
            Failed::Refused(no) => Failure::Refused(no),
            Failed::Fault(problem) => Failure::Fault(problem),
        })?;
    }
    Ok(())
}
