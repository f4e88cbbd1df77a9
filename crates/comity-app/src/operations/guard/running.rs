//! What is remembered of running calls: who may be writing, and which agent of a program makes a call.

use comity_core::Principal;
use comity_guard::payload::{HookCall, HookEvent};
use comity_guard::verdict::Verdict;
use comity_guard::{FileTarget, Write};

use super::shell;
use super::tool::Judged;
use crate::watch::{WriteReach, WritingCall};

impl Judged<'_> {
    /// Remembers who makes the call, for what comes from the same process because of it: commands, and calls of our
    /// own tools.
    pub(super) fn trace(&self) {
        let (Some(agent), Some(id)) = (self.who.agent(), self.call.call_id.as_deref()) else { return };
        match self.call.event {
            HookEvent::BeforeTool if self.app.has_sub_agents(agent) => {
                let input = HookCall::tool_input(self.payload.as_bytes());
                let line = input.as_ref().and_then(|input| input.get("command")?.as_str());
                self.app.trace_call(agent, id, line.filter(|_| self.call.runs_commands()));
            }
            HookEvent::AfterTool => self.app.call_traced(agent, id),
            _ => {}
        }
    }

    /// Remembers which calls run: whoever writes without a lock is probably one of them.
    pub(super) fn keep_account(&self, verdict: &Verdict) {
        let (Principal::Agent(agent), watch) = (self.who, self.app.watch()) else { return };
        let may_run = matches!(verdict, Verdict::Allow { .. });
        shell::keep_account(self, agent, may_run);
        if matches!(self.call.event, HookEvent::BeforeTool | HookEvent::UserPrompt | HookEvent::SessionEnd) {
            self.app.idle_agents().end(agent);
        }
        match self.call.event {
            HookEvent::BeforeTool => {
                watch.call_began(agent, &self.cwd, may_run.then(|| self.writing_call()).flatten());
            }
            HookEvent::AfterTool => watch.call_ended(agent, self.call.tool.as_deref()),
            HookEvent::SessionStart | HookEvent::UserPrompt => {
                watch.goes_on(agent);
                watch.calls_ended(agent);
            }
            // An agent that ends after a complete turn has not crashed; many programs say no other goodbye.
            HookEvent::Stop | HookEvent::SessionEnd => {
                watch.said_goodbye(agent);
                watch.calls_ended(agent);
            }
            HookEvent::SubagentStop => watch.calls_ended(agent),
            HookEvent::Other => {}
        }
    }

    /// The call, if it may write.
    fn writing_call(&self) -> Option<WritingCall> {
        let named = |write: &Write| match &write.target {
            FileTarget::Path(path) => Some(self.cwd.join(path)),
            _ => None,
        };
        let reach = match self.call.runs_commands() {
            true => WriteReach::Anything,
            false if self.call.effects.are_none() => return None,
            false => {
                let guessed = self.call.effects.guesses.iter().map(|guess| self.cwd.join(&guess.text));
                WriteReach::Files(self.call.effects.writes.iter().filter_map(named).chain(guessed).collect())
            }
        };
        Some(WritingCall { tool: self.call.tool.as_deref().map(Into::into), reach })
    }
}
