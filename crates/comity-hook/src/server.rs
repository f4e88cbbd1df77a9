//! The connection to the server, which is started if it is not running.

use std::borrow::Cow;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use comity_wire::{Client, ClientError, Home, Reply, Request};
use serde_json::value::RawValue;

use crate::question::HookQuestion;

/// How long the server may take; agent programs wait longer for their hooks.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// The least that a server gets for an answer, however long it took to find it.
const ANSWER_MIN: Duration = Duration::from_secs(1);

/// How often a question is repeated: to one that was about to die, and to one that was started since.
const RETRIES_MAX: u32 = 2;

/// "Operation not permitted".
const EPERM: i32 = 1;

pub(crate) struct HookClient {
    client: Client,
    token: Option<String>,
    cwd: Option<String>,
    /// When the server must have answered.
    deadline: Instant,
}

impl HookClient {
    /// For questions about where this process is.
    pub(crate) fn find() -> Result<HookClient, String> {
        let cwd = std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
        Ok(HookClient { cwd: Some(cwd.to_string_lossy().into_owned()), ..HookClient::find_from_anywhere()? })
    }

    pub(crate) fn find_from_anywhere() -> Result<HookClient, String> {
        let deadline = Instant::now() + ANSWER_MAX;
        let client = connect(deadline)?;
        let token = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
        Ok(HookClient { client, token, cwd: None, deadline })
    }

    /// Gives the server more time than a hook has, from now on.
    pub(crate) fn wait_as_long_as(&mut self, time: Duration) -> Result<(), String> {
        self.deadline = Instant::now() + time;
        self.client.set_timeout(Some(time)).map_err(|error| error.to_string())
    }

    /// The input is already JSON. If the server goes away in the middle of it, it is started again, and asked once
    /// more: judging twice is harmless. One that dies may still accept a connection, and never answer.
    pub(crate) fn ask(&mut self, question: HookQuestion, input: String) -> Result<Reply<'_>, String> {
        let input = RawValue::from_string(input).map_err(|error| format!("this isn't JSON: {error}"))?;
        let mut asked = self.ask_once(question, &input);
        for _ in 0..RETRIES_MAX {
            if !asked.as_ref().is_err_and(ClientError::is_gone) || Instant::now() >= self.deadline {
                break;
            }
            self.client = connect(self.deadline)?;
            asked = self.ask_once(question, &input);
        }
        asked.and_then(|()| self.client.arrived()).map_err(|error| error.to_string())
    }

    fn ask_once(&mut self, question: HookQuestion, input: &RawValue) -> Result<(), ClientError> {
        let id = self.client.send(Request {
            op: Cow::Borrowed(question.operation()),
            input: Some(input),
            cwd: self.cwd.as_deref().map(Cow::Borrowed),
            token: self.token.as_deref().map(Cow::Borrowed),
            ..Request::empty()
        })?;
        self.client.wait_for(id)
    }
}

/// Connects to the server, which is started if it is not running; it has this long for each answer.
fn connect(deadline: Instant) -> Result<Client, String> {
    let home = Home::from_env().map_err(|error| error.to_string())?;
    let mut client = match Client::connect(&home) {
        Ok(client) => client,
        Err(error) => {
            start(&error)?;
            Client::connect(&home).map_err(|error| {
                format!("no server at {} ({error}); start it with: comity up", home.socket().display())
            })?
        }
    };
    let left = deadline.saturating_duration_since(Instant::now()).max(ANSWER_MIN);
    client.set_timeout(Some(left)).map_err(|error| error.to_string())?;
    Ok(client)
}

/// Whether connections are forbidden by a system call filter: files and other users give other errors.
pub(crate) fn is_forbidden() -> bool {
    let home = Home::from_env().map_err(io::Error::other);
    let error = home.and_then(|home| Client::connect(&home)).err();
    error.and_then(|error| error.raw_os_error()) == Some(EPERM)
}

/// Lets the main program next to this one start the server: that takes a moment, once.
fn start(why: &io::Error) -> Result<(), String> {
    if !matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) {
        return Err(why.to_string());
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = own.with_file_name("comity");
    let program = if beside.is_file() { beside } else { "comity".into() };
    let started = Command::new(program)
        .arg("up")
        // The server decides who asks, once it runs.
        .env_remove("COMITY_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("the server does not run, and can't be started: {error}"))?;
    match started.status.success() {
        true => Ok(()),
        false => {
            Err(format!("the server does not start: {}", String::from_utf8_lossy(&started.stderr).trim()))
        }
    }
}

pub(crate) fn quoted(text: &str) -> Result<String, String> {
    serde_json::to_string(text).map_err(|error| error.to_string())
}
