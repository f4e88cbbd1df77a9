//! Copilot CLI: hooks in a file of our own, servers in `mcp-config.json`.

use super::hooks::Hook;
use super::piece::Piece;
use super::{HOOK_SECONDS_MAX, SERVER_ARGUMENTS};

pub(super) fn hooks(line: &str) -> Vec<Hook> {
    let entry = Piece::Members(vec![
        ("type", Piece::text("command")),
        ("bash", Piece::text(line)),
        ("timeoutSec", Piece::Number(HOOK_SECONDS_MAX)),
    ]);
    vec![Hook { event: "preToolUse", entry: entry.clone() }, Hook { event: "postToolUse", entry }]
}

pub(super) fn server(comity: &str) -> Piece {
    Piece::Members(vec![
        ("type", Piece::text("local")),
        ("command", Piece::text(comity)),
        ("args", Piece::texts(&SERVER_ARGUMENTS)),
        ("tools", Piece::texts(&["*"])),
    ])
}
