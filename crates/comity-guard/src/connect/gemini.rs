//! Gemini CLI: hooks and servers in one `settings.json`.

use super::HOOK_SECONDS_MAX;
use super::hooks::Hook;
use super::piece::Piece;

const WRITING: &str = "write_file|replace|run_shell_command";
const TOUCHING: &str = "write_file|replace|run_shell_command|read_file|read_many_files";

pub(super) fn hooks(line: &str) -> Vec<Hook> {
    let handler = Piece::Members(vec![
        ("type", Piece::text("command")),
        ("command", Piece::text(line)),
        // It counts in milliseconds.
        ("timeout", Piece::Number(HOOK_SECONDS_MAX * 1_000)),
    ]);
    vec![
        Hook::group("BeforeTool", Some(WRITING), handler.clone()),
        Hook::group("AfterTool", Some(TOUCHING), handler),
    ]
}
