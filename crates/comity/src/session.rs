//! A client's connection that survives the server: it reconnects, and repeats what was not answered.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use comity_app::time_zone;
use comity_wire::{Client, ClientError, Fault, Home, InboxCount, Request};
use serde_json::value::RawValue;

use crate::start;

/// How often an unanswered question is repeated.
const ATTEMPTS_MAX: u32 = 40;
/// A server that crashes this soon after a question may have done so because of it.
const SOON: Duration = Duration::from_secs(5);
/// Servers in a row that one question may end like that. Merely waiting outlives any number of killed servers.
const CRASHES_MAX: u32 = 2;

/// A question and the servers that it went to: one that ends every server is given up.
#[derive(Default)]
pub(crate) struct RequestAttempts {
    is_sent: bool,
    /// When the current server got it.
    sent_at: Option<Instant>,
    /// The process of that server, or of the last one that had it.
    server: Option<i32>,
    /// The last server that ended with it.
    ended: Option<i32>,
    losses: u32,
    crashes: u32,
}

impl RequestAttempts {
    /// Whether a server may have got it.
    pub(crate) fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// It is on its way to the server with this process.
    pub(crate) fn sent(&mut self, server: Option<i32>) {
        self.is_sent = true;
        self.server = server;
        self.sent_at = Some(Instant::now());
    }

    /// The connection is gone; an error says that it is not to be repeated.
    pub(crate) fn lost(&mut self, home: &Home) -> Result<(), String> {
        let Some(sent_at) = self.sent_at.take() else { return Ok(()) };
        self.losses += 1;
        // A server about to end may take a question after it has lost another.
        if self.ended.is_none() || self.ended != self.server {
            self.ended = self.server;
            let is_soon = sent_at.elapsed() < SOON;
            let has_crashed = self.server.is_some_and(|server| start::has_crashed(home, server));
            self.crashes = if has_crashed && is_soon { self.crashes + 1 } else { 0 };
        }
        let what = match (self.crashes, self.losses) {
            (CRASHES_MAX.., _) => {
                format!("the server crashed {} times while it worked on this", self.crashes)
            }
            (_, ATTEMPTS_MAX..) => format!("the connection to the server was lost {} times", self.losses),
            _ => return Ok(()),
        };
        let log = start::log_path(home);
        Err(format!(
            "{what}, so it is not asked again; {} says why, and comity log what was done",
            log.display()
        ))
    }
}

/// Who asks, and from where.
pub(crate) struct Session {
    home: Home,
    client: Option<Client>,
    token: Option<String>,
    cwd: Option<String>,
    zone: Option<String>,
}

#[derive(Debug)]
pub(crate) struct ServerAnswer {
    pub(crate) json: Box<RawValue>,
    pub(crate) text: String,
    /// Further notices for the agent.
    pub(crate) notices: Vec<String>,
    /// The offer in it: to be acknowledged once it was shown.
    pub(crate) receipt: Option<u64>,
    /// What is waiting for the caller then.
    pub(crate) inbox: Option<InboxCount>,
}

/// Why nothing came back.
#[derive(Debug)]
pub(crate) enum SessionError {
    Refused {
        error: Box<RawValue>,
        /// The part of it that is shown.
        fault: Fault,
        /// Further notices for the agent.
        notices: Vec<String>,
        /// What is waiting for the caller then.
        inbox: Option<InboxCount>,
    },
    /// It could not be asked.
    Fault(String),
}

impl Session {
    /// A session from the environment.
    pub(crate) fn from_env(home: Home) -> Session {
        let token = std::env::var("COMITY_TOKEN").ok().filter(|token| !token.is_empty());
        let cwd = std::env::current_dir().ok().and_then(|cwd| cwd.into_os_string().into_string().ok());
        Session { home, client: None, token, cwd, zone: time_zone::own() }
    }

    /// Asks an operation. It is repeated if the connection breaks; the key keeps that from doing it twice.
    pub(crate) fn ask(&mut self, op: &str, input: &serde_json::Value) -> Result<ServerAnswer, SessionError> {
        let input =
            serde_json::value::to_raw_value(input).map_err(|error| SessionError::Fault(error.to_string()))?;
        let key = random_key().map_err(SessionError::Fault)?;
        let (mut attempt, mut asked) = (0, RequestAttempts::default());
        loop {
            match self.ask_once(op, &input, &key, &mut asked) {
                Ok(answer) => return answer,
                Err(problem) => {
                    self.client = None;
                    asked.lost(&self.home).map_err(SessionError::Fault)?;
                    attempt += 1;
                    if attempt >= ATTEMPTS_MAX {
                        return Err(SessionError::Fault(problem));
                    }
                    std::thread::sleep(start::pause(attempt));
                }
            }
        }
    }

    fn ask_once(
        &mut self,
        op: &str,
        input: &RawValue,
        key: &str,
        asked: &mut RequestAttempts,
    ) -> Result<Result<ServerAnswer, SessionError>, String> {
        let client = match &mut self.client {
            Some(client) => client,
            // If the server cannot be started, stop at once.
            None => match start::connect(&self.home) {
                Ok(client) => self.client.insert(client),
                Err(problem) => return Ok(Err(SessionError::Fault(problem))),
            },
        };
        let describe = |error: ClientError| error.to_string();
        let sent = client.send(Request {
            op: Cow::Borrowed(op),
            input: Some(input),
            cwd: self.cwd.as_deref().map(Cow::Borrowed),
            zone: self.zone.as_deref().map(Cow::Borrowed),
            token: self.token.as_deref().map(Cow::Borrowed),
            key: Some(Cow::Borrowed(key)),
            text: true,
            again: asked.is_sent(),
            inbox: true,
            ..Request::empty()
        });
        let id = sent.map_err(describe)?;
        asked.sent(client.server());
        let reply = client.answer(id).map_err(describe)?;
        if let Some(error) = reply.error {
            let fault: Fault = serde_json::from_str(error.get()).map_err(|error| error.to_string())?;
            let (error, notices) = (error.to_owned(), reply.notices);
            return Ok(Err(SessionError::Refused { error, fault, notices, inbox: reply.inbox }));
        }
        let json = reply.ok.ok_or("an answer without output")?.to_owned();
        let text = reply.text.map(Cow::into_owned).unwrap_or_default();
        let (notices, receipt, inbox) = (reply.notices, reply.receipt, reply.inbox);
        Ok(Ok(ServerAnswer { json, text, notices, receipt, inbox }))
    }

    /// A connection for more than one question.
    pub(crate) fn connection(&mut self) -> Result<&mut Client, String> {
        let client = match self.client.take() {
            Some(client) => client,
            None => start::connect(&self.home)?,
        };
        Ok(self.client.insert(client))
    }

    /// Drops a broken connection.
    pub(crate) fn disconnect(&mut self) {
        self.client = None;
    }

    /// A request with this session's token and directory.
    pub(crate) fn request<'a>(&'a self, op: &'a str, input: Option<&'a RawValue>) -> Request<'a> {
        Request {
            op: Cow::Borrowed(op),
            input,
            cwd: self.cwd.as_deref().map(Cow::Borrowed),
            zone: self.zone.as_deref().map(Cow::Borrowed),
            token: self.token.as_deref().map(Cow::Borrowed),
            ..Request::empty()
        }
    }
}

pub(crate) fn random_key() -> Result<String, String> {
    let (a, b) = (getrandom::u64(), getrandom::u64());
    match (a, b) {
        (Ok(a), Ok(b)) => Ok(format!("{a:016x}{b:016x}")),
        _ => Err("the system gives no random numbers".into()),
    }
}
