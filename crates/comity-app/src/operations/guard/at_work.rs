//! An agent is idle between its turns, and works again when its hooks say so.

use comity_core::agents::{AgentAsk, Life};
use comity_core::{Ask, Principal};
use comity_guard::payload::HookCall;
use serde_json::Value;

use super::is_own_tool;
use super::planning::{is_own_command, tool_of};
use super::tool::Judged;
use crate::operations::permissions::reading;

/// What ends an agent's idleness, if this call does: looking around, or for something to do, is no work yet.
pub(super) fn works_again(judged: &Judged<'_>, payload: &str) -> Option<Ask> {
    let Principal::Agent(agent) = judged.who else { return None };
    // It is nearly always working, and then nothing else is checked.
    let is_idle = judged.app.engine().world().agents.get(agent).is_some_and(|agent| agent.life == Life::Idle);
    if !is_idle {
        return None;
    }
    let tool = tool_of(judged.call);
    let input = HookCall::tool_input(payload.as_bytes()).unwrap_or(Value::Null);
    let only_reads =
        || reading::call(judged.app, &judged.cwd, tool, &input).is_ok_and(|call| call.reads_only);
    let is_rest = is_own_tool(tool) || is_own_command(tool, &input) || only_reads();
    (!is_rest).then_some(Ask::Agent(AgentAsk::Idle { agent, idle: false }))
}

/// A person gives an idle agent something to do.
pub(super) fn has_work_again(judged: &Judged<'_>) -> Option<Ask> {
    let agent = judged.who.agent()?;
    let world = judged.app.engine().world();
    let is_idle = world.agents.get(agent).is_some_and(|agent| agent.life == Life::Idle);
    is_idle.then_some(Ask::Agent(AgentAsk::Idle { agent, idle: false }))
}

/// An agent's turn is complete, and nothing has come for it: it waits at its prompt.
pub(super) fn rests(judged: &Judged<'_>) {
    let Principal::Agent(agent) = judged.who else { return };
    judged.app.tell_engine(Ask::Agent(AgentAsk::Idle { agent, idle: true }));
}
