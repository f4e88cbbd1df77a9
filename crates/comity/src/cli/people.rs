//! What a person does at a terminal: passphrases are asked for there, and a first token is laid down.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;

use clap::Command;
use comity_wire::Home;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use super::output::{self, Form};
use crate::serve::state_dir;
use crate::session::{Session, Trouble};

/// Adds what is no operation.
pub(super) fn commands(token: Command) -> Command {
    token.subcommand(
        Command::new("first").about(
            "Makes the first token of a new state directory, on a machine without a terminal such as CI",
        ),
    )
}

/// Makes the first token of a state directory that was never used.
pub(super) fn first_token(home: &Home, form: Form) -> ExitCode {
    match state_dir::lay_down_first_token(home) {
        Ok(token) => {
            match form {
                Form::Json => output::print(&json!({ "name": "first", "token": token }).to_string()),
                Form::Text => output::print(&token),
            }
            ExitCode::SUCCESS
        }
        Err(problem) => output::fault(form, &problem),
    }
}

/// Logs in; the passphrase is asked for if one is set.
pub(super) fn login(home: Home, form: Form) -> ExitCode {
    let mut session = Session::from_env(home);
    let answer = match session.ask("login", &json!({})) {
        Err(Trouble::Refused(_, fault)) if fault.message == "a passphrase is set" => {
            match ask("Passphrase: ") {
                Ok(passphrase) => session.ask("login", &json!({ "passphrase": passphrase })),
                Err(problem) => return output::fault(form, &problem),
            }
        }
        other => other,
    };
    output::show(form, answer)
}

/// Sets or removes the passphrase.
pub(super) fn passphrase(home: Home, remove: bool, form: Form) -> ExitCode {
    let mut session = Session::from_env(home);
    if remove {
        return output::show(form, session.ask("passphrase_set", &json!({ "remove": true })));
    }
    let twice = ask("New passphrase: ").and_then(|one| Ok((one, ask("Again: ")?)));
    match twice {
        Ok((one, again)) if one == again => {
            output::show(form, session.ask("passphrase_set", &json!({ "passphrase": one })))
        }
        Ok(_) => output::fault(form, "the two are not the same; nothing was changed"),
        Err(problem) => output::fault(form, &problem),
    }
}

/// Asks at the terminal, without showing what is typed.
fn ask(prompt: &str) -> Result<String, String> {
    let said =
        |error: std::io::Error| format!("a passphrase is typed at a terminal, and there is none: {error}");
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(said)?;
    terminal.write_all(prompt.as_bytes()).map_err(said)?;
    let _silent = Silent::at(&terminal)?;
    let mut line = String::new();
    BufReader::new(&terminal).read_line(&mut line).map_err(said)?;
    let _ = (&terminal).write_all(b"\n");
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// While it lives the terminal shows nothing of what is typed.
struct Silent<'a> {
    terminal: &'a File,
    before: rustix::termios::Termios,
}

impl Silent<'_> {
    fn at(terminal: &File) -> Result<Silent<'_>, String> {
        let said = |error: rustix::io::Errno| format!("the terminal cannot be silenced: {error}");
        let before = tcgetattr(terminal).map_err(said)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal, OptionalActions::Flush, &silent).map_err(said)?;
        Ok(Silent { terminal, before })
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
    }
}
