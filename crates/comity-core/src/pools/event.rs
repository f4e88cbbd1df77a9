//! What happened to pools.

use serde::{Deserialize, Serialize};

use super::{PoolKind, SlotId, TabLocation};
use crate::agents::Process;
use crate::ids::{Principal, Ticket};
use crate::time::Millis;

/// How a slot was lost without anybody giving it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    ClosedByUser,
    PageCrashed,
    BrowserDied,
    OpenFailed { why: Box<str> },
    TimedOut,
    ProcessEnded,
}

/// Why a slot is free.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FreeCause {
    GivenBack,
    /// Its owner gave it up for somebody who waits.
    Granted,
    /// Its owner gave it up for a new one.
    Evicted,
    OwnerEnded,
    TakenAway {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    Expired,
    /// It was idle, its owner had more than its share, and somebody without one waited.
    Reclaimed {
        idle: Millis,
    },
    Lost {
        loss: Loss,
    },
}

/// How a place in the queue ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PlaceEnding {
    Granted {
        slot: SlotId,
    },
    TimedOut,
    Cancelled,
    AskerEnded,
    /// Its owner let a second reservation lapse.
    Lapsed,
    PoolClosed,
    /// The pool was made smaller than what is taken of it.
    PoolShrunk,
}

/// What happened to pools.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PoolEvent {
    /// A pool was created, changed or closed.
    Configured {
        pool: Box<str>,
        kind: PoolKind,
        capacity: usize,
    },
    Taken {
        pool: Box<str>,
        slot: SlotId,
        owner: Principal,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ttl: Option<Millis>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        process: Option<Process>,
        /// The ticket, if its owner had waited or reserved it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ticket: Option<Ticket>,
    },
    Opened {
        pool: Box<str>,
        slot: SlotId,
    },
    Noted {
        pool: Box<str>,
        slot: SlotId,
        at: Box<TabLocation>,
        /// Whether it was lost with its browser, and opened again.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        reopened: bool,
    },
    Freed {
        pool: Box<str>,
        slot: SlotId,
        owner: Principal,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        cause: FreeCause,
    },
    Extended {
        pool: Box<str>,
        slot: SlotId,
        /// From now on.
        ttl: Millis,
    },
    Queued {
        pool: Box<str>,
        ticket: Ticket,
        who: Principal,
        /// How long the ask itself waits; `None` for a request.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        wait: Option<Millis>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ttl: Option<Millis>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        process: Option<Process>,
        /// Those with more than their share, who are told.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        asked: Vec<Principal>,
    },
    /// Somebody with more than its share was asked for space.
    Asked {
        pool: Box<str>,
        holder: Principal,
        waiter: Principal,
    },
    /// A slot is reserved for somebody who asked for space.
    Reserved {
        pool: Box<str>,
        ticket: Ticket,
        who: Principal,
        lasts: Millis,
    },
    /// A reservation was not used in time; its owner stays first in line, once.
    ReservationLapsed {
        pool: Box<str>,
        ticket: Ticket,
        who: Principal,
    },
    PlaceLeft {
        pool: Box<str>,
        ticket: Ticket,
        who: Principal,
        ending: PlaceEnding,
    },
    HandedOver {
        pool: Box<str>,
        slot: SlotId,
        from: Principal,
        to: Principal,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    Shared {
        pool: Box<str>,
        slot: SlotId,
        with: Principal,
    },
    ContextEntered {
        pool: Box<str>,
        slot: SlotId,
        context: Box<str>,
        /// The owner of the slot; the first one in a context created it.
        who: Principal,
    },
    /// Somebody else may use a context.
    ContextOpened {
        pool: Box<str>,
        context: Box<str>,
        maker: Principal,
        to: Principal,
    },
    Unshared {
        pool: Box<str>,
        slot: SlotId,
        with: Principal,
    },
}

impl PoolEvent {
    pub fn pool(&self) -> &str {
        match self {
            PoolEvent::Configured { pool, .. }
            | PoolEvent::Taken { pool, .. }
            | PoolEvent::Opened { pool, .. }
            | PoolEvent::Noted { pool, .. }
            | PoolEvent::Freed { pool, .. }
            | PoolEvent::Extended { pool, .. }
            | PoolEvent::Queued { pool, .. }
            | PoolEvent::Asked { pool, .. }
            | PoolEvent::Reserved { pool, .. }
            | PoolEvent::ReservationLapsed { pool, .. }
            | PoolEvent::PlaceLeft { pool, .. }
            | PoolEvent::HandedOver { pool, .. }
            | PoolEvent::Shared { pool, .. }
            | PoolEvent::ContextEntered { pool, .. }
            | PoolEvent::ContextOpened { pool, .. }
            | PoolEvent::Unshared { pool, .. } => pool,
        }
    }
}

impl Loss {
    pub fn words(&self) -> String {
        match self {
            Loss::ClosedByUser => "was closed by the person".into(),
            Loss::PageCrashed => "is gone: its page crashed".into(),
            Loss::BrowserDied => "is gone: the browser ended".into(),
            Loss::OpenFailed { why } => {
                format!("could not be opened: {}", crate::display::visible(why))
            }
            Loss::TimedOut => "is gone: it did not answer in time".into(),
            Loss::ProcessEnded => "is free: the process that it was taken for ended".into(),
        }
    }
}

impl FreeCause {
    pub fn words(&self) -> String {
        match self {
            FreeCause::GivenBack => "was given back".into(),
            FreeCause::Granted => "was given up for who waits".into(),
            FreeCause::Evicted => "was given up for a new one".into(),
            FreeCause::OwnerEnded => "is free: its owner ended".into(),
            FreeCause::TakenAway { reason: None } => "was taken away by the human".into(),
            FreeCause::TakenAway { reason: Some(reason) } => {
                format!("was taken away by the human (\"{}\")", crate::display::visible(reason))
            }
            FreeCause::Expired => "is free: its time ran out".into(),
            FreeCause::Reclaimed { idle } => {
                format!("was taken back: it was idle for {idle}, and somebody without one waits")
            }
            FreeCause::Lost { loss } => loss.words(),
        }
    }
}
