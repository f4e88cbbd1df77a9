//! Which agent program started this process.

use comity_app::lineage::{Lineage, LineageProcess};

/// Programs whose name says nothing about what they run.
const RUNTIMES: [&str; 6] = ["node", "bun", "deno", "python", "python3", "MainThread"];

/// The agent program: the nearest ancestor that is not just a wrapper, and not beyond the shell that a person types
/// into.
pub(super) fn program() -> Option<LineageProcess> {
    Lineage::of(std::process::id()).program().cloned()
}

/// The name that was requested in the environment.
pub(super) fn asked_name() -> Option<String> {
    set("COMITY_NAME")
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Characters of a client's own name that become the agent's.
const CHARS_MAX: usize = 24;

/// A name for the agent: the requested one, otherwise from what started this; `None` if neither says.
pub(super) fn name(asked: Option<String>, program: Option<&LineageProcess>) -> Option<String> {
    if let Some(name) = asked.or_else(asked_name) {
        return Some(name);
    }
    let known = [
        ("CLAUDECODE", "claude"),
        ("GEMINI_CLI", "gemini"),
        ("CODEX_HOME", "codex"),
        ("OPENCODE", "opencode"),
        ("COPILOT_AGENT_SESSION_ID", "copilot"),
    ];
    if let Some((_, name)) = known.iter().find(|(variable, _)| set(variable).is_some()) {
        return Some((*name).to_owned());
    }
    program.map(|link| link.name.clone()).filter(|name| !RUNTIMES.contains(&name.as_str()))
}

/// The agent's name for a client's name: `my-editor` for "My Editor 2.1".
pub(super) fn name_of_client(said: &str) -> String {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = said.split(|c: char| !is_of_name(c)).filter(|word| word.chars().any(char::is_alphabetic));
    let name = words.collect::<Vec<_>>().join("-").to_lowercase();
    let name: String = name.trim_start_matches('_').chars().take(CHARS_MAX).collect();
    let name = name.trim_end_matches('-');
    if name.is_empty() { "agent".into() } else { name.into() }
}

/// The program's own session id.
pub(super) fn session() -> Option<String> {
    ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "COPILOT_AGENT_SESSION_ID"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::name_of_client;

    #[test]
    fn what_a_client_calls_itself_becomes_a_name() {
        for (said, name) in [
            ("zed", "zed"),
            ("My Editor 2.1", "my-editor"),
            ("io.github.Some_Thing/client", "io-github-some_thing-cli"),
            ("__x", "x"),
            ("7", "agent"),
            ("", "agent"),
        ] {
            assert_eq!(name_of_client(said), name, "{said}");
            assert_eq!(comity_core::agents::check_name("name", name), Ok(()));
        }
    }
}
