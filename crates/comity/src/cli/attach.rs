//! `comity attach AGENT`: an agent's terminal in yours, until it ends or you press Ctrl-].

use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use comity_app::catalog::name_of;
use comity_app::operations::runs::{AttachRun, RunLogs, TypeIntoRun};
use comity_core::display::visible_lines;
use comity_wire::Home;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use crate::session::{Session, SessionError};

/// Ctrl-]: programs have no use for it, and telnet made it known.
const DETACH: u8 = 0x1d;
/// How long one question for output lasts.
const WAIT: &str = "20s";
/// How often to check whether the agent has ended or the window was resized.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

#[derive(Deserialize)]
struct AttachedTerminal {
    name: String,
    command: Option<Vec<String>>,
    #[serde(default)]
    acp: bool,
}

#[derive(Deserialize)]
struct NewOutput {
    text: String,
    next: u64,
    over: bool,
}

/// Whether there is a terminal to show it in.
pub(super) fn is_possible(form: OutputFormat) -> bool {
    form == OutputFormat::Text && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Shows an agent's terminal, and types into it.
pub(super) fn run(home: Home, input: &Value, form: OutputFormat) -> ExitCode {
    let mut session = Session::from_env(home.clone());
    let answer = match session.ask(name_of::<AttachRun>(), input) {
        Ok(answer) => answer,
        refused => return output::show(form, refused),
    };
    let Ok(terminal) = serde_json::from_str::<AttachedTerminal>(answer.json.get()) else {
        return output::fault(form, "the server's answer can't be read");
    };
    if let Some((program, arguments)) = terminal.command.as_deref().and_then(<[String]>::split_first) {
        let failed = Command::new(program).args(arguments).exec();
        return output::fault(form, &format!("{program}: {failed}"));
    }
    if terminal.acp {
        println!("attached to {}; each line is a prompt; Ctrl-D detaches", terminal.name);
        return match converse(home, &terminal.name, session) {
            Ok(how) => {
                println!("\n{how}");
                ExitCode::SUCCESS
            }
            Err(problem) => output::fault(form, &problem),
        };
    }
    println!("attached to {}; Ctrl-] detaches\r", terminal.name);
    match show(home, &terminal.name, session) {
        Ok(how) => {
            println!("\r\n{how}");
            ExitCode::SUCCESS
        }
        Err(problem) => output::fault(form, &problem),
    }
}

/// Restores your terminal, whatever happens.
struct RawTerminal(Termios);

impl RawTerminal {
    fn new() -> Result<RawTerminal, String> {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).map_err(|error| error.to_string())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&stdin, OptionalActions::Now, &raw).map_err(|error| error.to_string())?;
        Ok(RawTerminal(before))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// For an agent without a terminal: shows what it says, and sends typed lines as prompts.
fn converse(home: Home, name: &str, mut typing: Session) -> Result<String, String> {
    let is_over = Arc::new(AtomicBool::new(false));
    let reading = {
        let (name, is_over) = (name.to_owned(), Arc::clone(&is_over));
        move || {
            copy_output(home, &name, |text| visible_lines(text).into_owned());
            is_over.store(true, Ordering::Release);
        }
    };
    std::thread::Builder::new().name("attached".into()).spawn(reading).map_err(|error| error.to_string())?;
    let (stdin, mut bytes, mut typed) = (std::io::stdin(), [0_u8; 4096], Vec::new());
    while !is_over.load(Ordering::Acquire) {
        let mut sources = [PollFd::new(&stdin, PollFlags::IN)];
        if poll(&mut sources, Some(&LOOK)).is_ok_and(|count| count == 0) {
            continue;
        }
        let count = rustix::io::read(&stdin, &mut bytes).map_err(|error| error.to_string())?;
        if count == 0 {
            return Ok(format!("detached; {name} keeps running"));
        }
        typed.extend_from_slice(bytes.get(..count).unwrap_or_default());
        while let Some(end) = typed.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = typed.drain(..=end).collect();
            let input = json!({ "agent": name, "text": String::from_utf8_lossy(&line) });
            match session_said(typing.ask(name_of::<TypeIntoRun>(), &input)) {
                Err(_) if is_over.load(Ordering::Acquire) => {}
                said => said?,
            }
        }
    }
    Ok(format!("{name} has ended"))
}

fn session_said<T>(said: Result<T, SessionError>) -> Result<(), String> {
    match said {
        Ok(_) => Ok(()),
        Err(SessionError::Refused { fault, .. }) => Err(fault.message.clone()),
        Err(SessionError::Fault(problem)) => Err(problem),
    }
}

fn show(home: Home, name: &str, mut typing: Session) -> Result<String, String> {
    let raw = RawTerminal::new()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let reading = {
        let (name, is_over) = (name.to_owned(), Arc::clone(&is_over));
        move || {
            copy_output(home, &name, str::to_owned);
            is_over.store(true, Ordering::Release);
        }
    };
    std::thread::Builder::new().name("attached".into()).spawn(reading).map_err(|error| error.to_string())?;
    let how = copy_input(name, &mut typing, &is_over);
    drop(raw);
    how
}

/// Shows its output, until nothing more comes.
fn copy_output(home: Home, name: &str, shown: impl Fn(&str) -> String) {
    let mut session = Session::from_env(home);
    let mut since = 0;
    loop {
        let ask = json!({ "agent": name, "since": since, "wait": WAIT });
        let Ok(answer) = session.ask(name_of::<RunLogs>(), &ask) else { return };
        let Ok(written) = serde_json::from_str::<NewOutput>(answer.json.get()) else { return };
        let mut out = std::io::stdout().lock();
        if out.write_all(shown(&written.text).as_bytes()).and_then(|()| out.flush()).is_err() || written.over
        {
            return;
        }
        since = written.next;
    }
}

fn copy_input(name: &str, session: &mut Session, is_over: &AtomicBool) -> Result<String, String> {
    let (mut shown, mut bytes, mut kept) = (None, [0_u8; 4096], Vec::new());
    let stdin = std::io::stdin();
    loop {
        if is_over.load(Ordering::Acquire) {
            return Ok(format!("{name} has ended"));
        }
        let size = tcgetwinsize(std::io::stdout()).ok().map(|size| (size.ws_col, size.ws_row));
        let is_new = size != shown && size.is_some_and(|(columns, rows)| columns > 0 && rows > 0);
        let mut input = json!({ "agent": name });
        if let (true, Some((columns, rows))) = (is_new, size) {
            (input["columns"], input["rows"]) = (columns.into(), rows.into());
            shown = size;
        }
        let mut sources = [PollFd::new(&stdin, PollFlags::IN)];
        let wait = if is_new { Timespec::default() } else { LOOK };
        let has_input = poll(&mut sources, Some(&wait)).is_ok_and(|count| count > 0);
        if has_input {
            let count = rustix::io::read(&stdin, &mut bytes).map_err(|error| error.to_string())?;
            let read = bytes.get(..count).unwrap_or_default();
            if count == 0 || read.contains(&DETACH) {
                return Ok(format!("detached; {name} keeps running"));
            }
            kept.extend_from_slice(read);
            let whole = std::str::from_utf8(&kept).map_or_else(|error| error.valid_up_to(), str::len);
            let text: Vec<u8> = kept.drain(..whole).collect();
            input["text"] = String::from_utf8_lossy(&text).into();
        }
        if has_input || is_new {
            match session_said(session.ask(name_of::<TypeIntoRun>(), &input)) {
                // It is about to end, which is reported.
                Err(_) if is_over.load(Ordering::Acquire) => {}
                said => said?,
            }
        }
    }
}
