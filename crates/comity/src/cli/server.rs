//! Starting, stopping and finding the server.

use comity_app::catalog::name_of;
use comity_app::operations::people::Login;
use comity_app::operations::server::Status;
use std::process::ExitCode;

use comity_core::version::is_newer;
use comity_wire::{Fault, Home, Request, version};

use super::output::{self, OutputFormat};
use crate::session::{Session, SessionError};
use crate::{serve, start};

/// Starts the server if it is not running, or a new one in place of an older version that nobody uses, and says what
/// to do next.
pub(crate) fn up(home: &Home, form: OutputFormat) -> ExitCode {
    let was = match running_version(home) {
        Ok(version) => version,
        Err(problem) => return output::fault(form, &problem),
    };
    let older = was.as_deref().filter(|was| is_newer(version(), was));
    let renewed = older.map(|_| start::restart(home, || stop(home, StopWhen::UnlessUsed)));
    let answer = Session::from_env(home.clone()).ask(name_of::<Status>(), &serde_json::json!({}));
    let is_up = answer.is_ok();
    let code = output::show(form, answer);
    if let Some(Err(problem)) = renewed {
        return output::fault(form, &problem);
    }
    if let (Some(Ok(Err(why))), Some(older)) = (&renewed, older) {
        output::complain(&format!("comity: the server is still Comity {older}: {why}"));
    }
    if is_up && form == OutputFormat::Text {
        let what = match (renewed, was) {
            (Some(Ok(Ok(()))), Some(was)) => {
                format!("Comity is running; it was restarted, for it was version {was}")
            }
            (_, Some(_)) => "Comity is running already".into(),
            (_, None) => "Comity is running".into(),
        };
        output::print(&format!("\n{what}."));
        // Whoever may not log in gets no link: it is for people at this machine.
        if let Ok(login) = Session::from_env(home.clone()).ask(name_of::<Login>(), &serde_json::json!({})) {
            output::print(&format!("\n{}", login.text));
        }
        output::print(&format!("\n{}", next_steps(&called())));
    }
    code
}

/// What to do first, as commands that can be pasted.
fn next_steps(comity: &str) -> String {
    let own = std::env::current_exe().unwrap_or_default();
    let install = own.parent().is_some_and(crate::init::is_build_dir);
    let install = install.then_some(("install Comity's programs (settings name them)", "install"));
    let steps = [
        ("connect your agent programs", "init"),
        ("see who is here", "agent list"),
        ("see what is waiting for you", "inbox"),
        ("watch what happens", "log --follow"),
    ];
    let lines = install.into_iter().chain(steps);
    let lines: Vec<String> =
        lines.map(|(what, command)| format!("  {what}:\n    {comity} {command}")).collect();
    format!("Next, in a git repository:\n{}", lines.join("\n"))
}

/// How a shell finds this program: by its name if that is on the PATH, otherwise by its path.
fn called() -> String {
    let Ok(own) = std::env::current_exe() else { return "comity".into() };
    let is_own = |dir: std::path::PathBuf| dir.join("comity").canonicalize().ok().as_ref() == Some(&own);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    match std::env::split_paths(&paths).any(is_own) {
        true => "comity".into(),
        false => comity_core::display::shell_word(&own.to_string_lossy()).into_owned(),
    }
}

/// Stops the server, if it runs, and starts it with this program.
pub(crate) fn restart(home: &Home, form: OutputFormat) -> ExitCode {
    match start::restart(home, || stop(home, StopWhen::Always)) {
        Ok(Ok(())) => {}
        Ok(Err(why)) => return why.show(form),
        Err(problem) => return output::fault(form, &problem),
    }
    output::show(form, Session::from_env(home.clone()).ask(name_of::<Status>(), &serde_json::json!({})))
}

pub(crate) fn down(home: &Home, form: OutputFormat) -> ExitCode {
    let say = |stopped: bool, words: &str| {
        match form {
            OutputFormat::Json => output::print(&serde_json::json!({ "stopped": stopped }).to_string()),
            OutputFormat::Text => output::print(words),
        }
        ExitCode::SUCCESS
    };
    match start::connect_if_running(home) {
        Ok(Some(_)) => {}
        Ok(None) => return say(false, "no server is running"),
        Err(problem) => return output::fault(form, &problem),
    }
    match stop(home, StopWhen::Always) {
        Ok(()) => match check_what_is_left(home) {
            Ok(()) => {
                // Whoever starts one inadvertently is told.
                let _ = std::fs::write(home.path().join(serve::PUT_DOWN), "");
                say(true, "stopped; nothing is lost. The next command that needs a server starts one")
            }
            Err(problem) => output::fault(form, &format!("the server has stopped, but {problem}")),
        },
        Err(why) => why.show(form),
    }
}

/// Whether you have stopped the server, and none has run since.
pub(super) fn was_put_down(home: &Home) -> bool {
    home.path().join(serve::PUT_DOWN).exists()
}

/// Says that a command has restarted the server that you had stopped.
pub(super) fn tell_started(home: &Home, was_put_down: bool) {
    if was_put_down && !self::was_put_down(home) {
        output::complain("note: this command has started the server, which you had stopped with comity down");
    }
}

/// Stops the server, if it runs, and keeps all others away from the state directory.
pub(super) fn take_alone(home: &Home, form: OutputFormat) -> Result<start::StartLock, ExitCode> {
    match start::take_alone(home, || stop(home, StopWhen::Always)) {
        Ok(Ok(alone)) => Ok(alone),
        Ok(Err(why)) => Err(why.show(form)),
        Err(problem) => Err(output::fault(form, &problem)),
    }
}

/// Whether the log is complete. A server that could close it has put all of it into one file, and knew that it is.
fn check_what_is_left(home: &Home) -> Result<(), String> {
    match home.path().join("log.db-wal").exists() {
        true => comity_app::log::check(home.path()),
        false => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StopWhen {
    Always,
    /// Not while a call is running, somebody waits, or a tab is open.
    UnlessUsed,
}

enum GoesOn {
    Refused(String),
    /// It could not be asked.
    Fault(String),
}

impl GoesOn {
    fn show(&self, form: OutputFormat) -> ExitCode {
        match self {
            GoesOn::Fault(problem) => output::fault(form, problem),
            GoesOn::Refused(error) => match serde_json::from_str(error) {
                Ok(fault) => {
                    let (error, notices) = (raw(error), Vec::new());
                    output::show(form, Err(SessionError::Refused { error, fault, notices, inbox: None }))
                }
                Err(problem) => output::fault(form, &problem.to_string()),
            },
        }
    }
}

impl std::fmt::Display for GoesOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GoesOn::Fault(problem) => f.write_str(problem),
            GoesOn::Refused(error) => match serde_json::from_str::<Fault>(error) {
                Ok(fault) => write!(f, "{}\n  {}", fault.message, fault.hint),
                Err(_) => f.write_str(error),
            },
        }
    }
}

/// Stops the server, if one runs, and waits until it is gone.
fn stop(home: &Home, when: StopWhen) -> Result<(), GoesOn> {
    let Some(mut client) = start::connect_if_running(home).map_err(GoesOn::Fault)? else { return Ok(()) };
    let token = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
    let input = raw(&serde_json::json!({ "unless_used": when == StopWhen::UnlessUsed }).to_string());
    let (token, input) = (token.map(Into::into), Some(&*input));
    let reply = client.call(Request { op: "$stop".into(), token, input, ..Request::empty() });
    let reply = reply.map_err(|error| GoesOn::Fault(error.to_string()))?;
    if let Some(error) = reply.error {
        return Err(GoesOn::Refused(error.get().to_owned()));
    }
    // The server closes the connection when it is done.
    let _ = client.receive();
    Ok(())
}

/// The server's version, if one runs.
fn running_version(home: &Home) -> Result<Option<String>, String> {
    #[derive(serde::Deserialize)]
    struct RunningVersion {
        version: String,
    }
    let Some(mut client) = start::connect_if_running(home)? else { return Ok(None) };
    // One that is ending right now counts as none.
    let Ok(reply) = client.ask(name_of::<Status>(), &serde_json::json!({})) else { return Ok(None) };
    let status = reply.ok.and_then(|status| serde_json::from_str::<RunningVersion>(status.get()).ok());
    Ok(Some(status.map_or_else(|| "?".to_owned(), |status| status.version)))
}

fn raw(json: &str) -> Box<serde_json::value::RawValue> {
    serde_json::value::RawValue::from_string(json.to_owned()).unwrap_or_default()
}

/// Says that no server runs, for commands that are not worth starting one.
pub(crate) fn unless_running(home: &Home, form: OutputFormat) -> Option<ExitCode> {
    match start::connect_if_running(home) {
        Ok(Some(_)) => None,
        Ok(None) => {
            match form {
                OutputFormat::Json => output::print(
                    &serde_json::json!({"error": {
                        "code": "not_running", "message": "no server is running", "hint": "start it with: comity up",
                        "home": home.path(), "socket": home.socket(),
                    }})
                    .to_string(),
                ),
                OutputFormat::Text => output::complain("comity: no server is running\n  start it with: comity up"),
            }
            Some(ExitCode::from(output::FAULT))
        }
        Err(problem) => Some(output::fault(form, &problem)),
    }
}
