//! Mail: letters between agents and the human, each offered until it is proven to have arrived.

mod boxes;
mod privacy;
mod recipients;
mod send;
mod take;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::control::ControlId;
use crate::event::{Event, EventType, durable, live};
use crate::ids::{Key, Principal};
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::world::World;

pub use boxes::{Class, Held, Lease, Mail, Mailbox, Newest, Waiting};
pub(crate) use boxes::{agent_ended, apply};
pub use privacy::may_read;
pub use recipients::Recipient;
pub use take::has_something;
pub(crate) use take::{lapse, undelivered};

/// The number of a letter; a later one has a larger number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub u64);

/// Names one offer, so that it can be acknowledged; a later one has a larger number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Receipt(pub u64);

/// How much a letter matters to its sender. It changes no order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// As usual.
    #[default]
    Normal,
    /// The receiver should look at it first.
    High,
}

/// One letter, the same for all who get it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letter {
    /// Its number.
    pub id: MessageId,
    /// Who gets it.
    pub to: Vec<Principal>,
    /// The conversation that it belongs to.
    pub thread: Box<str>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<Box<str>>,
    /// What it says. Whatever it looks like, it is text.
    pub text: Box<str>,
    /// How much it matters.
    #[serde(default)]
    pub importance: Importance,
    /// Who says to have written it, if it came through a file and nobody could prove it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed: Option<Box<str>>,
}

/// A letter as its sender wants it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Draft {
    /// To whom.
    pub to: Vec<Recipient>,
    /// The conversation, or the number of a letter of it; a new one without.
    pub thread: Option<Box<str>>,
    /// What it is about.
    pub subject: Option<Box<str>>,
    /// What it says.
    pub text: Box<str>,
    /// How much it matters.
    pub importance: Importance,
    /// The sender's own id of it: sent twice, it is stored once.
    pub client_id: Option<Key>,
    /// Who says to have written it, if it came through a file.
    pub claimed: Option<Box<str>>,
}

/// Which of what waits is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Letters and control messages.
    All,
    /// Letters only.
    Letters,
}

/// What can be asked about mail.
#[derive(Clone, PartialEq, Debug)]
pub enum MailAsk {
    /// Sends a letter.
    Send(Box<Draft>),
    /// Takes what waits for the caller, in order, as an offer that has to be acknowledged.
    Take {
        /// Bytes of text at most; one letter is given in any case.
        bytes_max: usize,
        /// Letters at most.
        letters_max: usize,
        /// Which of what waits.
        what: What,
        /// How long the offer may take to arrive.
        lease: Millis,
    },
    /// Proves that an offer has arrived.
    Acknowledge {
        /// Which.
        receipt: Receipt,
    },
    /// Says that an offer has not arrived: it is offered again at once.
    Return {
        /// Which.
        receipt: Receipt,
    },
}

/// What happened to mail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MailEvent {
    /// A letter was sent.
    Sent {
        /// The letter.
        letter: Arc<Letter>,
        /// The sender's own id of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        client_id: Option<Key>,
    },
    /// What waited was offered; it is not proven yet that it arrived.
    Offered {
        /// To whom.
        to: Principal,
        /// Names the offer.
        receipt: Receipt,
        /// These letters, in order.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        letters: Vec<MessageId>,
        /// These control messages, in order.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        controls: Vec<ControlId>,
        /// How long it may take to arrive.
        lease: Millis,
    },
    /// An offer has arrived.
    Acknowledged {
        /// Whose.
        to: Principal,
        /// Which.
        receipt: Receipt,
    },
    /// An offer has not arrived, as far as anybody knows: it is offered again.
    Returned {
        /// Whose.
        to: Principal,
        /// Which.
        receipt: Receipt,
    },
    /// A letter was offered so often in vain that it is put aside, for people to see.
    PutAside {
        /// Whose.
        to: Principal,
        /// Which.
        letters: Vec<MessageId>,
    },
    /// An agent ended before these reached it.
    Undelivered {
        /// Whose.
        to: Principal,
        /// Which.
        letters: Vec<MessageId>,
    },
}

impl MailEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            MailEvent::Sent { letter, .. } if letter.to.len() > 1 => durable("group_message", "mail:sent"),
            MailEvent::Sent { .. } => durable("message_sent", "mail:sent"),
            MailEvent::Offered { .. } => live("mail_offered", "mail:offered"),
            MailEvent::Acknowledged { .. } => live("mail_read", "mail:read"),
            MailEvent::Returned { .. } => live("mail_returned", "mail:returned"),
            MailEvent::PutAside { .. } => durable("mail_put_aside", "mail:put_aside"),
            MailEvent::Undelivered { .. } => durable("mail_undelivered", "mail:undelivered"),
        }
    }
}

pub(crate) fn decide(world: &World, who: Principal, ask: &MailAsk) -> Result<Vec<Event>, Refusal> {
    match ask {
        MailAsk::Send(draft) => send::send(world, who, draft),
        MailAsk::Take { bytes_max, letters_max, what, lease } => {
            take::take(world, who, (*bytes_max, *letters_max), *what, *lease)
        }
        MailAsk::Acknowledge { receipt } => take::acknowledge(world, who, *receipt),
        MailAsk::Return { receipt } => take::give_back(world, who, *receipt),
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

impl FromStr for MessageId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('m').and_then(|number| number.parse().ok()).map(MessageId).ok_or(())
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
