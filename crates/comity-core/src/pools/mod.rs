//! Pools: scarce things that several share, such as the tabs of a browser, a port or the build.
//!
//! A pool has a capacity and slots. What is held and reserved never exceeds the capacity, and nobody waits while a
//! slot is free: a slot that becomes free goes to the first in line at once.

mod apply;
mod ask;
mod contexts;
mod event;
mod feature;
mod free;
mod full;
mod invariants;
mod notices;
mod queue;
mod refusal;
mod rights;
mod share;
mod table;
mod take;
mod waits;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agents::Process;
use crate::ids::{Key, Principal, Ticket};
use crate::time::{Millis, Timestamp};

use apply::apply;
pub(crate) use apply::restore;
pub use ask::{PoolAsk, Take};
pub use contexts::check_context;
pub use event::{FreeCause, Loss, PlaceEnding, PoolEvent};
pub(crate) use feature::FOLLOW_UP;
pub use free::why_not_granted;
pub(crate) use free::{ended_events, lapse_slot};
pub use full::{PoolUse, full};
pub use invariants::check;
pub use notices::PoolTold;
pub(crate) use queue::{cancel_wait, still_waiting, time_out};
pub use refusal::{PoolRefusal, SlotOwner};
pub use rights::{TabUse, check_owner, check_use};
pub use table::{Pool, Pools};
use take::decide;
pub(crate) use waits::{SlotWait, WAIT_RULES};

pub const TABS: &str = "tabs";

/// A slot's number, never reused in any pool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SlotId(pub u64);

/// What the slots of a pool are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolKind {
    Tabs,
    Lease,
}

/// One slot that somebody has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    pub id: SlotId,
    pub owner: Principal,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<Box<str>>,
    pub state: SlotState,
    pub since: Timestamp,
    pub renewed: Timestamp,
    /// How long it lasts from then on; `None` if until it is freed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ttl: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<Process>,
    /// Where it is, as far as its driver has told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Box<TabLocation>>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub viewers: BTreeSet<Principal>,
}

/// Where a tab is, so that it can be found or opened again.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TabLocation {
    /// The browser's name for its container.
    pub container: Box<str>,
    /// The name of the container, if it is shared on purpose.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<Box<str>>,
    pub url: Box<str>,
}

/// Counts against the capacity in either state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SlotState {
    Opening,
    Open,
}

/// Somebody's place in the queue of a pool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuePlace {
    pub ticket: Ticket,
    pub who: Principal,
    pub since: Timestamp,
    pub state: PlaceState,
    #[serde(default)]
    pub lapses: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<Process>,
    /// The key of the ask, so that a repeat finds its place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
}

/// How somebody waits for a slot.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", deny_unknown_fields)]
pub enum PlaceState {
    /// The ask itself waits, and gets the slot.
    Waiting {
        deadline: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        label: Option<Box<str>>,
        /// How long it will last; `None` if until it is freed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ttl: Option<Millis>,
    },
    /// It asked for space; a slot will be reserved.
    Requested,
    Reserved {
        until: Timestamp,
    },
}

impl PoolKind {
    pub fn noun(self) -> &'static str {
        match self {
            PoolKind::Tabs => "tab",
            PoolKind::Lease => "lease",
        }
    }

    pub(crate) fn free_verb(self) -> &'static str {
        match self {
            PoolKind::Tabs => "close",
            PoolKind::Lease => "free",
        }
    }
}

impl QueuePlace {
    pub(crate) fn is_in_line(&self) -> bool {
        !self.is_reserved()
    }

    pub fn is_reserved(&self) -> bool {
        matches!(self.state, PlaceState::Reserved { .. })
    }

    pub fn is_blocking(&self) -> bool {
        matches!(self.state, PlaceState::Waiting { .. })
    }
}

impl fmt::Display for SlotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
