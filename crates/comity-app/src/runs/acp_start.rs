//! What is run for an agent that speaks ACP: the command, and what it is told first.

use comity_core::AgentId;
use comity_core::permissions::mode_of;
use comity_core::roles::Mode;
use comity_core::runs::AgentRun;
use comity_runner::{AcpServer, AcpStart, AcpVariable};

use super::launch::model_of;
use super::prompt::FirstPrompt;
use crate::application::Application;
use crate::tokens::Token;

/// The clients that speak ACP, with the command that starts each so.
const ACP_COMMANDS: [(&str, &[&str]); 5] = [
    ("claude", &["claude-agent-acp"]),
    ("codex", &["codex-acp"]),
    ("gemini", &["gemini", "--acp"]),
    ("opencode", &["opencode", "acp"]),
    ("copilot", &["copilot", "--acp"]),
];
/// The first words to an agent that goes on with its session.
const GO_ON: &str = "You were interrupted. Go on where you were; look first at what is there, for your last steps may be undone \
                     or half done.";

/// The command that starts a client so.
pub(super) fn command(client: &str) -> Result<Vec<String>, String> {
    let known = ACP_COMMANDS.iter().find(|(name, _)| *name == client);
    let (_, words) = known.ok_or_else(|| format!("Comity can't start {client} by its name"))?;
    Ok(words.iter().map(|word| (*word).to_owned()).collect())
}

/// What an agent that speaks ACP is told: Comity's tools, its session, what it is asked to do.
pub(super) fn start(
    app: &Application,
    run: &AgentRun,
    agent: AgentId,
    token: &Token,
) -> Result<AcpStart, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let variable = |name: &str, value: String| AcpVariable { name: name.into(), value };
    let server = AcpServer {
        name: "comity".into(),
        command: own.display().to_string(),
        args: vec!["mcp".into()],
        env: vec![
            variable("COMITY_TOKEN", token.reveal().into()),
            variable("COMITY_HOME", app.home().display().to_string()),
        ],
    };
    let world = app.engine().world();
    Ok(AcpStart {
        servers: vec![server],
        session: run.session.as_deref().map(str::to_owned),
        prompt: FirstPrompt::of(&world, &run.spec, mode_of(&world, agent)).whole(),
        resume_prompt: Some(GO_ON.to_owned()),
        modes: modes(mode_of(&world, agent)).iter().map(|mode| (*mode).to_owned()).collect(),
        model: model_of(&world, run),
    })
}

/// What clients call a mode of ours, the one to be in first. Codex asks nobody but a model of its own, unless it is in one of these.
fn modes(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Plan => &["plan", "read-only"],
        Mode::Ask => &["read-only"],
        Mode::AcceptEdits => &["acceptEdits", "autoEdit", "workspace-write"],
        Mode::Full => &["bypassPermissions", "yolo", "agent-full-access"],
    }
}
