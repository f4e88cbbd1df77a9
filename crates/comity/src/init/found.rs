//! Which agent programs are on this machine.

use std::path::PathBuf;

use comity_guard::Dialect;
use comity_guard::connect::places;

use super::User;

/// The names under which a program is started.
pub(crate) fn names(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::ClaudeCode => &["claude"],
        Dialect::Codex => &["codex"],
        Dialect::GeminiCli => &["gemini"],
        Dialect::CopilotCli => &["copilot"],
        Dialect::Cursor => &["cursor", "cursor-agent"],
        Dialect::OpenCode => &["opencode"],
    }
}

/// The program that a shell would start.
pub(crate) fn program(dialect: Dialect) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = names(dialect).iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
    all.into_iter().find(|program| program.is_file())
}

/// Whether the program can be started, or was: then its settings directory exists.
pub(crate) fn is_here(dialect: Dialect, user: &User) -> bool {
    program(dialect).is_some()
        || places(dialect).iter().any(|place| {
            let file = user.file(place);
            // The home directory itself says nothing.
            file.parent().is_some_and(|dir| dir != user.home && dir.is_dir())
        })
}
