//! Judges one tool call of an agent: the payload goes to the server as it is, and its answer is printed.

use std::io::{Read, Write};
use std::process::ExitCode;

use serde_json::Value;

use crate::question::HookQuestion;
use crate::server::{HookClient, quoted};
use crate::{BLOCKED, failing, say};

/// Bytes of a payload, which includes whole files that are written.
const PAYLOAD_BYTES_MAX: u64 = 15 * 1024 * 1024;

pub(crate) fn judge(client: Option<&str>) -> ExitCode {
    match verdict(client) {
        Ok(code) => code,
        Err(problem) if failing::is_open() => {
            say(&format!("comity-hook: {problem}; guard.policy is open, so the call goes ahead"));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            say(&format!(
                "Comity could not judge this call, so it is blocked: {problem}\n  see what is wrong with: comity doctor"
            ));
            ExitCode::from(BLOCKED)
        }
    }
}

fn verdict(client: Option<&str>) -> Result<ExitCode, String> {
    let mut payload = Vec::new();
    let mut stdin = std::io::stdin().take(PAYLOAD_BYTES_MAX + 1);
    stdin.read_to_end(&mut payload).map_err(|error| format!("standard input: {error}"))?;
    if payload.len() as u64 > PAYLOAD_BYTES_MAX {
        return Err(format!("the call has more than {PAYLOAD_BYTES_MAX} bytes"));
    }
    // A request is one line. In JSON a line break is never part of a value.
    payload.iter_mut().filter(|byte| **byte == b'\n' || **byte == b'\r').for_each(|byte| *byte = b' ');
    let payload = String::from_utf8(payload).map_err(|_| "the call is not UTF-8".to_owned())?;
    if payload.trim().is_empty() {
        return Err("there is nothing on standard input".into());
    }
    let client =
        client.map(|client| quoted(client).map(|client| format!("\"client\":{client},"))).transpose()?;
    let input = format!("{{{}\"payload\":{payload}}}", client.unwrap_or_default());
    let mut server = HookClient::find()?;
    let reply = server.ask(HookQuestion::Call, input)?;
    if let Some(error) = reply.error {
        let error: Value = serde_json::from_str(error.get()).map_err(|error| error.to_string())?;
        return Err(error["message"].as_str().unwrap_or("the server refused").to_owned());
    }
    let said = reply.ok.ok_or("an answer without output")?;
    let said: Value = serde_json::from_str(said.get()).map_err(|error| error.to_string())?;
    let exit = said["exit"].as_u64().and_then(|exit| u8::try_from(exit).ok()).ok_or("no exit code")?;
    let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    let print = |to: &mut dyn Write, text: String| to.write_all(text.as_bytes()).and_then(|()| to.flush());
    let printed = print(&mut std::io::stdout(), text("stdout"));
    if let Some(proof) = said["proof"].as_str() {
        // It contains mail. If this gets lost the mail is offered again, marked as such.
        let told = format!("{{\"proof\":{},\"returned\":{}}}", quoted(proof)?, printed.is_err());
        let _ = server.ask(HookQuestion::MailArrived, told);
    }
    printed.map_err(|error| format!("standard output: {error}"))?;
    print(&mut std::io::stderr(), text("stderr")).map_err(|error| format!("standard error: {error}"))?;
    Ok(ExitCode::from(exit))
}
