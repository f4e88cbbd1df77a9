//! Which agent programs are on this machine.

use std::path::PathBuf;

use comity_guard::Dialect;
use comity_guard::connect::places;

use super::User;

/// The names under which a program is started.
fn names(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::ClaudeCode => &["claude"],
        Dialect::Codex => &["codex"],
        Dialect::GeminiCli => &["gemini"],
        Dialect::CopilotCli => &["copilot"],
        Dialect::Cursor => &["cursor", "cursor-agent"],
        Dialect::OpenCode => &["opencode"],
    }
}

/// Whether the program can be started, or was: then its directory of settings is there.
pub(crate) fn is_here(dialect: Dialect, user: &User) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let is_program = names(dialect).iter().any(|name| dirs.iter().any(|dir| dir.join(name).is_file()));
    is_program
        || places(dialect).iter().any(|place| {
            let file = place.file(&user.home, User::variable);
            // The home directory itself says nothing.
            file.parent().is_some_and(|dir| dir != user.home && dir.is_dir())
        })
}
