//! Wakes an idle agent: its program runs this in the background, and begins a turn when it exits with what it has
//! found.

use std::io::{Read, Write};
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::BLOCKED;
use crate::question::HookQuestion;
use crate::server::{HookClient, quoted};

/// How long one question waits.
const WAIT: Duration = Duration::from_secs(300);
/// How much longer its answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// The program that is woken by a message in its session's queue.
const CODEX: &str = "codex";
/// What is put there, as if its user had typed it. The mail is not something that its user said: its hook shows that
/// separately.
const QUEUED: &str =
    "Comity: something has come for you. It is shown with this message; if it is not: comity next";

/// Waits until something comes; nothing is ever wrong with an agent that nobody wakes.
pub(crate) fn for_mail(client: &str) -> ExitCode {
    let mut payload = Vec::new();
    // A program without a user waits for its hooks before it exits; Codex does not wait for this one.
    if client != CODEX && !std::env::var("CLAUDE_CODE_ENTRYPOINT").is_ok_and(|how| how == "cli") {
        return ExitCode::SUCCESS;
    }
    let _ = std::io::stdin().take(1024 * 1024).read_to_end(&mut payload);
    let payload: Value = serde_json::from_slice(&payload).unwrap_or_default();
    let way = match (client, payload["session_id"].as_str()) {
        (CODEX, Some(session)) => Wakes::Queue(session),
        (CODEX, None) => return ExitCode::SUCCESS,
        (_, _) => Wakes::StandardError,
    };
    match wait(way) {
        Ok(Awaited::Mail) => ExitCode::from(BLOCKED),
        Ok(Awaited::Nothing) | Err(_) => ExitCode::SUCCESS,
    }
}

/// How a program is woken.
#[derive(Clone, Copy)]
enum Wakes<'a> {
    /// It reads standard error when its hook exits.
    StandardError,
    /// It begins a turn with what is in this session's queue.
    Queue(&'a str),
}

/// Makes Codex begin a turn. Its own program is asked: it knows where its queue is.
fn queue(session: &str) -> Result<(), String> {
    let parent = std::fs::read_link(format!("/proc/{}/exe", parent_id())).ok();
    let program = parent.filter(|program| program.file_name().is_some_and(|name| name == CODEX));
    let program = program.unwrap_or_else(|| PathBuf::from(CODEX));
    let mut command = Command::new(program);
    command.args(["queue", "--thread", session, "--message", QUEUED]);
    let done = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    done.map(|_| ()).map_err(|error| error.to_string())
}

enum Awaited {
    /// It is on standard error, where the program reads it.
    Mail,
    /// Somebody else waits now, or nobody has to, or the agent was told otherwise.
    Nothing,
}

fn wait(way: Wakes<'_>) -> Result<Awaited, String> {
    let parent = parent_id();
    let waiter = quoted(&format!("{parent}-{}", std::process::id()))?;
    let mut server = HookClient::find()?;
    let mut begins = true;
    loop {
        server.wait_as_long_as(WAIT + ANSWER_MAX)?;
        let wait = WAIT.as_secs();
        let input = format!("{{\"waiter\":{waiter},\"begins\":{begins},\"wait\":\"{wait}s\"}}");
        let reply = server.ask(HookQuestion::Wait, input)?;
        let said = reply.ok.ok_or("an answer without output")?;
        let said: Value = serde_json::from_str(said.get()).map_err(|error| error.to_string())?;
        // Whoever started this has ended: nobody reads it.
        if said["goes_on"] != true || parent_id() != parent {
            return Ok(Awaited::Nothing);
        }
        if let (Some(text), Some(proof)) = (said["text"].as_str(), said["proof"].as_str()) {
            let proof = quoted(proof)?;
            match way {
                Wakes::StandardError => {
                    writeln!(std::io::stderr(), "{text}").map_err(|error| error.to_string())?;
                    let _ = server.ask(HookQuestion::MailArrived, format!("{{\"proof\":{proof}}}"));
                    return Ok(Awaited::Mail);
                }
                Wakes::Queue(session) => {
                    // The next turn's own hook delivers it.
                    let returned = format!("{{\"proof\":{proof},\"returned\":true}}");
                    let _ = server.ask(HookQuestion::MailArrived, returned);
                    queue(session)?;
                    return Ok(Awaited::Nothing);
                }
            }
        }
        begins = false;
    }
}
