//! Verdicts, in the form that each agent program obeys.
//!
//! A no is given both ways that programs understand: as JSON on standard output, and by exit code 2 with the reason
//! on standard error if the program reads no JSON at that event, or we could not judge at all.

use comity_core::display::visible_lines;
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::limits::{CONTEXT_BYTES_MAX, REASON_BYTES_MAX};
use crate::payload::HookEvent;

/// The exit code that every program takes for a no.
const BLOCKED: u8 = 2;

/// The judgement on a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It may run; the model gets this as additional context.
    Allow {
        context: Option<String>,
    },
    Deny {
        reason: String,
    },
    /// It could not be judged, so it may not.
    Fault {
        reason: String,
    },
}

/// What a hook prints, and how it exits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HookOutput {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

impl Verdict {
    /// The same verdict with its text reworded.
    pub fn map(self, words: impl FnOnce(String) -> String) -> Verdict {
        match self {
            Verdict::Allow { context } => Verdict::Allow { context: context.map(words) },
            Verdict::Deny { reason } => Verdict::Deny { reason: words(reason) },
            Verdict::Fault { reason } => Verdict::Fault { reason: words(reason) },
        }
    }

    /// The verdict for a program at an event; `name` is the program's own word for the event.
    pub fn said(&self, dialect: Dialect, event: HookEvent, name: &str) -> HookOutput {
        match self {
            Verdict::Allow { context: None } => HookOutput::default(),
            Verdict::Allow { context: Some(context) } => {
                let context = bounded(&visible_lines(context), CONTEXT_BYTES_MAX);
                match takes_context(dialect, event) {
                    true if event == HookEvent::Stop => {
                        let goes_on = json!({ "decision": "block", "reason": context });
                        HookOutput { stdout: line(&goes_on), ..HookOutput::default() }
                    }
                    true => HookOutput {
                        stdout: line(&allowed(dialect, name, &context)),
                        ..HookOutput::default()
                    },
                    false => HookOutput::default(),
                }
            }
            Verdict::Deny { reason } => {
                let reason = bounded(&visible_lines(reason), REASON_BYTES_MAX);
                match event {
                    HookEvent::BeforeTool => denied(dialect, name, &reason),
                    // It has happened: the model is told, but nothing can be prevented.
                    HookEvent::AfterTool
                    | HookEvent::SessionStart
                    | HookEvent::SessionEnd
                    | HookEvent::UserPrompt
                    | HookEvent::Stop
                    | HookEvent::SubagentStop
                    | HookEvent::Other => HookOutput { stderr: reason + "\n", ..HookOutput::default() },
                }
            }
            Verdict::Fault { reason } => {
                let reason = bounded(&visible_lines(reason), REASON_BYTES_MAX);
                let stderr = format!("Comity could not judge this call, so it is blocked: {reason}\n");
                HookOutput { stderr, exit: BLOCKED, ..HookOutput::default() }
            }
        }
    }
}

/// Whether the program shows its model what a hook adds to this event. After a stop, that begins another turn.
pub(crate) fn takes_context(dialect: Dialect, event: HookEvent) -> bool {
    match dialect {
        Dialect::ClaudeCode | Dialect::Codex => {
            matches!(
                event,
                HookEvent::BeforeTool
                    | HookEvent::AfterTool
                    | HookEvent::SessionStart
                    | HookEvent::UserPrompt
                    | HookEvent::Stop
            )
        }
        Dialect::GeminiCli => {
            matches!(event, HookEvent::AfterTool | HookEvent::SessionStart | HookEvent::UserPrompt)
        }
        // OpenCode's plugin adds it to the tool's result.
        Dialect::OpenCode => matches!(event, HookEvent::AfterTool),
        Dialect::CopilotCli => matches!(
            event,
            HookEvent::AfterTool | HookEvent::SessionStart | HookEvent::UserPrompt | HookEvent::Stop
        ),
        Dialect::Cursor => false,
    }
}

fn denied(dialect: Dialect, name: &str, reason: &str) -> HookOutput {
    let answer = match dialect {
        Dialect::ClaudeCode | Dialect::Codex => json!({ "hookSpecificOutput": {
            "hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": reason,
        }}),
        Dialect::GeminiCli => json!({ "decision": "deny", "reason": reason }),
        Dialect::CopilotCli => json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }),
        Dialect::Cursor => json!({ "permission": "deny", "user_message": reason, "agent_message": reason }),
        // The plugin throws what is on standard error.
        Dialect::OpenCode => {
            return HookOutput { stderr: format!("{reason}\n"), exit: BLOCKED, ..HookOutput::default() };
        }
    };
    HookOutput { stdout: line(&answer), ..HookOutput::default() }
}

fn allowed(dialect: Dialect, name: &str, context: &str) -> Value {
    match dialect {
        Dialect::ClaudeCode | Dialect::Codex | Dialect::GeminiCli => json!({
            "hookSpecificOutput": { "hookEventName": name, "additionalContext": context },
        }),
        Dialect::OpenCode => json!({ "context": context }),
        Dialect::CopilotCli => json!({ "additionalContext": context }),
        Dialect::Cursor => json!({}),
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn bounded(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = (0..=bytes.saturating_sub(4)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}
