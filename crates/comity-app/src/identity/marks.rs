//! What tells that a process belongs to an agent: a token it was started with, variables that agent programs set for
//! what they run, and their names.

use comity_core::AgentId;

use crate::application::Application;
use crate::lineage::LineageProcess;

/// Bytes of an environment that are searched.
const ENVIRONMENT_BYTES_MAX: u64 = 256 * 1024;

/// Variables that agent programs set for what they run, and people do not.
pub const VARIABLES: [(&str, &str); 9] = [
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_THREAD_ID", "Codex"),
    ("CODEX_SANDBOX", "Codex"),
    ("GEMINI_CLI", "Gemini CLI"),
    // For its hooks.
    ("GEMINI_SESSION_ID", "Gemini CLI"),
    ("OPENCODE", "OpenCode"),
    ("COPILOT_CLI", "Copilot CLI"),
    ("CURSOR_AGENT", "Cursor"),
    ("AI_AGENT", "an agent program"),
];

pub const PROGRAMS: [(&str, &str); 9] = [
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("opencode", "OpenCode"),
    ("copilot", "Copilot CLI"),
    ("cursor-agent", "Cursor"),
    ("aider", "Aider"),
    ("goose", "Goose"),
    ("amp", "Amp"),
];

#[derive(Default)]
pub(super) struct Marks {
    pub(super) token: Option<String>,
    pub(super) client: Option<&'static str>,
}

/// Reads the marks of a process as it was started: what it unset later still shows.
pub(super) fn of(link: &LineageProcess) -> Marks {
    let mut marks = Marks { client: client(&link.name), ..Marks::default() };
    let Some(environment) = environment(link.process.pid) else { return marks };
    for variable in environment.split(|byte| *byte == 0) {
        let Some(at) = variable.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = (&variable[..at], &variable[at + 1..]);
        if value.is_empty() {
            continue;
        }
        if name == b"COMITY_TOKEN" && !value.starts_with(crate::tokens::HUMAN_PREFIX.as_bytes()) {
            marks.token = Some(String::from_utf8_lossy(value).into_owned());
        } else if let Some((_, client)) = VARIABLES.iter().find(|(known, _)| known.as_bytes() == name) {
            marks.client = marks.client.or(Some(client));
        }
    }
    marks
}

impl Application {
    /// The agent that is here, and with whose token a process was started.
    pub(super) fn started_as(&self, link: &LineageProcess) -> Option<AgentId> {
        let hash = crate::tokens::hash(&of(link).token?);
        self.engine().world().agents.by_token(&hash).ok().map(|agent| agent.id)
    }
}

/// The variables that agent programs have set for a process, with their values.
pub(super) fn variables(link: &LineageProcess) -> Vec<(&'static str, Vec<u8>)> {
    let environment = environment(link.process.pid).unwrap_or_default();
    let known = |variable: &[u8]| {
        let at = variable.iter().position(|byte| *byte == b'=')?;
        let (name, _) = VARIABLES.iter().find(|(name, _)| name.as_bytes() == &variable[..at])?;
        Some((*name, variable[at + 1..].to_vec()))
    };
    environment.split(|byte| *byte == 0).filter_map(known).filter(|(_, value)| !value.is_empty()).collect()
}

pub(super) fn client(name: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, client)| *client)
}

#[cfg(target_os = "linux")]
fn environment(pid: u32) -> Option<Vec<u8>> {
    crate::processes::about(pid, "environ", ENVIRONMENT_BYTES_MAX)
}

/// Elsewhere another process's environment is not available.
#[cfg(not(target_os = "linux"))]
fn environment(_: u32) -> Option<Vec<u8>> {
    let _ = ENVIRONMENT_BYTES_MAX;
    None
}

/// Whether one user started both. A program that anybody may run as the system (`sg`, `su`) keeps its user.
pub(super) fn same_user(link: &LineageProcess, other: &LineageProcess) -> bool {
    user(link).is_none_or(|one| user(other).is_none_or(|other| one == other))
}

/// The real user of a process.
fn user(link: &LineageProcess) -> Option<u32> {
    let status = crate::processes::about(link.process.pid, "status", u64::MAX)?;
    let status = String::from_utf8_lossy(&status);
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().next()?.parse().ok()
}
