//! Starts the server on demand: the first client takes a lock, starts it, and waits until it is ready.

use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use comity_wire::{Client, Home};
use rustix::process::Signal;

use crate::serve;
use crate::serve::state_dir::{self, StateDirLock, Unusable};

/// Beyond this size the server's log is rotated.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How long after its connections a server is gone at the latest, unless it continues without them.
const ENDING_MAX: Duration = Duration::from_secs(1);

/// How often to start a server that was killed at once, or that finds the state directory not yet free.
const ATTEMPTS_MAX: u32 = 20;

/// Connects to the server; starts it if there is none.
pub(crate) fn connect(home: &Home) -> Result<Client, String> {
    for _ in 0..ATTEMPTS_MAX {
        match Client::connect(home) {
            Ok(client) => return Ok(client),
            Err(error) if nobody_listens(&error) => start(home)?,
            Err(error) => return Err(cannot_connect(home, &error)),
        }
    }
    Err(format!("the server does not stay; see {}", log_path(home).display()))
}

pub(crate) fn connect_if_running(home: &Home) -> Result<Option<Client>, String> {
    match Client::connect(home) {
        Ok(client) => Ok(Some(client)),
        Err(error) if nobody_listens(&error) => Ok(None),
        Err(error) => Err(cannot_connect(home, &error)),
    }
}

fn cannot_connect(home: &Home, error: &io::Error) -> String {
    match error.kind() {
        // It says which path, why, and what to do.
        io::ErrorKind::PermissionDenied => error.to_string(),
        _ => format!("the server's socket {} can't be used: {error}", home.socket().display()),
    }
}

fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// What became of a started server.
enum StartOutcome {
    Ready,
    /// It was killed before it was ready.
    Killed,
    /// Another one has the state directory: it is about to listen, or dead and about to release it.
    Taken,
}

/// Starts the server unless somebody else just did.
pub(crate) fn start(home: &Home) -> Result<(), String> {
    let _starting = keep_others_from_starting(home)?;
    start_now(home)
}

/// Ends the server with `end`, and starts the next one, with this program: nobody else starts one in between.
pub(crate) fn restart<T>(home: &Home, end: impl FnOnce() -> Result<(), T>) -> Result<Result<(), T>, String> {
    let _starting = keep_others_from_starting(home)?;
    // A running server is better than one that cannot start.
    let settings = crate::serve::read_config(home);
    settings.map_err(|problem| format!("the server keeps running as it is: {problem}"))?;
    match end() {
        Ok(()) => start_now(home).map(Ok),
        Err(why) => Ok(Err(why)),
    }
}

/// While this lives no server uses the state directory, and none is started for it.
pub(crate) struct StartLock {
    // In this order: whoever waits to start a server finds the directory free.
    _held: StateDirLock,
    _starting: std::fs::File,
}

/// Ends the server with `end`, and takes the state directory: no client starts another one in between.
pub(crate) fn take_alone<T>(
    home: &Home,
    end: impl FnOnce() -> Result<(), T>,
) -> Result<Result<StartLock, T>, String> {
    let starting = keep_others_from_starting(home)?;
    if let Err(why) = end() {
        return Ok(Err(why));
    }
    match state_dir::take(home) {
        Ok(held) => Ok(Ok(StartLock { _held: held, _starting: starting })),
        Err(Unusable::Taken) => {
            let pid = state_dir::holder(home).map(|pid| format!(" (process {pid})")).unwrap_or_default();
            Err(format!("a server{pid} still has {}; stop it with: comity down", home.path().display()))
        }
        Err(Unusable::Bad(problem)) => Err(problem),
    }
}

fn keep_others_from_starting(home: &Home) -> Result<std::fs::File, String> {
    state_dir::prepare(home)?;
    let lock = home.path().join("start.lock");
    let describe = |error: io::Error| format!("{}: {error}", lock.display());
    let starting = state_dir::private_file(&lock).map_err(describe)?;
    starting.lock().map_err(describe)?;
    Ok(starting)
}

fn start_now(home: &Home) -> Result<(), String> {
    for attempt in 0..ATTEMPTS_MAX {
        if UnixStream::connect(home.socket()).is_ok() {
            return Ok(());
        }
        match start_once(home)? {
            StartOutcome::Ready => return Ok(()),
            StartOutcome::Killed | StartOutcome::Taken => std::thread::sleep(pause(attempt)),
        }
    }
    Err(format!("{}; but it does not answer", state_dir::taken(home)))
}

fn start_once(home: &Home) -> Result<StartOutcome, String> {
    let log = open_log(home)
        .map_err(|error| format!("the server's log {} can't be opened: {error}", log_path(home).display()))?;
    let program = std::env::current_exe().map_err(|error| format!("this program can't be found: {error}"))?;
    let mut server = Command::new(program)
        .args(["serve", "--detached"])
        .env("COMITY_HOME", home.path())
        .env_remove("COMITY_TOKEN")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("the server can't be started: {error}"))?;
    let Some(said) = server.stdout.take() else { return Err("the server can't be heard".into()) };
    let mut line = String::new();
    let heard = BufReader::new(said).read_line(&mut line);
    match (heard, line.trim()) {
        (Ok(_), "ready") => {
            watch_end(server);
            Ok(StartOutcome::Ready)
        }
        (Ok(_), "") => match server.wait() {
            Ok(end) if end.code().is_none() => Ok(StartOutcome::Killed),
            _ => Err(format!("the server ended before it was ready; see {}", log_path(home).display())),
        },
        (Ok(_), problem) if problem == state_dir::taken(home) => {
            let _ = server.wait();
            Ok(StartOutcome::Taken)
        }
        (Ok(_), problem) => Err(problem.to_owned()),
        (Err(error), _) => Err(format!("the server can't be heard: {error}")),
    }
}

/// A server that this process has started.
struct StartedServer {
    pid: u32,
    ended: Receiver<ExitStatus>,
    end: Option<ExitStatus>,
}

/// The last one.
static STARTED: Mutex<Option<StartedServer>> = Mutex::new(None);

/// Whoever starts a server and outlives it has to reap it.
fn watch_end(mut server: Child) {
    let (pid, (tell, ended)) = (server.id(), channel());
    let waiting = move || drop(server.wait().map(|end| tell.send(end)));
    if std::thread::Builder::new().name("server's end".into()).spawn(waiting).is_ok() {
        *STARTED.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(StartedServer { pid, ended, end: None });
    }
}

/// Whether a bug has ended the server with this process, which is gone. One that somebody else started may also have
/// been killed.
pub(crate) fn has_crashed(home: &Home, server: i32) -> bool {
    has_panicked(home, server) || has_faulted(server)
}

/// Whether a fault of its own ended it, if it is one of ours.
fn has_faulted(server: i32) -> bool {
    const FAULTS: [Signal; 7] =
        [Signal::SEGV, Signal::ABORT, Signal::BUS, Signal::ILL, Signal::FPE, Signal::TRAP, Signal::SYS];
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(ours) = started.as_mut().filter(|ours| i32::try_from(ours.pid) == Ok(server)) else {
        return false;
    };
    // Its connections close a moment before it ends.
    ours.end = ours.end.or_else(|| ours.ended.recv_timeout(ENDING_MAX).ok());
    let signal = ours.end.and_then(|end| end.signal());
    signal.is_some_and(|signal| FAULTS.iter().any(|fault| fault.as_raw() == signal))
}

/// Where a server that was started on demand writes its messages.
pub(crate) fn log_path(home: &Home) -> std::path::PathBuf {
    home.path().join("server.log")
}

/// Whether the server with this process has ended by a panic.
fn has_panicked(home: &Home, server: i32) -> bool {
    let told = comity_app::plain_file::read_to_string(&home.path().join(serve::PANICKED));
    told.is_ok_and(|told| told.split(' ').next() == Some(server.to_string().as_str()))
}

fn open_log(home: &Home) -> io::Result<std::fs::File> {
    let path = log_path(home);
    if std::fs::metadata(&path).is_ok_and(|file| file.len() > LOG_BYTES_MAX) {
        std::fs::rename(&path, path.with_extension("log.old"))?;
    }
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// How long to wait before the n-th try to reconnect.
pub(crate) fn pause(attempt: u32) -> Duration {
    Duration::from_millis((10 << attempt.min(5)).min(250))
}
