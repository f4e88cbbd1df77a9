//! Cursor: hooks in `hooks.json`, servers in `mcp.json`.

use super::HOOK_SECONDS_MAX;
use super::hooks::Hook;
use super::line::HookLines;
use super::piece::Piece;

pub(super) fn hooks(lines: &HookLines) -> Vec<Hook> {
    let entry = |gate: Option<(&'static str, Piece)>| {
        let line = if gate.is_some() { &lines.gate } else { &lines.plain };
        let mut members = vec![("command", Piece::text(line)), ("timeout", Piece::Number(HOOK_SECONDS_MAX))];
        members.extend(gate);
        Piece::Members(members)
    };
    let closed = || Some(("failClosed", Piece::Flag(true)));
    vec![
        Hook { event: "preToolUse", entry: entry(closed()) },
        Hook { event: "beforeShellExecution", entry: entry(closed()) },
        Hook { event: "afterFileEdit", entry: entry(None) },
    ]
}
