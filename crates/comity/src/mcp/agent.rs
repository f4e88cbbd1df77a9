//! Which agent program started this process.

use std::path::Path;

/// Programs that only run other programs.
const WRAPPERS: [&str; 10] = ["sh", "bash", "dash", "zsh", "fish", "env", "timeout", "setsid", "npm", "npx"];
/// Programs that say nothing about what they run.
const RUNTIMES: [&str; 6] = ["node", "bun", "deno", "python", "python3", "MainThread"];

/// The agent program: the nearest ancestor that is no mere wrapper.
pub(super) fn program() -> Option<u32> {
    let own = std::process::id();
    let mut line = comity_app::processes::lineage(own).into_iter().skip(1);
    line.find(|process| comm(process.pid).is_none_or(|name| !WRAPPERS.contains(&name.as_str())))
        .map(|process| process.pid)
}

/// A name for the agent: what was asked for, else what started this.
pub(super) fn name(asked: Option<String>, program: Option<u32>) -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(name) = asked.or_else(|| set("COMITY_NAME")) {
        return name;
    }
    let known = [
        ("CLAUDECODE", "claude"),
        ("GEMINI_CLI", "gemini"),
        ("CODEX_HOME", "codex"),
        ("OPENCODE", "opencode"),
    ];
    if let Some((_, name)) = known.iter().find(|(variable, _)| set(variable).is_some()) {
        return (*name).to_owned();
    }
    let comm = program.and_then(comm).filter(|name| !RUNTIMES.contains(&name.as_str()));
    comm.unwrap_or_else(|| "agent".into())
}

/// The session id that the program gave itself.
pub(super) fn session() -> Option<String> {
    ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"].iter().find_map(|name| std::env::var(name).ok())
}

fn comm(pid: u32) -> Option<String> {
    let text = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("comm")).ok()?;
    Some(text.trim().to_owned())
}
