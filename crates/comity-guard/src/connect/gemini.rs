//! Gemini CLI: hooks and servers in one `settings.json`.

use super::HOOK_SECONDS_MAX;
use super::hooks::Hook;
use super::line::HookLines;
use super::piece::Piece;

/// An expression matches anywhere in a name unless it is anchored. Our own tools are included: `mcp_comity_x_y` may
/// belong to a server called `comity_x`.
const JUDGED: &str = "^(write_file|replace|run_shell_command|read_file|read_many_files|search_file_content|grep_search|mcp_.*)$";
/// After every call: agents that only read get mail, too.
const ALL: &str = ".*";

pub(super) fn hooks(lines: &HookLines) -> Vec<Hook> {
    let handler = |line: &str| {
        Piece::Members(vec![
            ("type", Piece::text("command")),
            ("command", Piece::text(line)),
            // In milliseconds.
            ("timeout", Piece::Number(HOOK_SECONDS_MAX * 1_000)),
        ])
    };
    vec![
        Hook::group("BeforeTool", Some(JUDGED), handler(&lines.gate)),
        Hook::group("AfterTool", Some(ALL), handler(&lines.plain)),
    ]
}
