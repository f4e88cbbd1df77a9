//! How an agent program starts its shell, as far as that was observed, and what `guard.confine = "required"` makes of
//! that.

use comity_core::{AgentId, Principal, Refusal};
use comity_guard::payload::{HookCall, HookEvent};

use super::planning;
use super::tool::Judged;
use crate::application::Application;
use crate::config::ConfinePolicy;
use crate::lineage::Lineage;
use crate::operation::{Caller, Failure};
use crate::operations::permissions::reading::command_line;
use crate::processes;
use crate::shells::{WORDS_BYTES_MAX, WriteAccess};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shell {
    /// Through us: what others hold is read-only there, and everything in plan mode.
    Confined,
    /// Not observed: it may start by itself.
    Unproven,
    /// As it likes: guard.confine is off.
    Free,
}

impl Shell {
    pub(super) fn of(app: &Application, who: Principal) -> Shell {
        if app.config().guard.confine == ConfinePolicy::Off {
            return Shell::Free;
        }
        match who.agent().and_then(|agent| app.shells().reach(app.program_of(agent))) {
            Some(WriteAccess::Nothing) => Shell::Confined,
            // A shell may have started before the agent was in plan mode, and still run.
            Some(WriteAccess::Unheld) if !app.is_planning(who) => Shell::Confined,
            Some(WriteAccess::Unheld) | None => Shell::Unproven,
        }
    }
}

/// Denies a command that has to be confined if that was not observed. A command that only reads is how it gets
/// observed.
pub(super) fn check(judged: &Judged<'_>, shell: Shell) -> Result<(), Failure> {
    let has_to_be = judged.app.config().guard.confine == ConfinePolicy::Required;
    if !has_to_be || shell != Shell::Unproven || !judged.call.runs_commands() {
        return Ok(());
    }
    if planning::is_harmless(judged, judged.payload)? {
        return Ok(());
    }
    Err(Refusal::bad_input(
        "guard.confine is \"required\", and your commands were not seen to start through Comity",
        "run pwd by itself and try again; if you read this again, ask your human to run: comity init, and to start this \
         program again",
    )
    .into())
}

/// Remembers the command that is about to run, if it can show how its shell starts.
pub(super) fn keep_account(judged: &Judged<'_>, agent: AgentId, may_run: bool) {
    let (app, shells) = (judged.app, judged.app.shells());
    // Sub-agents share their program's shell.
    let agent = app.program_of(agent);
    let input = || HookCall::tool_input(judged.payload.as_bytes());
    match judged.call.event {
        HookEvent::BeforeTool if may_run && judged.call.runs_commands() => {
            let Some(command) = input().as_ref().and_then(command_line) else { return };
            match Shell::of(app, judged.who) {
                Shell::Unproven => {
                    let is_live =
                        |agent| app.engine().world().agents.get(agent).is_some_and(|agent| agent.is_live());
                    shells.began(agent, &command, is_live);
                }
                Shell::Confined if planning::starts_shell(judged) => shells.awaits(agent, &command),
                Shell::Confined | Shell::Free => {}
            }
        }
        HookEvent::AfterTool => {
            shells.ended(agent, &input().as_ref().and_then(command_line).unwrap_or_default());
        }
        HookEvent::UserPrompt | HookEvent::Stop | HookEvent::SessionStart | HookEvent::SessionEnd => {
            shells.all_ended(agent);
        }
        HookEvent::BeforeTool | HookEvent::SubagentStop | HookEvent::Other => {}
    }
}

/// Notes that a command starts through `comity-confine`, which asks from this lineage.
pub(super) fn note(app: &Application, caller: &Caller, is_sealed: bool) {
    let Some(agent) = caller.who.agent().map(|agent| app.program_of(agent)) else { return };
    let reach = if is_sealed { WriteAccess::Nothing } else { WriteAccess::Unheld };
    app.shells().started(agent, reach, || caller.lineage.as_deref().map(words).unwrap_or_default());
}

/// The calling process's command line.
pub(super) fn words(lineage: &Lineage) -> Vec<String> {
    let asks =
        lineage.links.first().and_then(|link| processes::about(link.process.pid, "cmdline", WORDS_BYTES_MAX));
    let words = asks.unwrap_or_default();
    words.split(|byte| *byte == 0).skip(1).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}
