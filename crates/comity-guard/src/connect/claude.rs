//! Claude Code: hooks in `settings.json`, servers in `.claude.json`.

use super::hooks::Hook;
use super::line::HookLines;
use super::piece::Piece;
use super::servers::environment;
use super::{HOOK_SECONDS_MAX, IDLE_SECONDS_MAX, ProgramPaths, SERVER_ARGUMENTS};

/// Expressions with more than names in them match anywhere in a name, so they need anchors. Our own tools have rules
/// of their own; for those the hook only tells which agent of the program calls them. Reads are judged, too: the log
/// and others' letters are off limits for agents.
const JUDGED: &str = "^(Write|Edit|MultiEdit|NotebookEdit|Bash|Read|NotebookRead|Grep|mcp__.*)$";
/// After every call: agents that only read get mail, too.
const ALL: &str = "^(?!mcp__comity__).*$";
const FAILING: &str = "^(Bash|mcp__(?!comity__).*)$";

pub(super) fn hooks(lines: &HookLines) -> Vec<Hook> {
    let handler = |gate: Option<(&'static str, Piece)>| {
        let line = if gate.is_some() { &lines.gate } else { &lines.plain };
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
        Hook::group("PreToolUse", Some(JUDGED), handler(Some(("onFailure", Piece::text("block"))))),
        Hook::group("PostToolUse", Some(ALL), handler(None)),
        // A command that the kernel blocked has failed: tell its agent who holds the file.
        Hook::group("PostToolUseFailure", Some(FAILING), handler(None)),
        Hook::group("SessionStart", None, handler(None)),
        Hook::group("SubagentStart", None, handler(None)),
        Hook::group("SubagentStop", None, handler(None)),
        Hook::group("UserPromptSubmit", None, handler(None)),
        // The first delivers what has arrived; the second waits in the background, and wakes the agent when something
        // comes.
        Hook::groups("Stop", vec![handler(None), waiter(&lines.wait)]),
    ]
}

fn waiter(line: &str) -> Piece {
    Piece::Members(vec![
        ("type", Piece::text("command")),
        ("command", Piece::text(line)),
        ("timeout", Piece::Number(IDLE_SECONDS_MAX)),
        ("async", Piece::Flag(true)),
        ("asyncRewake", Piece::Flag(true)),
    ])
}

pub(super) fn server(connection: &ProgramPaths) -> Piece {
    let mut members = vec![
        ("type", Piece::text("stdio")),
        ("command", Piece::text(&connection.comity)),
        ("args", Piece::texts(&SERVER_ARGUMENTS)),
    ];
    members.extend(environment("env", connection));
    // Otherwise the model has to search for the tools before it can use them.
    members.push(("alwaysLoad", Piece::Flag(true)));
    Piece::Members(members)
}
