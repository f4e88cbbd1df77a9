//! What can be asked about pools.

use super::event::Loss;
use super::{PoolKind, SlotId, TabLocation};
use crate::agents::Process;
use crate::ids::Principal;
use crate::time::Millis;

/// A request for a slot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Take {
    pub pool: Box<str>,
    pub label: Option<Box<str>>,
    /// How long to wait in the queue; `None` is refused at once if the pool is full.
    pub wait: Option<Millis>,
    /// Whether to give up one's own oldest slot if the pool is full.
    pub evict_oldest: bool,
    /// How long it lasts, in a pool of leases.
    pub ttl: Option<Millis>,
    /// The process that it ends with, proven by the kernel.
    pub process: Option<Process>,
    /// Whether a page opened it by itself: then its owner gets no more than its share.
    pub by_page: bool,
}

/// Asks about pools.
#[derive(Clone, PartialEq, Debug)]
pub enum PoolAsk {
    /// Sets up a pool as configured. Without capacity it is closed.
    Configure {
        pool: Box<str>,
        kind: PoolKind,
        capacity: usize,
    },
    Take(Box<Take>),
    MarkOpened {
        slot: SlotId,
    },
    /// Tells where an open slot is.
    Note {
        slot: SlotId,
        at: Box<TabLocation>,
        /// Whether it was lost with its browser, and opened again.
        reopened: bool,
    },
    /// Gives back one's own slot, or takes one away as the human.
    Free {
        slot: SlotId,
        reason: Option<Box<str>>,
    },
    Lose {
        slot: SlotId,
        loss: Loss,
    },
    Extend {
        slot: SlotId,
        /// From now on.
        ttl: Millis,
    },
    /// Asks for space in a full pool, without waiting.
    Request {
        pool: Box<str>,
    },
    /// Withdraws one's request or reservation.
    CancelRequest {
        pool: Box<str>,
    },
    /// Frees one's oldest slot for somebody who waits, if one can spare it.
    Grant {
        pool: Box<str>,
    },
    HandOver {
        slot: SlotId,
        to: Principal,
        reason: Option<Box<str>>,
    },
    Share {
        slot: SlotId,
        with: Principal,
    },
    Unshare {
        slot: SlotId,
        with: Principal,
    },
    EnterContext {
        slot: SlotId,
        context: Box<str>,
    },
    Admit {
        pool: Box<str>,
        context: Box<str>,
        whom: Principal,
    },
    /// Takes back an idle slot, if that is fair by now.
    Reclaim {
        slot: SlotId,
        /// How long it has been idle.
        idle: Millis,
    },
}
