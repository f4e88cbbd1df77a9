//! The messages on the socket.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of this protocol; a server with another one says so. `status` and `$stop` work with all.
pub const PROTOCOL: u32 = 1;

/// The longest line in either direction.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A request to the server.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request<'a> {
    /// Chosen by the client; the reply repeats it.
    pub id: u64,
    /// The operation's name in the catalog.
    #[serde(borrow)]
    pub op: Cow<'a, str>,
    /// The operation's input; `None` means `{}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub input: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Cow<'a, str>>,
    /// The time zone of whoever asks, by its name; none is the server's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Cow<'a, str>>,
    /// Who calls; once for a connection is enough.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Cow<'a, str>>,
    /// Makes a repeat of this request harmless.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// Whether the answer is wanted as text, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text: bool,
    /// The protocol that the client speaks; once per connection is enough, and `None` means the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u32>,
    /// The client's version; once per connection is enough.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Cow<'a, str>>,
    /// The agent program's id of the call that this comes from: its hook has reported which of its agents makes it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Cow<'a, str>>,
    /// Whether it was sent before with the same key, and not answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Whether the reply says how much is waiting for the caller.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inbox: bool,
}

/// One answer, or one event of a stream.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply<'a> {
    pub id: u64,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
    /// Why there is no output: `{"code", "message", "hint", ...}`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a RawValue>,
    /// A record of the log, for a request that follows it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub event: Option<&'a RawValue>,
    /// Further notices for the calling agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The offer in the output: once it has reached the caller, acknowledge it with `mail_ack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<u64>,
    /// How much is waiting for the caller, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbox: Option<InboxCount>,
}

/// How much is waiting for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct InboxCount {
    pub count: u32,
    /// Whether that is an agent.
    pub is_agents: bool,
}

/// The part of an error that clients look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub code: String,
    pub message: String,
    #[serde(default)]
    pub hint: String,
}
