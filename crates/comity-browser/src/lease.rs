//! The lease: the browser's session, which ends with its connection, whatever becomes of the client. Tabs and
//! containers stay for the next one.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::firefox::{inside, private_socket};
use crate::socket::{self, Receiver, Sender};

/// How long to wait until Firefox has noticed that an earlier client is gone.
const TAKEN: Duration = Duration::from_secs(5);
/// How long to wait between two tries: Firefox does not tell when it is free.
const RETRY: Duration = Duration::from_millis(20);

/// A session of the browser, held while its connection lives.
#[derive(Debug)]
pub(crate) struct SessionLease {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) version: String,
}

enum LeaseFailure {
    /// Another client has the browser, or just had it.
    Taken,
    Other(BrowserError),
}

impl From<BrowserError> for LeaseFailure {
    fn from(error: BrowserError) -> LeaseFailure {
        LeaseFailure::Other(error)
    }
}

impl SessionLease {
    /// Takes the lease; waits a little for an earlier client to be forgotten.
    pub(crate) fn take(profile: &Path, deadline: &Deadline) -> Result<SessionLease> {
        let taken = deadline.at_most(TAKEN);
        loop {
            match SessionLease::try_take(profile, deadline) {
                Ok(lease) => return Ok(lease),
                Err(LeaseFailure::Taken) if !taken.left().is_zero() => std::thread::sleep(RETRY),
                Err(LeaseFailure::Taken) => {
                    return Err(BrowserError::not_started("another program drives it already"));
                }
                Err(LeaseFailure::Other(error)) => return Err(error),
            }
        }
    }

    fn try_take(profile: &Path, deadline: &Deadline) -> std::result::Result<SessionLease, LeaseFailure> {
        let silent =
            |error: std::io::Error| BrowserError::not_started(format!("it does not answer: {error}"));
        let stream = private_socket::connect(profile, inside::DRIVER, deadline).map_err(silent)?;
        let (sender, mut receiver) = socket::begin(stream, deadline)?;
        // A dialog waits for its answer, and blocks nothing meanwhile.
        let wanted = json!({ "alwaysMatch": { "unhandledPromptBehavior": { "default": "ignore" } } });
        let ask = json!({ "id": 0, "method": "session.new", "params": { "capabilities": wanted } });
        sender.send(ask.to_string())?;
        let answer = loop {
            let text = receiver
                .next(&sender)
                .ok_or_else(|| BrowserError::not_started("it has ended, or does not answer"))?;
            let answer: Value = serde_json::from_str(&text).unwrap_or_default();
            if answer["id"] == 0 {
                break answer;
            }
        };
        if let Some(message) = answer["message"].as_str() {
            let is_taken = answer["error"] == "session not created" && message.contains("active session");
            let refused = || BrowserError::not_started(message).into();
            return Err(if is_taken { LeaseFailure::Taken } else { refused() });
        }
        receiver.be_patient().map_err(silent)?;
        let version = answer.pointer("/result/capabilities/browserVersion").and_then(Value::as_str);
        Ok(SessionLease { sender, receiver, version: version.unwrap_or("unknown").to_owned() })
    }
}
