//! Claude Code: hooks in `settings.json`, servers in `.claude.json`.

use super::hooks::Hook;
use super::piece::Piece;
use super::{HOOK_SECONDS_MAX, SERVER_ARGUMENTS};

/// Expressions with more than names in them match anywhere in a name, so they say where it begins and ends. Our own tools
/// have rules of their own; the hook only tells which agent of the program calls them.
const WRITING: &str = "^(Write|Edit|MultiEdit|NotebookEdit|Bash|mcp__.*)$";
const TOUCHING: &str = "^(Write|Edit|MultiEdit|NotebookEdit|Read|Bash|mcp__(?!comity__).*)$";
const FAILING: &str = "^(Bash|mcp__(?!comity__).*)$";

pub(super) fn hooks(line: &str) -> Vec<Hook> {
    let handler = |gate: Option<(&'static str, Piece)>| {
        let mut members = vec![
            ("type", Piece::text("command")),
            ("command", Piece::text(line)),
            ("timeout", Piece::Number(HOOK_SECONDS_MAX)),
        ];
        members.extend(gate);
        Piece::Members(members)
    };
    vec![
        // Without it, a hook that is missing or too slow lets everything pass.
        Hook::group("PreToolUse", Some(WRITING), handler(Some(("onFailure", Piece::text("block"))))),
        Hook::group("PostToolUse", Some(TOUCHING), handler(None)),
        // A command that the kernel held up has failed: its agent is told who holds the file.
        Hook::group("PostToolUseFailure", Some(FAILING), handler(None)),
        Hook::group("SessionStart", None, handler(None)),
        Hook::group("SubagentStart", None, handler(None)),
        Hook::group("SubagentStop", None, handler(None)),
        Hook::group("UserPromptSubmit", None, handler(None)),
    ]
}

pub(super) fn server(comity: &str) -> Piece {
    Piece::Members(vec![
        ("type", Piece::text("stdio")),
        ("command", Piece::text(comity)),
        ("args", Piece::texts(&SERVER_ARGUMENTS)),
        // Otherwise the model has to search for the tools before it can use them.
        ("alwaysLoad", Piece::Flag(true)),
    ])
}
