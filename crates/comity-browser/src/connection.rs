//! Calls to Firefox and their answers: each caller waits for its own, with its own deadline.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::socket::{Receiver, Sender};

/// Calls that wait for an answer.
const WAITING_MAX: usize = 10_000;

/// What a call is about, and so what may end it before its answer comes.
#[derive(Clone, Default, Debug)]
pub(crate) struct CallScope {
    /// The tab or frame whose closing ends the call.
    pub(crate) context: Option<String>,
    /// The tab whose dialogs end the call.
    pub(crate) until_dialog_in: Option<String>,
    /// Whether a new document in the context ends the call.
    pub(crate) until_navigated: bool,
    /// Whether a crash of the context's process ends the call.
    pub(crate) until_crashed: bool,
}

/// A message from Firefox that is not an answer.
#[derive(Debug)]
pub(crate) struct BidiEvent {
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// All calls share one socket.
#[derive(Debug)]
pub(crate) struct BidiConnection {
    sender: Sender,
    next: AtomicU64,
    calls: Mutex<PendingCalls>,
}

#[derive(Default, Debug)]
struct PendingCalls {
    waiting: HashMap<u64, PendingCommand>,
    has_ended: bool,
}

#[derive(Debug)]
struct PendingCommand {
    answer: mpsc::SyncSender<Result<String>>,
    method: String,
    about: CallScope,
}

#[derive(Deserialize)]
struct BidiMessage<'a> {
    id: Option<u64>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<String>,
    message: Option<String>,
}

impl BidiConnection {
    pub(crate) fn new(sender: Sender) -> BidiConnection {
        BidiConnection { sender, next: AtomicU64::new(1), calls: Mutex::default() }
    }

    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        about: CallScope,
        deadline: &Deadline,
    ) -> Result<T> {
        let pending = self.begin(method, params, about)?;
        pending.wait(deadline)
    }

    /// Sends a call; its answer can be waited for later.
    pub(crate) fn begin(&self, method: &str, params: Value, about: CallScope) -> Result<Pending<'_>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answers) = mpsc::sync_channel(1);
        {
            let mut calls = self.locked();
            if calls.has_ended {
                return Err(BrowserError::Died);
            }
            if calls.waiting.len() >= WAITING_MAX {
                return Err(BrowserError::invalid(format!("{WAITING_MAX} calls wait for Firefox already")));
            }
            calls.waiting.insert(id, PendingCommand { answer, method: method.to_owned(), about });
        }
        let pending = Pending { connection: self, id, method: method.to_owned(), answers };
        self.sender.send(json!({ "id": id, "method": method, "params": params }).to_string())?;
        Ok(pending)
    }

    /// Sends a command whose answer nobody needs.
    pub(crate) fn tell(&self, method: &str, params: Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // If Firefox is gone the reader tells everybody.
        let _sent = self.sender.send(json!({ "id": id, "method": method, "params": params }).to_string());
    }

    /// Ends those waiting calls for which `why` gives a reason.
    pub(crate) fn interrupt(&self, why: impl Fn(&CallScope) -> Option<BrowserError>) {
        let mut calls = self.locked();
        calls.waiting.retain(|_, waiting| {
            let Some(reason) = why(&waiting.about) else { return true };
            let _gave_up = waiting.answer.try_send(Err(reason));
            false
        });
    }

    /// Closes the connection; everybody who waits is told.
    pub(crate) fn hang_up(&self) {
        self.sender.hang_up();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.locked().has_ended
    }

    /// Reads until the connection ends, and passes on answers and events.
    pub(crate) fn read(&self, mut receiver: Receiver, mut event: impl FnMut(BidiEvent)) {
        while let Some(text) = receiver.next(&self.sender) {
            // Nobody can wait for something that is not a message of the protocol: it has no id.
            let Ok(incoming) = serde_json::from_str::<BidiMessage<'_>>(&text) else { continue };
            match incoming.id {
                Some(id) => self.answer(id, &incoming),
                None => {
                    let params = incoming.params.and_then(|raw| serde_json::from_str(raw.get()).ok());
                    if let (Some(method), Some(params)) = (incoming.method, params) {
                        event(BidiEvent { method, params });
                    }
                }
            }
        }
        let mut calls = self.locked();
        calls.has_ended = true;
        // Whoever waits sees that its sender is gone.
        calls.waiting.clear();
    }

    fn answer(&self, id: u64, incoming: &BidiMessage<'_>) {
        // A caller that gave up is no longer in the table.
        let Some(waiting) = self.locked().waiting.remove(&id) else { return };
        let answer = match (&incoming.error, incoming.result) {
            (None, Some(result)) => Ok(result.get().to_owned()),
            (code, _) => Err(BrowserError::Refused {
                command: waiting.method,
                code: code.clone().unwrap_or_else(|| "no result".into()),
                message: incoming.message.clone().unwrap_or_default(),
            }),
        };
        let _gave_up = waiting.answer.try_send(answer);
    }

    fn locked(&self) -> MutexGuard<'_, PendingCalls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that waits for its answer; forgotten when dropped.
#[derive(Debug)]
pub(crate) struct Pending<'a> {
    connection: &'a BidiConnection,
    id: u64,
    method: String,
    answers: mpsc::Receiver<Result<String>>,
}

impl Pending<'_> {
    pub(crate) fn wait<T: DeserializeOwned>(self, deadline: &Deadline) -> Result<T> {
        let text = match self.answers.recv_timeout(deadline.left()) {
            Ok(answer) => answer?,
            Err(RecvTimeoutError::Timeout) => return Err(deadline.missed(in_words(&self.method))),
            Err(RecvTimeoutError::Disconnected) => return Err(BrowserError::Died),
        };
        serde_json::from_str(&text).map_err(|error| BrowserError::Refused {
            command: self.method.clone(),
            code: "unexpected answer".into(),
            message: error.to_string(),
        })
    }
}

/// What a command does, for callers that waited too long.
fn in_words(method: &str) -> &str {
    match method {
        "script.callFunction" => "an answer of the page",
        "script.evaluate" => "the script",
        "input.performActions" => "the input",
        "browsingContext.captureScreenshot" => "the screenshot",
        "browsingContext.create" => "opening a tab",
        "browsingContext.close" => "closing the tab",
        "browsingContext.navigate" | "browsingContext.reload" => "loading the page",
        other => other,
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.connection.locked().waiting.remove(&self.id);
    }
}
