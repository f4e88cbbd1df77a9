//! What a person does at a terminal: enters passphrases, and lays down a first token.

use comity_app::catalog::CatalogEntry;
use comity_app::operation::AtTerminal;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;

use clap::Command;
use comity_wire::Home;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use super::server;
use crate::serve::state_dir;
use crate::session::{ServerAnswer, Session, SessionError};

/// What to do if no passphrase can be typed.
const TERMINAL_HINT: &str = "run it in a terminal; a script uses a token: comity token create NAME";

/// Adds commands that are not operations.
pub(super) fn commands(token: Command) -> Command {
    token.subcommand(
        Command::new("first").about(
            "Create the first token of a new state directory, on a machine without a terminal such as CI",
        ),
    )
}

/// Makes the first token of a state directory that was never used.
pub(super) fn first_token(home: &Home, form: OutputFormat) -> ExitCode {
    if comity_app::identity::is_below_an_agent_program() {
        let problem = "an agent program runs this, and the first token is yours";
        return output::refused(form, problem, "run it outside of the agent's program");
    }
    if comity_app::log::is_used(home.path()) {
        let problem = "this state directory has been used";
        return output::refused(
            form,
            problem,
            "from a terminal, make a token with: comity token create NAME",
        );
    }
    // A mere look may have started a server, which would not see the token.
    let _alone = match server::take_alone(home, form) {
        Ok(alone) => alone,
        Err(code) => return code,
    };
    match state_dir::lay_down_first_token(home) {
        Ok(token) => {
            match form {
                OutputFormat::Json => output::print(&json!({ "name": "first", "token": token }).to_string()),
                OutputFormat::Text => output::print(&token),
            }
            ExitCode::SUCCESS
        }
        Err(problem) => output::fault(form, &problem),
    }
}

/// The server's answer, or why nothing could be typed and what to do then.
type TypedAnswer = Result<Result<ServerAnswer, SessionError>, (String, &'static str)>;

/// Asks; and for the passphrase at the terminal only once the server says that it takes one.
pub(super) fn ask_with_passphrase(session: &mut Session, entry: &CatalogEntry, input: &Value) -> TypedAnswer {
    let is_new = entry.at_terminal == AtTerminal::AsksNewPassphrase;
    match session.ask(entry.name, input) {
        Err(SessionError::Refused { fault, .. }) if fault.code == "bad_input" && is_new => {}
        Err(SessionError::Refused { fault, .. }) if fault.message == "a passphrase is set" && !is_new => {}
        other => return Ok(other),
    }
    let untyped = |problem| (problem, TERMINAL_HINT);
    let passphrase = match is_new {
        true => type_twice()?,
        false => ask("Passphrase: ").map_err(untyped)?,
    };
    Ok(session.ask(entry.name, &json!({ "passphrase": passphrase })))
}

fn type_twice() -> Result<String, (String, &'static str)> {
    let twice = ask("New passphrase: ").and_then(|one| Ok((one, ask("Again: ")?)));
    match twice {
        Ok((one, again)) if one == again => Ok(one),
        Ok(_) => {
            Err(("the two passphrases differ; nothing was changed".into(), "try again: comity passphrase"))
        }
        Err(problem) => Err((problem, TERMINAL_HINT)),
    }
}

/// Asks at the terminal, without echo.
fn ask(prompt: &str) -> Result<String, String> {
    let describe =
        |error: std::io::Error| format!("can't ask for the passphrase: no terminal here ({error})");
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(describe)?;
    terminal.write_all(prompt.as_bytes()).map_err(describe)?;
    let _silent = Silent::at(&terminal)?;
    let mut line = String::new();
    BufReader::new(&terminal).read_line(&mut line).map_err(describe)?;
    let _ = (&terminal).write_all(b"\n");
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// While this lives the terminal does not echo.
struct Silent<'a> {
    terminal: &'a File,
    before: rustix::termios::Termios,
}

impl Silent<'_> {
    fn at(terminal: &File) -> Result<Silent<'_>, String> {
        let describe = |error: rustix::io::Errno| format!("the terminal can't be silenced: {error}");
        let before = tcgetattr(terminal).map_err(describe)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal, OptionalActions::Flush, &silent).map_err(describe)?;
        Ok(Silent { terminal, before })
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Flush, &self.before);
    }
}
