//! Raw questions to the server's socket.

use std::borrow::Cow;

use comity_wire::{Client, ClientError, Home, Request};
use serde_json::{Value, json};

use super::{Agent, PATIENCE, Place};

/// A connection, and as whom it asks.
pub(crate) struct Wire {
    client: Client,
    token: Option<String>,
    cwd: String,
}

/// Why there is no output.
#[derive(Debug)]
pub(crate) enum No {
    /// The server said so; the whole error.
    Refused(Value),
    /// The connection broke: nobody knows whether it happened.
    Broken(ClientError),
}

impl Wire {
    /// Connects; the server is started if there is none.
    pub(crate) fn connect(place: &Place) -> Wire {
        Wire::try_connect(place).unwrap_or_else(|| {
            place.json(&["up"]);
            Wire::try_connect(place).expect("a server")
        })
    }

    /// Connects if a server runs.
    pub(crate) fn try_connect(place: &Place) -> Option<Wire> {
        let mut client = Client::connect(&Home::at(&place.home)).ok()?;
        client.set_timeout(Some(PATIENCE)).ok()?;
        Some(Wire {
            client,
            token: Some(super::HUMAN.into()),
            cwd: place.repo.to_str().expect("a text").into(),
        })
    }

    /// Whether this server listens no more; who waits may have started the next one.
    pub(crate) fn is_gone(place: &Place, pid: u32) -> bool {
        Wire::try_connect(place).is_none() || place.server().is_some_and(|next| next != pid)
    }

    /// From here on the questions come without a token.
    pub(crate) fn without_token(mut self) -> Wire {
        self.token = None;
        self
    }

    /// From here on the questions are an agent's.
    pub(crate) fn asking_as(mut self, agent: &Agent) -> Wire {
        self.token = Some(agent.token.clone());
        self
    }

    /// From here on the questions come with this token.
    pub(crate) fn asking_with(mut self, token: &str) -> Wire {
        self.token = Some(token.into());
        self
    }

    /// From here on the questions come from this directory.
    pub(crate) fn asking_in(mut self, cwd: &std::path::Path) -> Wire {
        self.cwd = cwd.to_str().expect("a text").into();
        self
    }

    pub(crate) fn ask(&mut self, op: &str, input: Value) -> Result<Value, No> {
        self.ask_with_key(op, input, None)
    }

    pub(crate) fn ask_with_key(&mut self, op: &str, input: Value, key: Option<&str>) -> Result<Value, No> {
        let input = if input.is_null() { json!({}) } else { input };
        let input = serde_json::value::to_raw_value(&input).expect("JSON");
        let request = Request {
            op: Cow::Borrowed(op),
            input: Some(&input),
            cwd: Some(Cow::Borrowed(&self.cwd)),
            token: self.token.as_deref().map(Cow::Borrowed),
            key: key.map(Cow::Borrowed),
            ..Request::empty()
        };
        let reply = self.client.call(request).map_err(No::Broken)?;
        match (reply.ok, reply.error) {
            (Some(output), _) => Ok(serde_json::from_str(output.get()).expect("JSON")),
            (None, Some(error)) => Err(No::Refused(serde_json::from_str(error.get()).expect("JSON"))),
            (None, None) => panic!("an answer with nothing in it"),
        }
    }

    /// The code of a refusal that has to come.
    pub(crate) fn refused(&mut self, op: &str, input: Value) -> String {
        match self.ask(op, input) {
            Err(No::Refused(error)) => error["code"].as_str().expect("a code").to_owned(),
            other => panic!("{op} was not refused: {other:?}"),
        }
    }
}

/// Reads the log as it grows.
pub(crate) struct Follower {
    wire: Wire,
}

impl Follower {
    pub(crate) fn new(wire: Wire) -> Follower {
        Follower::after(wire, 0)
    }

    pub(crate) fn after(mut wire: Wire, seq: u64) -> Follower {
        wire.ask("$follow", json!({ "after": seq })).expect("the log");
        Follower { wire }
    }

    /// The next entry that is meant; entries before it are passed over.
    pub(crate) fn until(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        loop {
            let reply = self.wire.client.receive().expect("an entry of the log");
            let Some(event) = reply.event else { continue };
            let entry: Value = serde_json::from_str(event.get()).expect("JSON");
            if is_meant(&entry) {
                return entry;
            }
        }
    }

    /// The next entry with this action.
    pub(crate) fn until_action(&mut self, action: &str) -> Value {
        self.until(|entry| entry["action"] == action)
    }

    /// Whether the server hangs up before it sends an entry with this action.
    pub(crate) fn is_let_go_before(&mut self, action: &str) -> bool {
        loop {
            let Ok(reply) = self.wire.client.receive() else { return true };
            let Some(event) = reply.event else { continue };
            let entry: Value = serde_json::from_str(event.get()).expect("JSON");
            if entry["action"] == action {
                return false;
            }
        }
    }

    /// The next so many entries with this action.
    pub(crate) fn until_actions(&mut self, action: &str, count: usize) -> Vec<Value> {
        (0..count).map(|_| self.until_action(action)).collect()
    }
}
