//! A message, as it is in a box.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::MailboxError;
use crate::limits::{ENTRY_BYTES_MAX, ID_BYTES_MAX, SUMMARY_BYTES_MAX, TEXT_BYTES_MAX};
use crate::name::check_name;

/// The id of a message; whoever stores a message uses it as the key by which a second copy is known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct MessageId(Box<str>);

/// What a message has in a box. Fields that others have added stay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// The id; a message of others that has none gets one.
    #[serde(default = "MessageId::missing", skip_serializing_if = "MessageId::is_missing")]
    pub id: MessageId,
    /// Who says to have sent it. Nothing proves it: whoever can write to the box can write anything.
    pub from: String,
    pub text: String,
    /// A few words on what it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// When it was written, by the clock of its writer.
    #[serde(default)]
    pub timestamp: String,
    /// Whether the owner of the box has read it here.
    #[serde(default)]
    pub read: bool,
    /// Whether it was handed over to the server, which may not have confirmed it yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub taken: bool,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A message that is to be written: always text.
#[derive(Clone, Copy, Debug)]
pub struct MessageDraft<'a> {
    pub from: &'a str,
    pub text: &'a str,
    /// A few words on what it says.
    pub summary: Option<&'a str>,
    /// The id, for one who may have to try again: the same message is stored once.
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
    /// Makes an id, unless the text is empty, too long, or has control characters.
    pub fn new(text: &str) -> Option<MessageId> {
        let is_good = !text.is_empty() && text.len() <= ID_BYTES_MAX && !text.contains(char::is_control);
        is_good.then(|| MessageId(text.into()))
    }

    /// An id that nobody else has.
    pub(crate) fn fresh() -> io::Result<MessageId> {
        let mut bits = [0_u8; 16];
        File::open("/dev/urandom")?.read_exact(&mut bits)?;
        Ok(MessageId(format!("mail_{:032x}", u128::from_be_bytes(bits)).into()))
    }

    /// The id's text.
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
    /// What the message is. Text that spells out a typed message is text, and so is what cannot be
    /// understood.
    pub fn content(&self) -> MessageContent<'_> {
        let text = MessageContent::Text(&self.text);
        let Some(kind) = self.more.get("kind").and_then(Value::as_str) else { return text };
        match serde_json::from_str(&self.text) {
            Ok(body) if !kind.is_empty() => MessageContent::Control { kind, body },
            Ok(_) | Err(_) => text,
        }
    }

    /// Reads an entry of a box; nothing if it is no message, or too long.
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
        // Strings, booleans and JSON values can always be written.
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
