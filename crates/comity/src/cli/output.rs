//! What a person or a script sees, and the exit code.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use comity_core::display::visible_lines;
use comity_wire::Fault;

use super::terminal;
use crate::session::{ServerAnswer, SessionError};

pub(crate) const FAULT: u8 = 1;
/// The command was not understood.
pub(crate) const USAGE: u8 = 2;
pub(crate) const REFUSED: u8 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    Text,
    Json,
}

/// Shows an operation's answer.
pub(crate) fn show(form: OutputFormat, answer: Result<ServerAnswer, SessionError>) -> ExitCode {
    match answer {
        Ok(answer) => {
            match form {
                OutputFormat::Json => print(answer.json.get()),
                OutputFormat::Text => terminal::show(&visible_lines(&answer.text)),
            }
            tell(&answer.notices);
            ExitCode::SUCCESS
        }
        Err(SessionError::Refused { error, fault, notices, .. }) => {
            let code = if fault.code == "fault" { FAULT } else { REFUSED };
            match form {
                OutputFormat::Json => print(&format!("{{\"error\":{}}}", error.get())),
                OutputFormat::Text => explain(&fault, code),
            }
            tell(&notices);
            ExitCode::from(code)
        }
        Err(SessionError::Fault(problem)) => self::fault(form, &problem),
    }
}

/// Shows what may be longer than a terminal.
pub(crate) fn page(text: &str) {
    terminal::show(text);
}

fn tell(notices: &[String]) {
    for notice in notices {
        complain(&format!("note: {notice}"));
    }
}

pub(crate) fn fault(form: OutputFormat, problem: &str) -> ExitCode {
    failure(form, ("fault", FAULT), problem, "look for what is wrong with: comity doctor")
}

/// The same, with a next step.
pub(crate) fn fault_with(form: OutputFormat, problem: &str, hint: &str) -> ExitCode {
    failure(form, ("fault", FAULT), problem, hint)
}

pub(crate) fn bad_input(form: OutputFormat, problem: &str, hint: &str) -> ExitCode {
    failure(form, ("bad_input", USAGE), problem, hint)
}

/// Shows that the caller may not do something.
pub(crate) fn refused(form: OutputFormat, problem: &str, hint: &str) -> ExitCode {
    failure(form, ("not_allowed", REFUSED), problem, hint)
}

fn failure(form: OutputFormat, (code, exit): (&str, u8), problem: &str, hint: &str) -> ExitCode {
    match form {
        OutputFormat::Json => {
            let error = serde_json::json!({"error": {"code": code, "message": problem, "hint": hint}});
            print(&error.to_string());
        }
        OutputFormat::Text => {
            explain(&Fault { code: code.into(), message: problem.into(), hint: hint.into() }, exit)
        }
    }
    ExitCode::from(exit)
}

fn explain(fault: &Fault, exit: u8) {
    let who = if exit == REFUSED { "comity refused" } else { "comity" };
    complain(&format!("{who}: {}", fault.message));
    if !fault.hint.is_empty() {
        complain(&format!("  {}", fault.hint));
    }
}

/// Set once something could not be written to standard output.
static UNWRITTEN: AtomicBool = AtomicBool::new(false);

/// Writes to standard output; a reader that went away is not our fault.
pub(crate) fn print(text: &str) {
    if writeln!(std::io::stdout().lock(), "{text}").is_err() {
        UNWRITTEN.store(true, Ordering::Relaxed);
    }
}

/// Whether everything so far was written.
pub(crate) fn all_was_written() -> bool {
    !UNWRITTEN.load(Ordering::Relaxed)
}

/// Whether nobody can see standard output: it is the null device, which replaces a closed one at the start of a
/// program.
pub(crate) fn is_discarded() -> bool {
    let (out, null) = (rustix::fs::fstat(rustix::stdio::stdout()), rustix::fs::stat("/dev/null"));
    let (Ok(out), Ok(null)) = (out, null) else { return false };
    rustix::fs::FileType::from_raw_mode(out.st_mode).is_char_device() && out.st_rdev == null.st_rdev
}

/// Writes to standard error, with control characters made visible.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", terminal::complaint(&visible_lines(text)));
}
