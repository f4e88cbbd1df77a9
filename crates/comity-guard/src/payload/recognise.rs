//! Which program a payload is from, and which event it tells of.

use super::fields::Fields;
use super::tools::INPUTS;
use super::{BadPayload, Event};
use crate::dialect::Dialect;

/// Events of programs by their names; those of Claude Code are also Codex's.
const EVENTS: &[(&str, Event)] = &[
    ("PreToolUse", Event::BeforeTool),
    ("PermissionRequest", Event::BeforeTool),
    ("PostToolUse", Event::AfterTool),
    ("PostToolUseFailure", Event::AfterTool),
    ("SessionStart", Event::SessionStart),
    ("SessionEnd", Event::SessionEnd),
    ("UserPromptSubmit", Event::UserPrompt),
    ("Stop", Event::Stop),
    ("SubagentStop", Event::Stop),
    // Gemini CLI.
    ("BeforeTool", Event::BeforeTool),
    ("AfterTool", Event::AfterTool),
    ("BeforeAgent", Event::UserPrompt),
    ("AfterAgent", Event::Stop),
    // Copilot CLI and Cursor.
    ("preToolUse", Event::BeforeTool),
    ("postToolUse", Event::AfterTool),
    ("beforeShellExecution", Event::BeforeTool),
    ("afterShellExecution", Event::AfterTool),
    ("beforeReadFile", Event::Other),
    ("afterFileEdit", Event::AfterTool),
    ("afterTabFileEdit", Event::AfterTool),
    ("beforeMCPExecution", Event::BeforeTool),
    ("afterMCPExecution", Event::AfterTool),
    ("sessionStart", Event::SessionStart),
    ("sessionEnd", Event::SessionEnd),
    ("userPromptSubmitted", Event::UserPrompt),
    ("beforeSubmitPrompt", Event::UserPrompt),
    ("stop", Event::Stop),
    // Our plugin for OpenCode.
    ("tool.execute.before", Event::BeforeTool),
    ("tool.execute.after", Event::AfterTool),
];

/// The program that a payload is from, by what only that one sends.
pub(super) fn dialect(fields: &Fields<'_>) -> Option<Dialect> {
    let event = fields.text(&["hook_event_name", "hookEventName", "event"]).unwrap_or_default();
    if fields.has("toolArgs") || (fields.has("toolName") && fields.has("sessionId")) {
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
pub(super) fn event(dialect: Dialect, fields: &Fields<'_>) -> Result<(Event, String), BadPayload> {
    let name = fields.text(&["hook_event_name", "hookEventName", "event"]);
    let name = match (name, dialect) {
        (Some(name), _) => name,
        // Copilot CLI does not name it: what a tool gave back is there only afterwards.
        (None, Dialect::CopilotCli) if fields.has("toolResult") => "postToolUse",
        (None, Dialect::CopilotCli) if fields.has("toolName") => "preToolUse",
        (None, Dialect::Cursor) if fields.has("command") => "beforeShellExecution",
        (None, _) => return Err(BadPayload("it names no event".into())),
    };
    let known = EVENTS.iter().find(|(known, _)| *known == name).map(|(_, event)| *event);
    let has_call = fields.get(INPUTS).is_some() || fields.has("tool_name") || fields.has("toolName");
    // A call under a name that is not known is judged like one that has not run yet.
    let unknown = if has_call { Event::BeforeTool } else { Event::Other };
    Ok((known.unwrap_or(unknown), name.to_owned()))
}
