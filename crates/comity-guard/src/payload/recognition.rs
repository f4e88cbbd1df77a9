//! Tells the programs apart by what they send, where nobody has said which one it is.

use super::fields::Fields;
use crate::dialect::Dialect;

/// Events that only Gemini CLI has.
const OF_GEMINI: [&str; 8] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];

/// The event of a payload that names none: those of Copilot CLI.
pub(super) fn event(fields: &Fields) -> Option<&'static str> {
    if !fields.has("sessionId") {
        return None;
    }
    let signs = [
        ("toolResult", "postToolUse"),
        ("error", "postToolUseFailure"),
        ("toolName", "preToolUse"),
        ("prompt", "userPromptSubmitted"),
        ("source", "sessionStart"),
        ("stopReason", "agentStop"),
        ("reason", "sessionEnd"),
    ];
    signs.iter().find(|(field, _)| fields.has(field)).map(|(_, event)| *event)
}

/// The program that sends such payloads.
pub(super) fn dialect(fields: &Fields, event: &str) -> Option<Dialect> {
    let is_lower = event.starts_with(|c: char| c.is_ascii_lowercase());
    if fields.text(&["client"]).as_deref() == Some(Dialect::OpenCode.name()) {
        return Some(Dialect::OpenCode);
    }
    // Cursor runs the hooks of Claude Code, too, but has fields of its own.
    if fields.has("cursor_version") || fields.has("conversation_id") || fields.has("workspace_roots") {
        return Some(Dialect::Cursor);
    }
    if fields.has("sessionId") || fields.has("toolName") {
        return Some(Dialect::CopilotCli);
    }
    if OF_GEMINI.contains(&event) {
        return Some(Dialect::GeminiCli);
    }
    if is_lower || !fields.has("session_id") {
        return None;
    }
    // Claude Code and Codex agree in almost everything; Codex has turns, and Gemini tells the time.
    let transcript = fields.text(&["transcript_path"]).unwrap_or_default();
    let tool = fields.text(&["tool_name"]).unwrap_or_default();
    let is_codex = fields.has("turn_id")
        || transcript.contains("/.codex/")
        || matches!(tool.as_str(), "apply_patch" | "local_shell" | "exec_command" | "shell");
    Some(match (is_codex, fields.has("timestamp")) {
        (true, _) => Dialect::Codex,
        (false, true) => Dialect::GeminiCli,
        (false, false) => Dialect::ClaudeCode,
    })
}
