//! Which agent program started this process.

use comity_app::lineage::{Lineage, LineageProcess};

/// Programs that say nothing about what they run.
const RUNTIMES: [&str; 6] = ["node", "bun", "deno", "python", "python3", "MainThread"];

/// The agent program: the nearest ancestor that is no mere wrapper, and not beyond the shell that a person types into.
pub(super) fn program() -> Option<LineageProcess> {
    Lineage::of(std::process::id()).program().cloned()
}

/// The name that was asked for in the environment.
pub(super) fn asked_name() -> Option<String> {
    set("COMITY_NAME")
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A name for the agent: what was asked for, else what started this.
pub(super) fn name(asked: Option<String>, program: Option<&LineageProcess>) -> String {
    if let Some(name) = asked.or_else(asked_name) {
        return name;
    }
    let known = [
        ("CLAUDECODE", "claude"),
        ("GEMINI_CLI", "gemini"),
        ("CODEX_HOME", "codex"),
        ("OPENCODE", "opencode"),
        ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ];
    if let Some((_, name)) = known.iter().find(|(variable, _)| set(variable).is_some()) {
        return (*name).to_owned();
    }
    let comm = program.map(|link| link.name.clone()).filter(|name| !RUNTIMES.contains(&name.as_str()));
    comm.unwrap_or_else(|| "agent".into())
}

/// The session id that the program gave itself.
pub(super) fn session() -> Option<String> {
    ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "COPILOT_AGENT_SESSION_ID"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
}
