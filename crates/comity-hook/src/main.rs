//! `comity-hook check PATH`: may this path be edited? One connection, one question, one line, an exit code.
//!
//! It runs before every edit of every agent, so its start is its cost: no argument parser, no settings, no runtime.
//! Exit codes: 0 free, 3 locked by somebody else, 1 the server could not be asked, 2 usage.

use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use comity_wire::{Client, Fault, Home, Request};

/// How long the server may take; agents' programs wait for hooks only so long.
const ANSWER_MAX: Duration = Duration::from_secs(5);

const FAULT: u8 = 1;
const USAGE: u8 = 2;
const REFUSED: u8 = 3;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let path = match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(verb), Some(path), None) if verb == "check" => path,
        _ => {
            say("usage: comity-hook check PATH");
            return ExitCode::from(USAGE);
        }
    };
    match check(&path.to_string_lossy()) {
        Ok(code) => code,
        Err(problem) => {
            say(&format!("comity-hook: {problem}\n  see what is wrong with: comity doctor"));
            ExitCode::from(FAULT)
        }
    }
}

fn check(path: &str) -> Result<ExitCode, String> {
    let home = Home::from_env().map_err(|error| error.to_string())?;
    let mut client = Client::connect(&home.socket()).map_err(|error| {
        format!("no server at {} ({error}); start it with: comity up", home.socket().display())
    })?;
    client.set_timeout(Some(ANSWER_MAX)).map_err(|error| error.to_string())?;
    let input = serde_json::value::RawValue::from_string(format!("{{\"path\":{}}}", quoted(path)?))
        .map_err(|error| error.to_string())?;
    let token = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
    let cwd = std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
    let reply = client
        .call(Request {
            op: Cow::Borrowed("check"),
            input: Some(&input),
            cwd: Some(cwd.to_string_lossy()),
            token: token.map(Cow::Owned),
            ..Request::empty()
        })
        .map_err(|error| error.to_string())?;
    let Some(error) = reply.error else { return Ok(ExitCode::SUCCESS) };
    let fault: Fault = serde_json::from_str(error.get()).map_err(|error| error.to_string())?;
    say(&format!("{}\n  {}", fault.message, fault.hint));
    Ok(ExitCode::from(if fault.code == "locked" { REFUSED } else { FAULT }))
}

fn quoted(text: &str) -> Result<String, String> {
    serde_json::to_string(text).map_err(|error| error.to_string())
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
