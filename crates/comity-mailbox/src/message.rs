//! A message in a box.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::MailboxError;
use crate::limits::{ENTRY_BYTES_MAX, ID_BYTES_MAX, SUMMARY_BYTES_MAX, TEXT_BYTES_MAX};
use crate::name::check_name;

/// Whoever stores a message uses its id as the key that identifies a copy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct MessageId(Box<str>);

/// The fields of a message in a box. Fields that others have added stay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// A message without one, written by others, gets one.
    #[serde(default = "MessageId::missing", skip_serializing_if = "MessageId::is_missing")]
    pub id: MessageId,
    /// The claimed sender. Nothing proves it: whoever can write to the box can write anything.
    pub from: String,
    pub text: String,
    /// A short summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// When it was written, by its writer's clock.
    #[serde(default)]
    pub timestamp: String,
    /// Whether the box's owner has read it here.
    #[serde(default)]
    pub read: bool,
    /// Whether it was handed over to the server, which may not have confirmed it yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub taken: bool,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A message to be written: always text.
#[derive(Clone, Copy, Debug)]
pub struct MessageDraft<'a> {
    pub from: &'a str,
    pub text: &'a str,
    /// A short summary.
    pub summary: Option<&'a str>,
    /// For a sender that may have to retry: the same message is stored once.
    pub id: Option<&'a MessageId>,
}

/// What a message is to its reader.
#[derive(Clone, PartialEq, Debug)]
pub enum MessageContent<'a> {
    Text(&'a str),
    /// A typed message: it says so in a field of its own, and its text is an object.
    Control {
        kind: &'a str,
        body: Map<String, Value>,
    },
}

impl MessageId {
    /// `None` if the text is empty, too long, or has control characters.
    pub fn new(text: &str) -> Option<MessageId> {
        let is_good = !text.is_empty() && text.len() <= ID_BYTES_MAX && !text.contains(char::is_control);
        is_good.then(|| MessageId(text.into()))
    }

    /// A unique id.
    pub(crate) fn fresh() -> io::Result<MessageId> {
        let mut bits = [0_u8; 16];
        File::open("/dev/urandom")?.read_exact(&mut bits)?;
        Ok(MessageId(format!("mail_{:032x}", u128::from_be_bytes(bits)).into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn missing() -> MessageId {
        MessageId("".into())
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_empty()
    }
}

impl Message {
    /// What the message is. Text that spells out a typed message is text, and so is what cannot be parsed.
    pub fn content(&self) -> MessageContent<'_> {
        let text = MessageContent::Text(&self.text);
        let Some(kind) = self.more.get("kind").and_then(Value::as_str) else { return text };
        match serde_json::from_str(&self.text) {
            Ok(body) if !kind.is_empty() => MessageContent::Control { kind, body },
            Ok(_) | Err(_) => text,
        }
    }

    /// Parses an entry of a box; `None` if it is not a message, or too long.
    pub(crate) fn read(entry: &str) -> Option<Message> {
        if entry.len() > ENTRY_BYTES_MAX {
            return None;
        }
        serde_json::from_str(entry).ok().filter(Message::is_within_bounds)
    }

    pub(crate) fn is_within_bounds(&self) -> bool {
        let rest = self.from.len() + self.timestamp.len() + self.summary.as_ref().map_or(0, String::len);
        let is_plain = self.more.is_empty() && rest <= TEXT_BYTES_MAX / 8;
        self.text.len() <= TEXT_BYTES_MAX && (is_plain || self.encoded().len() <= ENTRY_BYTES_MAX)
    }

    /// Whether both are the same message, whatever became of them.
    pub(crate) fn is_copy_of(&self, other: &Message) -> bool {
        self.id == other.id
            && self.from == other.from
            && self.text == other.text
            && self.summary == other.summary
    }

    pub(crate) fn encoded(&self) -> String {
        // Strings, booleans and JSON values can always be serialized.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl MessageDraft<'_> {
    pub(crate) fn check(&self) -> Result<(), MailboxError> {
        check_name(self.from)?;
        check_length("text", self.text, TEXT_BYTES_MAX)?;
        check_length("summary", self.summary.unwrap_or_default(), SUMMARY_BYTES_MAX)
    }
}

fn check_length(what: &'static str, text: &str, bytes_max: usize) -> Result<(), MailboxError> {
    if text.len() <= bytes_max {
        return Ok(());
    }
    Err(MailboxError::TooLong { what, bytes: text.len(), bytes_max })
}

fn is_false(value: &bool) -> bool {
    !value
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for MessageId {
    type Error = MailboxError;
    fn try_from(text: String) -> Result<MessageId, MailboxError> {
        MessageId::new(&text).ok_or(MailboxError::BadId)
    }
}
