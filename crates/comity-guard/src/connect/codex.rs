//! Codex: hooks in `hooks.json`, in the form of Claude Code's; its servers are in TOML.

use super::HOOK_SECONDS_MAX;
use super::hooks::Hook;
use super::piece::Piece;

/// Shell commands go by several names, depending on the model. Behind `mcp__` stands all that does not begin with
/// `comity__`, letter by letter: Codex leaves out a hook whose expression looks ahead.
const WRITING: &str = "^(apply_patch|Bash|shell|local_shell|shell_command|exec_command|\
    mcp__([^c]|c[^o]|co[^m]|com[^i]|comi[^t]|comit[^y]|comity[^_]|comity_[^_]).*)$";

pub(super) fn hooks(line: &str) -> Vec<Hook> {
    let handler = Piece::Members(vec![
        ("type", Piece::text("command")),
        ("command", Piece::text(line)),
        ("timeout", Piece::Number(HOOK_SECONDS_MAX)),
    ]);
    vec![
        Hook::group("PreToolUse", Some(WRITING), handler.clone()),
        Hook::group("PostToolUse", Some(WRITING), handler.clone()),
        Hook::group("SessionStart", None, handler.clone()),
        Hook::group("SubagentStart", None, handler.clone()),
        Hook::group("SubagentStop", None, handler.clone()),
        Hook::group("UserPromptSubmit", None, handler),
    ]
}
