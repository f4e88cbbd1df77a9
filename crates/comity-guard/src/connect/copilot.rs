//! Copilot CLI: hooks in a file of our own, servers in `mcp-config.json`.

use super::hooks::Hook;
use super::line::HookLines;
use super::piece::Piece;
use super::servers::environment;
use super::{HOOK_SECONDS_MAX, ProgramPaths, SERVER_ARGUMENTS};

pub(super) fn hooks(lines: &HookLines) -> Vec<Hook> {
    let hook = |event, line: &str| Hook {
        event,
        entry: Piece::Members(vec![
            ("type", Piece::text("command")),
            ("bash", Piece::text(line)),
            ("timeoutSec", Piece::Number(HOOK_SECONDS_MAX)),
        ]),
    };
    // It blocks by itself when a hook is missing, without saying how to get out. `comity-confine.sh` knows both lines
    // by heart.
    let events = ["postToolUse", "sessionStart", "userPromptSubmitted", "agentStop"];
    let others = events.into_iter().map(|event| hook(event, &lines.plain));
    std::iter::once(hook("preToolUse", &lines.gate)).chain(others).collect()
}

pub(super) fn server(connection: &ProgramPaths) -> Piece {
    let mut members = vec![
        ("type", Piece::text("local")),
        ("command", Piece::text(&connection.comity)),
        ("args", Piece::texts(&SERVER_ARGUMENTS)),
    ];
    members.extend(environment("env", connection));
    members.push(("tools", Piece::texts(&["*"])));
    Piece::Members(members)
}
