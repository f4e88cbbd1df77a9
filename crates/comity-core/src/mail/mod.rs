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

/// The number of a letter; a later one has a larger number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LetterId(pub u64);

/// Names one offer, so that it can be acknowledged; a later one has a larger number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Receipt(pub u64);

/// How much a letter matters to its sender. It changes no order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    #[default]
    Normal,
    /// The receiver should look at it first.
    High,
}

/// One letter, the same for all who get it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Letter {
    pub id: LetterId,
    pub to: Vec<Principal>,
    /// The conversation that it belongs to.
    pub thread: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<Box<str>>,
    /// What it says. Whatever it looks like, it is text.
    pub text: Box<str>,
    #[serde(default)]
    pub importance: Importance,
    /// Who says to have written it, if it came through a file and nobody could prove it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed: Option<Box<str>>,
}

/// A letter as its sender wants it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LetterDraft {
    pub to: Vec<Recipient>,
    /// The conversation, or the number of a letter of it; a new one without.
    pub thread: Option<Box<str>>,
    pub subject: Option<Box<str>>,
    pub text: Box<str>,
    pub importance: Importance,
    /// The sender's own id of it: sent twice, it is stored once.
    pub client_id: Option<Key>,
    /// Who says to have written it, if it came through a file.
    pub claimed: Option<Box<str>>,
}

/// Which of what waits is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfferFilter {
    All,
    /// Letters only.
    Letters,
}

/// What can be asked about mail.
#[derive(Clone, PartialEq, Debug)]
pub enum MailAsk {
    Send(Box<LetterDraft>),
    /// Takes what waits for the caller, in order, as an offer that has to be acknowledged.
    Take {
        /// Bytes of text at most; one letter is given in any case.
        bytes_max: usize,
        letters_max: usize,
        what: OfferFilter,
        /// How long the offer may take to arrive.
        lease: Millis,
    },
    /// Proves that an offer has arrived.
    Acknowledge {
        receipt: Receipt,
    },
    /// Says that an offer has not arrived: it is offered again at once.
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
        /// The sender's own id of it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        client_id: Option<Key>,
    },
    /// What waited was offered; it is not proven yet that it arrived.
    Offered {
        to: Principal,
        receipt: Receipt,
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        letters: Vec<LetterId>,
        /// These control messages, in order.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        controls: Vec<ControlId>,
        /// How long it may take to arrive.
        lease: Millis,
    },
    Acknowledged {
        to: Principal,
        receipt: Receipt,
    },
    /// An offer has not arrived, as far as anybody knows: it is offered again.
    Returned {
        to: Principal,
        receipt: Receipt,
    },
    /// A letter was offered so often in vain that it is put aside, for people to see.
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
