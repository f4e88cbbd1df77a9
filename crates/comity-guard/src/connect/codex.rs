//! Codex: hooks in `hooks.json`, in Claude Code's form; its servers are in TOML.

use super::hooks::Hook;
use super::line::HookLines;
use super::piece::Piece;
use super::{HOOK_SECONDS_MAX, IDLE_SECONDS_MAX};

/// Shell commands have several names, depending on the model. After `mcp__`, everything that does not begin with
/// `comity__` is spelled out letter by letter: Codex ignores hooks whose expression has a lookahead.
const JUDGED: &str = "^(apply_patch|Bash|shell|local_shell|shell_command|exec_command|read_file|grep_files|view_image|\
    mcp__([^c]|c[^o]|co[^m]|com[^i]|comi[^t]|comit[^y]|comity[^_]|comity_[^_]).*)$";

/// After every call: agents that only read get mail, too.
const ALL: &str = "^([^m].*|m([^c].*)?|mc([^p].*)?|mcp([^_].*)?|mcp_([^_].*)?|\
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
    let waiter = Piece::Members(vec![
        ("type", Piece::text("command")),
        ("command", Piece::text(&lines.wait)),
        ("timeout", Piece::Number(IDLE_SECONDS_MAX)),
        ("async", Piece::Flag(true)),
    ]);
    vec![
        Hook::group("PreToolUse", Some(JUDGED), gate),
        Hook::group("PostToolUse", Some(ALL), handler.clone()),
        Hook::group("SessionStart", None, handler.clone()),
        Hook::group("SubagentStart", None, handler.clone()),
        Hook::group("SubagentStop", None, handler.clone()),
        Hook::group("UserPromptSubmit", None, handler.clone()),
        // The first delivers what has arrived; the second waits in the background, and wakes the agent when something
        // comes.
        Hook::groups("Stop", vec![handler, waiter]),
    ]
}
