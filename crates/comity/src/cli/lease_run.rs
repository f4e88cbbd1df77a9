//! `comity lease run`: a command that has a lease while it runs.
//!
//! This process takes the lease for itself and then becomes the command: whatever ends the command ends the process
//! that the lease is bound to, and the server frees it. Signals, the terminal and the exit code are the command's
//! own, and no child could be left behind.

use comity_app::catalog::name_of;
use comity_app::operations::pools::Lease;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use comity_wire::Home;
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use crate::session::{ServerAnswer, Session, SessionError};

/// As in shells, if there is no such program.
const NOT_FOUND: u8 = 127;
/// As in shells, if the program cannot be run.
const NOT_RUN: u8 = 126;
/// Tells the command which lease it has.
const LEASE_VARIABLE: &str = "COMITY_LEASE";
/// Characters of the command that others see as the reason.
const REASON_CHARS_MAX: usize = 200;

pub(super) fn commands(lease: Command) -> Command {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    lease.subcommand(
        Command::new("run")
            .about("Run a command with a lease, which ends when the command does, however it ends")
            .arg(Arg::new("pool").value_name("POOL").required(true).help("Name of the pool"))
            .arg(option("wait", "SPAN", "Wait in line up to this long (e.g. 5m)"))
            .arg(option("reason", "TEXT", "What it is for, so that others know; the command if omitted"))
            .arg(option("ttl", "SPAN", "How long the lease lasts at most"))
            .arg(
                Arg::new("command")
                    .value_name("COMMAND")
                    .required(true)
                    .num_args(1..)
                    .last(true)
                    .value_parser(clap::value_parser!(OsString))
                    .help("The program and its arguments, after --"),
            ),
    )
}

/// Takes the lease, and becomes the command.
pub(super) fn run(home: Home, matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let command: Vec<OsString> = matches.get_many("command").unwrap_or_default().cloned().collect();
    let Some((program, arguments)) = command.split_first() else { return ExitCode::from(output::USAGE) };
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let pool = text("pool").unwrap_or_default();
    let mut input = json!({
        "pool": pool, "while_running": true, "reason": text("reason").unwrap_or_else(|| spelled(&command)),
    });
    if let Some(ttl) = text("ttl") {
        input["ttl"] = ttl.into();
    }
    let mut session = Session::from_env(home);
    let mut answer = session.ask(name_of::<Lease>(), &input);
    if let (Err(SessionError::Refused { error, fault, .. }), Some(wait)) = (&answer, text("wait"))
        && fault.code == "pool_full"
    {
        output::complain(&format!("comity: {}", waits_for(&pool, error.get())));
        input["wait"] = wait.into();
        answer = session.ask(name_of::<Lease>(), &input);
    }
    let lease = match answer {
        Ok(answer) => lease_number(&answer),
        Err(trouble) => return output::show(form, Err(trouble)),
    };
    // This closes the connection; the lease is bound to the process.
    drop(session);
    let failed = std::process::Command::new(program).args(arguments).env(LEASE_VARIABLE, lease).exec();
    output::complain(&format!("comity: {}: {failed}", program.to_string_lossy()));
    let is_missing = failed.kind() == std::io::ErrorKind::NotFound;
    ExitCode::from(if is_missing { NOT_FOUND } else { NOT_RUN })
}

/// The command as others read it.
fn spelled(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ").chars().take(REASON_CHARS_MAX).collect()
}

/// Whom the command waits for.
fn waits_for(pool: &str, error: &str) -> String {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    let holders = error["full"]["holders"].as_array().cloned().unwrap_or_default();
    let holders: Vec<&str> = holders.iter().filter_map(Value::as_str).collect();
    let waiting = error["full"]["waiting"].as_u64().unwrap_or_default();
    let whom = if holders.is_empty() { "you".to_owned() } else { holders.join(", ") };
    match waiting {
        0 => format!("waiting for {pool}, held by {whom}"),
        more => format!("waiting for {pool}, held by {whom}, behind {more} who came before"),
    }
}

fn lease_number(answer: &ServerAnswer) -> String {
    let answer: Value = serde_json::from_str(answer.json.get()).unwrap_or_default();
    answer["lease"]["id"].to_string()
}
