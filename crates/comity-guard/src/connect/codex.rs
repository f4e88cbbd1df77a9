//! Codex: hooks in `hooks.json`, in the form of Claude Code's; its servers are in TOML.

use super::HOOK_SECONDS_MAX;
use super::hooks::Hook;
use super::line::HookLines;
use super::piece::Piece;

/// Shell commands go by several names, depending on the model. Behind `mcp__` stands all that does not begin with
/// `comity__`, letter by letter: Codex leaves out a hook whose expression looks ahead.
const WRITING: &str = "^(apply_patch|Bash|shell|local_shell|shell_command|exec_command|\
    mcp__([^c]|c[^o]|co[^m]|com[^i]|comi[^t]|comit[^y]|comity[^_]|comity_[^_]).*)$";

pub(super) fn hooks(lines: &HookLines) -> Vec<Hook> {
    let handler = |line: &str| {
        Piece::Members(vec![
            ("type", Piece::text("command")),
            ("command", Piece::text(line)),
            ("timeout", Piece::Number(HOOK_SECONDS_MAX)),
        ])
    };
    let (gate, handler) = (handler(&lines.gate), handler(&lines.plain));
    vec![
        Hook::group("PreToolUse", Some(WRITING), gate),
        Hook::group("PostToolUse", Some(WRITING), handler.clone()),
        Hook::group("SessionStart", None, handler.clone()),
        Hook::group("SubagentStart", None, handler.clone()),
        Hook::group("SubagentStop", None, handler.clone()),
        Hook::group("UserPromptSubmit", None, handler.clone()),
        Hook::group("Stop", None, handler),
    ]
}
