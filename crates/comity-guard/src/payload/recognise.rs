//! Which program a payload is from, and which event it is about.

use super::fields::Fields;
use super::tools::INPUTS;
use super::{BadPayload, HookEvent};
use crate::dialect::Dialect;

/// Events by their names in each program; those of Claude Code are also Codex's.
const EVENTS: &[(&str, HookEvent)] = &[
    ("PreToolUse", HookEvent::BeforeTool),
    ("PermissionRequest", HookEvent::BeforeTool),
    ("PostToolUse", HookEvent::AfterTool),
    ("PostToolUseFailure", HookEvent::AfterTool),
    ("SessionStart", HookEvent::SessionStart),
    ("SessionEnd", HookEvent::SessionEnd),
    ("UserPromptSubmit", HookEvent::UserPrompt),
    ("Stop", HookEvent::Stop),
    ("SubagentStart", HookEvent::SessionStart),
    ("SubagentStop", HookEvent::SubagentStop),
    // Gemini CLI.
    ("BeforeTool", HookEvent::BeforeTool),
    ("AfterTool", HookEvent::AfterTool),
    ("BeforeAgent", HookEvent::UserPrompt),
    ("AfterAgent", HookEvent::Stop),
    // Copilot CLI and Cursor.
    ("preToolUse", HookEvent::BeforeTool),
    ("postToolUse", HookEvent::AfterTool),
    ("beforeShellExecution", HookEvent::BeforeTool),
    ("afterShellExecution", HookEvent::AfterTool),
    ("beforeReadFile", HookEvent::Other),
    ("afterFileEdit", HookEvent::AfterTool),
    ("afterTabFileEdit", HookEvent::AfterTool),
    ("beforeMCPExecution", HookEvent::BeforeTool),
    ("afterMCPExecution", HookEvent::AfterTool),
    ("sessionStart", HookEvent::SessionStart),
    ("sessionEnd", HookEvent::SessionEnd),
    ("userPromptSubmitted", HookEvent::UserPrompt),
    ("agentStop", HookEvent::Stop),
    ("beforeSubmitPrompt", HookEvent::UserPrompt),
    ("stop", HookEvent::Stop),
    // Our plugin for OpenCode.
    ("tool.execute.before", HookEvent::BeforeTool),
    ("tool.execute.after", HookEvent::AfterTool),
];

/// The program that a payload is from, by fields that only it sends.
pub(super) fn dialect(fields: &Fields<'_>) -> Option<Dialect> {
    let event = fields.text(&["hook_event_name", "hookEventName", "event"]).unwrap_or_default();
    let is_unnamed = event.is_empty() && fields.has("sessionId") && fields.has("timestamp");
    if fields.has("toolArgs") || (fields.has("toolName") && fields.has("sessionId")) || is_unnamed {
        return Some(Dialect::CopilotCli);
    }
    if fields.has("conversation_id") || fields.has("generation_id") || fields.has("cursor_version") {
        return Some(Dialect::Cursor);
    }
    match event {
        "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" => Some(Dialect::GeminiCli),
        "tool.execute.before" | "tool.execute.after" => Some(Dialect::OpenCode),
        _ if fields.has("turn_id") || fields.has("thread_id") => Some(Dialect::Codex),
        _ if fields.has("hook_event_name") => Some(Dialect::ClaudeCode),
        _ => None,
    }
}

/// The event, and the program's own name for it.
pub(super) fn event(dialect: Dialect, fields: &Fields<'_>) -> Result<(HookEvent, String), BadPayload> {
    let name = fields.text(&["hook_event_name", "hookEventName", "event"]);
    let name = match (name, dialect) {
        (Some(name), _) => name,
        // Copilot CLI does not name it: a tool's result is there only afterwards.
        (None, Dialect::CopilotCli) if fields.has("toolResult") => "postToolUse",
        (None, Dialect::CopilotCli) if fields.has("toolName") => "preToolUse",
        (None, Dialect::CopilotCli) if fields.has("stopReason") => "agentStop",
        (None, Dialect::CopilotCli) if fields.has("prompt") => "userPromptSubmitted",
        (None, Dialect::CopilotCli) if fields.has("source") => "sessionStart",
        (None, Dialect::Cursor) if fields.has("command") => "beforeShellExecution",
        (None, _) => return Err(BadPayload("it names no event".into())),
    };
    let known = EVENTS.iter().find(|(known, _)| *known == name).map(|(_, event)| *event);
    let has_call = fields.get(INPUTS).is_some() || fields.has("tool_name") || fields.has("toolName");
    // An event with an unknown name is judged as if the call has not run yet.
    let unknown = if has_call { HookEvent::BeforeTool } else { HookEvent::Other };
    Ok((known.unwrap_or(unknown), name.to_owned()))
}
