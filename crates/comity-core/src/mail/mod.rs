//! Mail: letters between agents and the human, each offered until it is proven to have arrived.

mod boxes;
mod feature;
mod invariants;
mod notices;
mod privacy;
mod recipients;
mod send;
mod take;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::control::ControlId;
use crate::ids::{Key, Principal};
use crate::time::Millis;

use boxes::apply;
pub use boxes::{Mail, Mailbox, Newest, OpenOffer, SenderRank, StoredLetter, WaitingControl};
pub(crate) use boxes::{agent_ended, restore};
pub(crate) use invariants::check;
pub use notices::MailTold;
pub use privacy::may_read;
pub use recipients::Recipient;
pub use take::has_something;
pub(crate) use take::{lapse, undelivered};

/// Later letters have larger numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LetterId(pub u64);

/// Identifies an offer, so that it can be acknowledged; later ones have larger numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Receipt(pub u64);

/// How much a letter matters to its sender. It changes no order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    #[default]
    Normal,
    High,
}

/// One letter, the same for all receivers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letter {
    pub id: LetterId,
    pub to: Vec<Principal>,
    pub thread: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<Box<str>>,
    /// Whatever it looks like, it is text.
    pub text: Box<str>,
    #[serde(default)]
    pub importance: Importance,
    /// The sender that a letter from a file claims to have, without proof.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed: Option<Box<str>>,
}

/// A letter to be sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LetterDraft {
    pub to: Vec<Recipient>,
    /// The conversation, or the number of a letter in it; a new one if `None`.
    pub thread: Option<Box<str>>,
    pub subject: Option<Box<str>>,
    pub text: Box<str>,
    pub importance: Importance,
    /// The sender's own id: a letter sent twice is stored once.
    pub client_id: Option<Key>,
    /// The sender that a letter from a file claims to have.
    pub claimed: Option<Box<str>>,
}

/// Which of the waiting items to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfferFilter {
    All,
    Letters,
}

/// Asks about mail.
#[derive(Clone, PartialEq, Debug)]
pub enum MailAsk {
    Send(Box<LetterDraft>),
    /// Takes what waits for the caller, in order, as an offer that has to be acknowledged.
    Take {
        /// Bytes of text at most; one letter is given in any case.
        bytes_max: usize,
        letters_max: usize,
        what: OfferFilter,
        /// How long the offer may stay unacknowledged.
        lease: Millis,
    },
    Acknowledge {
        receipt: Receipt,
    },
    /// Says that an offer has not arrived: it is made again at once.
    Return {
        receipt: Receipt,
    },
}

/// What happened to mail.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MailEvent {
    Sent {
        letter: Arc<Letter>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        client_id: Option<Key>,
    },
    /// What waited was offered; that does not prove that it arrived.
    Offered {
        to: Principal,
        receipt: Receipt,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        letters: Vec<LetterId>,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        controls: Vec<ControlId>,
        /// How long it may stay unacknowledged.
        lease: Millis,
    },
    Acknowledged {
        to: Principal,
        receipt: Receipt,
    },
    /// An offer has not arrived, as far as is known, and is made again.
    Returned {
        to: Principal,
        receipt: Receipt,
    },
    /// A letter was offered too often, and is put aside for people to see.
    PutAside {
        to: Principal,
        letters: Vec<LetterId>,
    },
    /// An agent ended before these reached it.
    Undelivered {
        to: Principal,
        letters: Vec<LetterId>,
    },
}

impl fmt::Display for LetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

impl FromStr for LetterId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('m').and_then(|number| number.parse().ok()).map(LetterId).ok_or(())
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
