//! Questions to the server, through the socket or over HTTP: asked again with the same key until they are answered.

use std::borrow::Cow;
use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use comity_wire::{Client, Request};
use serde_json::{Value, json};

use crate::run_dir::{PATIENCE, RunDir};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Socket,
    Http,
}

/// Who asks, and from where.
pub(crate) struct ClientDoor<'a> {
    place: &'a RunDir,
    restarts: &'a Restarts,
    way: Way,
    token: String,
    /// Begins every key of this client.
    name: String,
    number: u64,
    client: Option<Client>,
    url: Option<String>,
}

/// Why there is no output.
#[derive(Debug)]
pub(crate) enum No {
    /// The server said so; the whole error.
    Refused(Value),
    /// No server could be asked for a long time.
    Broken(String),
}

impl fmt::Display for No {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            No::Refused(error) => write!(f, "{error}"),
            No::Broken(problem) => f.write_str(problem),
        }
    }
}

impl No {
    pub(crate) fn code(&self) -> &str {
        match self {
            No::Refused(error) => error["code"].as_str().unwrap_or_default(),
            No::Broken(_) => "",
        }
    }
}

/// How long it took after each kill until somebody was answered.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    /// When the last server was killed and which, until the next one has answered.
    killed: Mutex<Option<(Instant, u32)>>,
    is_waiting: AtomicBool,
    times: Mutex<Vec<Duration>>,
    answers: AtomicU64,
}

impl Restarts {
    pub(crate) fn killed(&self, pid: u32, at: Instant) {
        *self.killed.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, pid));
        self.is_waiting.store(true, Ordering::Release);
    }

    /// A server has answered.
    fn answered(&self, pid: Option<i32>) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()) else { return };
        if !self.is_waiting.load(Ordering::Acquire) {
            return;
        }
        let mut killed = self.killed.lock().unwrap_or_else(PoisonError::into_inner);
        // An answer of the killed one may have been on its way.
        let Some((at, _)) = killed.filter(|(_, old)| *old != pid) else { return };
        *killed = None;
        self.is_waiting.store(false, Ordering::Release);
        self.times.lock().unwrap_or_else(PoisonError::into_inner).push(at.elapsed());
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Acquire)
    }

    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    pub(crate) fn times(&self) -> Vec<Duration> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<'a> ClientDoor<'a> {
    pub(crate) fn new(
        place: &'a RunDir,
        restarts: &'a Restarts,
        way: Way,
        name: &str,
        token: &str,
    ) -> ClientDoor<'a> {
        let (name, token) = (name.to_owned(), token.to_owned());
        ClientDoor { place, restarts, way, token, name, number: 0, client: None, url: None }
    }

    /// Asks from the repository.
    pub(crate) fn ask(&mut self, op: &str, input: &Value) -> Result<Value, No> {
        let repo = self.place.repo.display().to_string();
        self.ask_from(&repo, op, input)
    }

    /// Asks from a directory.
    pub(crate) fn ask_from(&mut self, cwd: &str, op: &str, input: &Value) -> Result<Value, No> {
        self.number += 1;
        let key = format!("{}-{}", self.name, self.number);
        let begun = Instant::now();
        let mut is_again = false;
        loop {
            let answer = match self.way {
                Way::Socket => self.by_socket(cwd, op, input, &key, is_again),
                Way::Http => self.by_http(cwd, op, input, &key),
            };
            match answer {
                Ok(answer) => return answer.map_err(No::Refused),
                Err(problem) if begun.elapsed() > PATIENCE => {
                    return Err(No::Broken(format!("{op}: {problem}")));
                }
                Err(_) => (self.client, self.url, is_again) = (None, None, true),
            }
        }
    }

    fn connected(&mut self) -> Result<&mut Client, String> {
        let client = match self.client.take() {
            Some(client) => client,
            None => self.place.connect()?,
        };
        Ok(self.client.insert(client))
    }

    fn by_socket(
        &mut self,
        cwd: &str,
        op: &str,
        input: &Value,
        key: &str,
        again: bool,
    ) -> Result<Result<Value, Value>, String> {
        let describe = |error: comity_wire::ClientError| error.to_string();
        let input = serde_json::value::to_raw_value(input).map_err(|error| error.to_string())?;
        let (token, restarts) = (self.token.clone(), self.restarts);
        let client = self.connected()?;
        let pid = client.server();
        let reply = client
            .call(Request {
                op: Cow::Borrowed(op),
                input: Some(&input),
                cwd: Some(Cow::Borrowed(cwd)),
                token: Some(Cow::Owned(token)),
                key: Some(Cow::Borrowed(key)),
                again,
                ..Request::empty()
            })
            .map_err(describe)?;
        restarts.answered(pid);
        let read = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        match (reply.ok, reply.error) {
            (Some(output), _) => Ok(Ok(read(output.get())?)),
            (None, Some(error)) => Ok(Err(read(error.get())?)),
            (None, None) => Err("an answer with nothing in it".into()),
        }
    }

    fn by_http(
        &mut self,
        cwd: &str,
        op: &str,
        input: &Value,
        key: &str,
    ) -> Result<Result<Value, Value>, String> {
        let describe = |error: std::io::Error| error.to_string();
        if self.url.is_none() {
            // Each server has another port.
            let reply = self.connected()?.ask("status", &json!({})).map_err(|error| error.to_string())?;
            let status: Value =
                serde_json::from_str(reply.ok.ok_or("no status")?.get()).map_err(|e| e.to_string())?;
            self.url = status["url"].as_str().map(str::to_owned);
            self.client = None;
        }
        let address =
            self.url.as_deref().and_then(|url| url.strip_prefix("http://")).ok_or("no HTTP port")?;
        let mut stream = TcpStream::connect(address).map_err(describe)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(describe)?;
        let body = input.to_string();
        let question = format!(
            "POST /api/op/{op} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAccept: application/json\r\n\
             Comity-Cwd: {cwd}\r\nIdempotency-Key: {key}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        stream.write_all(question.as_bytes()).map_err(describe)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(describe)?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
        let status =
            head.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).ok_or("no status")?;
        let body: Value = serde_json::from_str(body).map_err(|error| format!("{error}: {answer}"))?;
        self.restarts.answered(None);
        match status {
            200..=299 => Ok(Ok(body)),
            // It is about to end.
            503 => Err(body.to_string()),
            _ => Ok(Err(body["error"].clone())),
        }
    }
}
