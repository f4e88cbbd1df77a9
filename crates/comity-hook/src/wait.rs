//! Wakes an idle agent: its program runs this in the background, and begins a turn when it ends with what it has found.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use crate::BLOCKED;
use crate::question::HookQuestion;
use crate::server::{HookClient, quoted};

/// How long one question waits.
const WAIT: Duration = Duration::from_secs(300);
/// How much longer its answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Waits until something comes; nothing is ever wrong with an agent that nobody wakes.
pub(crate) fn for_mail() -> ExitCode {
    // A program without a user at it waits for its hooks before it ends itself.
    if !std::env::var("CLAUDE_CODE_ENTRYPOINT").is_ok_and(|how| how == "cli") {
        return ExitCode::SUCCESS;
    }
    let _ = std::io::stdin().take(1024 * 1024).read_to_end(&mut Vec::new());
    match wait() {
        Ok(Awaited::Mail) => ExitCode::from(BLOCKED),
        Ok(Awaited::Nothing) | Err(_) => ExitCode::SUCCESS,
    }
}

enum Awaited {
    /// It is on standard error, where the program reads it.
    Mail,
    /// Somebody else waits now, or nobody has to.
    Nothing,
}

fn wait() -> Result<Awaited, String> {
    let parent = std::os::unix::process::parent_id();
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
        if said["goes_on"] != true || std::os::unix::process::parent_id() != parent {
            return Ok(Awaited::Nothing);
        }
        if let (Some(text), Some(proof)) = (said["text"].as_str(), said["proof"].as_str()) {
            let told = format!("{{\"proof\":{}}}", quoted(proof)?);
            writeln!(std::io::stderr(), "{text}").map_err(|error| error.to_string())?;
            let _ = server.ask(HookQuestion::MailArrived, told);
            return Ok(Awaited::Mail);
        }
        begins = false;
    }
}
