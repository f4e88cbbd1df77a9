//! Locks: who may edit which path, and who waits for it.

mod acquire;
mod feature;
mod fences;
mod graph;
mod holder;
mod invariants;
mod lapse;
mod notices;
mod orphans;
mod refusal;
mod release;
mod table;
mod waiting;

use serde::{Deserialize, Serialize};

use crate::ids::{Fence, Key, Principal, ProjectId, Ticket};
use crate::paths::PathPattern;
use crate::time::{Millis, Timestamp};

use acquire::lock;
pub(crate) use acquire::lock_at_once;
pub(crate) use feature::FOLLOW_UP;
pub use feature::{LockAsk, LockEvent};
use fences::check_fences;
pub(crate) use graph::WAIT_RULES;
pub use holder::HolderView;
pub use invariants::check;
use lapse::inspected;
pub(crate) use lapse::{lapse, left_behind, time_out, waits_ended};
pub use notices::LockTold;
use orphans::{adopt, put_aside};
pub use refusal::LockRefusal;
pub use release::meant_by;
use release::{extend, hand_over, release, unlock, unlock_all};
pub use table::Locks;
pub(crate) use table::{restore, watch_held_by};
pub(crate) use waiting::{cancel_wait, still_waiting};
pub use waiting::{conflicts, keeps_from_writing, waits_for};

/// How a path is locked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockMode {
    /// Several may read; nobody may edit.
    Shared,
    Exclusive,
}

/// What an ask wants to lock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    pub project: ProjectId,
    pub pattern: PathPattern,
    pub mode: LockMode,
    /// How long it lasts without a sign of life.
    pub ttl: Millis,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Box<str>>,
    /// Whether agents below its holder may write there, too.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub with_children: bool,
    /// The root of the worktree that it was asked for in, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worktree: Option<Box<str>>,
}

/// What keeps others from writing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Identifies it, too.
    pub fence: Fence,
    pub holder: Principal,
    pub wanted: Wanted,
    pub since: Timestamp,
    /// From when its TTL counts, besides its holder's signs of life; or when it lapsed or was orphaned.
    pub renewed: Timestamp,
    pub hold: Hold,
    /// Some of the files with uncommitted work, if it is orphaned.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left: Vec<Box<str>>,
    /// Set while its holder puts the work aside, having taken it over for that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rescue: Option<OngoingRescue>,
}

/// Work that is being put aside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OngoingRescue {
    pub of: Principal,
    /// The ref that will keep it.
    pub into: Box<str>,
}

/// The state of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    Held,
    /// It expired or its holder ended; its files are being inspected.
    Lapsed,
    /// It expired or its holder ended with uncommitted work in it; the human or a leader decides.
    Orphaned,
}

/// Why a lock was released.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReleaseCause {
    GivenBack,
    HolderEnded,
    TakenAway {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    PutAside {
        of: Principal,
        /// The refs that keep it; empty if there was no work any more.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        into: Vec<Box<str>>,
    },
    /// Its holder got an exclusive lock in place of this shared one, or one that includes the agents below.
    Upgraded,
}

/// One ask that waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockWait {
    pub ticket: Ticket,
    pub who: Principal,
    pub wants: Vec<Wanted>,
    pub since: Timestamp,
    pub deadline: Timestamp,
    /// The key of the ask, so that a repeat finds its place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
}

/// How a wait ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WaitEnding {
    Granted {
        /// One for each want.
        fences: Vec<Fence>,
    },
    TimedOut,
    /// The asker gave up.
    Cancelled,
    AskerEnded,
    /// What it waited for is orphaned, so time will not free it.
    Orphaned,
}

impl LockMode {
    /// Whether two overlapping locks of these modes exclude each other.
    pub fn excludes(self, other: LockMode) -> bool {
        self == LockMode::Exclusive || other == LockMode::Exclusive
    }
}

impl Hold {
    pub fn word(self) -> &'static str {
        match self {
            Hold::Held => "held",
            Hold::Lapsed => "lapsed",
            Hold::Orphaned => "orphaned",
        }
    }
}
