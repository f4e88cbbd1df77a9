//! What happened to pools.

use serde::{Deserialize, Serialize};

use super::{PoolKind, SlotId, Whereabouts};
use crate::agents::Process;
use crate::event::{EventType, live};
use crate::ids::{Principal, Ticket};
use crate::time::Millis;

/// How a slot was lost without anybody giving it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// The person closed it.
    ClosedByUser,
    /// Its page crashed.
    PageCrashed,
    /// The whole browser ended.
    BrowserDied,
    /// It could not be opened.
    OpenFailed {
        /// Why.
        why: Box<str>,
    },
    /// It did not answer in time.
    TimedOut,
    /// The process that it was taken for ended.
    ProcessEnded,
}

/// Why a slot is free.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FreeCause {
    /// Its owner gave it back.
    GivenBack,
    /// Its owner gave it up for who waits.
    Granted,
    /// Its owner gave it up for a new one.
    Evicted,
    /// Its owner ended.
    OwnerEnded,
    /// The human took it away.
    TakenAway {
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    /// Its time ran out.
    Expired,
    /// It was idle, its owner had more than its share, and somebody without one waited.
    Reclaimed {
        /// How long it was idle.
        idle: Millis,
    },
    /// It is gone.
    Lost {
        /// How.
        loss: Loss,
    },
}

/// How a place in the queue ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PlaceEnding {
    /// Its owner has a slot.
    Granted {
        /// Which.
        slot: SlotId,
    },
    /// The deadline passed.
    TimedOut,
    /// Its owner gave up.
    Cancelled,
    /// Its owner ended.
    AskerEnded,
    /// Its owner let a second reservation lapse.
    Lapsed,
    /// The pool was closed.
    PoolClosed,
    /// The pool was made smaller than what is taken of it.
    PoolShrunk,
}

/// What happened to pools.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PoolEvent {
    /// A pool was made, changed or closed.
    Configured {
        /// Its name.
        pool: Box<str>,
        /// What its slots are.
        kind: PoolKind,
        /// How many there are.
        capacity: usize,
    },
    /// Somebody got a slot.
    Taken {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// Who.
        owner: Principal,
        /// What for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        /// How long it lasts.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ttl: Option<Millis>,
        /// The process that it ends with.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        process: Option<Process>,
        /// The ticket, if its owner had waited or had it reserved.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ticket: Option<Ticket>,
    },
    /// A driver opened it.
    Opened {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
    },
    /// A driver told where it is.
    Noted {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// Where.
        at: Box<Whereabouts>,
        /// Whether it was lost with its browser, and is there again.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        reopened: bool,
    },
    /// A slot is free.
    Freed {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// Whose it was.
        owner: Principal,
        /// What it was for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        /// Why.
        cause: FreeCause,
    },
    /// A slot was given more time.
    Extended {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// How long it lasts from now on.
        ttl: Millis,
    },
    /// Somebody waits for a slot.
    Queued {
        /// Of which pool.
        pool: Box<str>,
        /// The place.
        ticket: Ticket,
        /// Who.
        who: Principal,
        /// How long the ask itself waits; a request does not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        wait: Option<Millis>,
        /// What the slot is for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        /// How long the slot will last.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ttl: Option<Millis>,
        /// The process that the slot will end with.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        process: Option<Process>,
        /// Who has more than its share, and is told.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        asked: Vec<Principal>,
    },
    /// Somebody who has more than its share was asked for space.
    Asked {
        /// In which pool.
        pool: Box<str>,
        /// Who.
        holder: Principal,
        /// Who waits.
        waiter: Principal,
    },
    /// A slot is kept for who asked for space.
    Reserved {
        /// Of which pool.
        pool: Box<str>,
        /// For which place.
        ticket: Ticket,
        /// For whom.
        who: Principal,
        /// How long.
        lasts: Millis,
    },
    /// A reservation was not used in time; its owner stays first in line, once.
    ReservationLapsed {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        ticket: Ticket,
        /// Whose.
        who: Principal,
    },
    /// Somebody waits no more.
    PlaceLeft {
        /// In which pool.
        pool: Box<str>,
        /// Which place.
        ticket: Ticket,
        /// Whose.
        who: Principal,
        /// How it ended.
        ending: PlaceEnding,
    },
    /// A slot went from one owner to another.
    HandedOver {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// Whose it was.
        from: Principal,
        /// Whose it is.
        to: Principal,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    /// Somebody else may look at a slot.
    Shared {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// Who.
        with: Principal,
    },
    /// A slot is in a context with a name.
    ContextEntered {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// The name.
        context: Box<str>,
        /// Whose slot it is; the first in it has made it.
        who: Principal,
    },
    /// Somebody else may come into a context.
    ContextOpened {
        /// Of which pool.
        pool: Box<str>,
        /// The name.
        context: Box<str>,
        /// Who made it.
        maker: Principal,
        /// Who may come in.
        to: Principal,
    },
    /// Somebody may look at it no more.
    Unshared {
        /// Of which pool.
        pool: Box<str>,
        /// Which.
        slot: SlotId,
        /// Who.
        with: Principal,
    },
}

impl PoolEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            PoolEvent::Configured { .. } => live("pool_configured", "pool:configured"),
            PoolEvent::Taken { .. } => live("slot_taken", "slot:taken"),
            PoolEvent::Opened { .. } => live("slot_opened", "slot:opened"),
            PoolEvent::Noted { .. } => live("slot_noted", "slot:noted"),
            PoolEvent::Freed { .. } => live("slot_freed", "slot:freed"),
            PoolEvent::Extended { .. } => live("slot_extended", "slot:extended"),
            PoolEvent::Queued { .. } => live("slot_queued", "slot:queued"),
            PoolEvent::Asked { .. } => live("slot_asked", "slot:asked"),
            PoolEvent::Reserved { .. } => live("slot_reserved", "slot:reserved"),
            PoolEvent::ReservationLapsed { .. } => live("slot_reservation_lapsed", "slot:reservation_lapsed"),
            PoolEvent::PlaceLeft { .. } => live("slot_place_left", "slot:place_left"),
            PoolEvent::HandedOver { .. } => live("slot_handed_over", "slot:handed_over"),
            PoolEvent::Shared { .. } => live("slot_shared", "slot:shared"),
            PoolEvent::ContextEntered { .. } => live("context_entered", "context:entered"),
            PoolEvent::ContextOpened { .. } => live("context_opened", "context:opened"),
            PoolEvent::Unshared { .. } => live("slot_unshared", "slot:unshared"),
        }
    }

    /// The pool that it is about.
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
    /// What happened, after "it" or a name.
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
    /// What happened, after "it" or a name.
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
