//! Starts the server on demand: the first client takes a lock, starts it, and waits until it is ready.

use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_wire::{Client, Home};

use crate::serve::state_dir;

/// Bytes of the server's log above which it begins anew, with the old one beside it.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Connects to the server; starts it if there is none.
pub(crate) fn connect(home: &Home) -> Result<Client, String> {
    match Client::connect(&home.socket()) {
        Ok(client) => Ok(client),
        Err(error) if nobody_listens(&error) => {
            start(home)?;
            Client::connect(&home.socket()).map_err(|error| format!("the server did not stay: {error}"))
        }
        Err(error) => Err(cannot_connect(home, &error)),
    }
}

/// Connects to the server, if there is one.
pub(crate) fn connect_if_running(home: &Home) -> Result<Option<Client>, String> {
    match Client::connect(&home.socket()) {
        Ok(client) => Ok(Some(client)),
        Err(error) if nobody_listens(&error) => Ok(None),
        Err(error) => Err(cannot_connect(home, &error)),
    }
}

fn cannot_connect(home: &Home, error: &io::Error) -> String {
    format!("the server's socket {} cannot be used: {error}", home.socket().display())
}

fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Starts the server unless somebody else just did.
pub(crate) fn start(home: &Home) -> Result<(), String> {
    state_dir::prepare(home)?;
    let lock = home.path().join("start.lock");
    let said = |error: io::Error| format!("{}: {error}", lock.display());
    let starting = state_dir::private_file(&lock).map_err(said)?;
    starting.lock().map_err(said)?;
    if UnixStream::connect(home.socket()).is_ok() {
        return Ok(());
    }
    let log = open_log(home).map_err(|error| format!("the server's log cannot be opened: {error}"))?;
    let program =
        std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
    let mut server = Command::new(program)
        .args(["serve", "--detached"])
        .env("COMITY_HOME", home.path())
        .env_remove("COMITY_TOKEN")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("the server cannot be started: {error}"))?;
    let Some(said) = server.stdout.take() else { return Err("the server cannot be heard".into()) };
    let mut line = String::new();
    let heard = BufReader::new(said).read_line(&mut line);
    match (heard, line.trim()) {
        (Ok(_), "ready") => Ok(()),
        (Ok(_), "") => Err(format!("the server ended before it was ready; see {}", log_path(home).display())),
        (Ok(_), problem) => Err(problem.to_owned()),
        (Err(error), _) => Err(format!("the server cannot be heard: {error}")),
    }
}

/// Where a server that was started on demand writes what it has to say.
pub(crate) fn log_path(home: &Home) -> std::path::PathBuf {
    home.path().join("server.log")
}

fn open_log(home: &Home) -> io::Result<std::fs::File> {
    let path = log_path(home);
    if std::fs::metadata(&path).is_ok_and(|file| file.len() > LOG_BYTES_MAX) {
        std::fs::rename(&path, path.with_extension("log.old"))?;
    }
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// How long to wait before trying to connect again, the n-th time.
pub(crate) fn pause(attempt: u32) -> Duration {
    Duration::from_millis((10 << attempt.min(5)).min(250))
}
