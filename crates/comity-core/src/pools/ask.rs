//! What can be asked about pools.

use super::event::Loss;
use super::{PoolKind, SlotId, TabLocation};
use crate::agents::Process;
use crate::ids::Principal;
use crate::time::Millis;

/// A slot that somebody wants.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Take {
    pub pool: Box<str>,
    pub label: Option<Box<str>>,
    /// How long to wait in the queue; `None` is refused at once when the pool is full.
    pub wait: Option<Millis>,
    /// Whether to give up one's own oldest slot for it when the pool is full.
    pub evict_oldest: bool,
    /// How long it lasts, of a pool of leases.
    pub ttl: Option<Millis>,
    /// The process that it ends with, proven by the kernel.
    pub process: Option<Process>,
    /// Whether a page opened it by itself: then its owner gets no more than its share.
    pub by_page: bool,
}

/// What can be asked about pools.
#[derive(Clone, PartialEq, Debug)]
pub enum PoolAsk {
    /// Sets what a pool has, as it is configured. Without capacity it is closed.
    Configure {
        pool: Box<str>,
        kind: PoolKind,
        capacity: usize,
    },
    Take(Box<Take>),
    /// Tells that a slot was opened.
    MarkOpened {
        slot: SlotId,
    },
    /// Tells where an open slot is.
    Note {
        slot: SlotId,
        at: Box<TabLocation>,
        /// Whether it was lost with its browser, and is there again.
        reopened: bool,
    },
    /// Gives back one's own slot, or takes it away as the human.
    Free {
        slot: SlotId,
        reason: Option<Box<str>>,
    },
    /// Tells that a slot is gone.
    Lose {
        slot: SlotId,
        loss: Loss,
    },
    /// Gives a slot more time.
    Extend {
        slot: SlotId,
        /// How long it lasts from now on.
        ttl: Millis,
    },
    /// Asks for space in a full pool, without waiting.
    Request {
        pool: Box<str>,
    },
    /// Takes back one's request or reservation.
    CancelRequest {
        pool: Box<str>,
    },
    /// Frees one's oldest slot for who waits, if one can spare it.
    Grant {
        pool: Box<str>,
    },
    /// Gives a slot to somebody else.
    HandOver {
        slot: SlotId,
        to: Principal,
        reason: Option<Box<str>>,
    },
    /// Lets somebody else look at a slot.
    Share {
        slot: SlotId,
        with: Principal,
    },
    /// Lets somebody look at it no more.
    Unshare {
        slot: SlotId,
        with: Principal,
    },
    /// Puts a slot into a context with a name, and makes that if it is not there.
    EnterContext {
        slot: SlotId,
        context: Box<str>,
    },
    /// Lets somebody else into a context.
    Admit {
        pool: Box<str>,
        context: Box<str>,
        whom: Principal,
    },
    /// Takes back a slot that was idle for so long, if that is fair by now.
    Reclaim {
        slot: SlotId,
        /// Since when nothing was done with it.
        idle: Millis,
    },
}
