//! The server, started if it does not run.

use std::borrow::Cow;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use comity_wire::{Client, Home, Reply, Request};
use serde_json::value::RawValue;

use crate::question::HookQuestion;

/// How long the server may take; agent programs wait longer for their hooks.
const ANSWER_MAX: Duration = Duration::from_secs(8);

/// "Operation not permitted".
const EPERM: i32 = 1;

pub(crate) struct HookClient {
    client: Client,
    token: Option<String>,
    cwd: Option<String>,
}

impl HookClient {
    /// For questions about a place, which is where this process is.
    pub(crate) fn find() -> Result<HookClient, String> {
        let cwd = std::env::current_dir().map_err(|error| format!("no working directory: {error}"))?;
        Ok(HookClient { cwd: Some(cwd.to_string_lossy().into_owned()), ..HookClient::find_from_anywhere()? })
    }

    pub(crate) fn find_from_anywhere() -> Result<HookClient, String> {
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
        client.set_timeout(Some(ANSWER_MAX)).map_err(|error| error.to_string())?;
        let token = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
        Ok(HookClient { client, token, cwd: None })
    }

    /// The input is JSON already.
    pub(crate) fn ask(&mut self, question: HookQuestion, input: String) -> Result<Reply<'_>, String> {
        let input = RawValue::from_string(input).map_err(|error| format!("this is no JSON: {error}"))?;
        let request = Request {
            op: Cow::Borrowed(question.operation()),
            input: Some(&input),
            cwd: self.cwd.as_deref().map(Cow::Borrowed),
            token: self.token.as_deref().map(Cow::Borrowed),
            ..Request::empty()
        };
        self.client.call(request).map_err(|error| error.to_string())
    }
}

/// Whether connections are forbidden by a filter of system calls: files and other users give other errors.
pub(crate) fn is_forbidden() -> bool {
    let home = Home::from_env().map_err(io::Error::other);
    let error = home.and_then(|home| Client::connect(&home)).err();
    error.and_then(|error| error.raw_os_error()) == Some(EPERM)
}

/// Lets the main program beside this one start the server: that takes a moment, once.
fn start(why: &io::Error) -> Result<(), String> {
    if !matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) {
        return Err(why.to_string());
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let beside = own.with_file_name("comity");
    let program = if beside.is_file() { beside } else { "comity".into() };
    let started = Command::new(program)
        .arg("up")
        // Who asks is for the server to say, once it runs.
        .env_remove("COMITY_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("the server does not run, and cannot be started: {error}"))?;
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
