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
pub(crate) use graph::{needs, waiting_for};
pub use holder::{HolderDoing, HolderView};
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
    /// For how long without a sign of life.
    pub ttl: Millis,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<Box<str>>,
    /// Whether the agents below its holder may write there, too.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub with_children: bool,
    /// The root of the worktree in which it is asked for, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worktree: Option<Box<str>>,
}

/// What keeps others from writing: who holds it, on what, and how long.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Its fence, which is also its name.
    pub fence: Fence,
    pub holder: Principal,
    /// On what, how, for how long, and why.
    pub wanted: Wanted,
    pub since: Timestamp,
    /// When its TTL was last counted from, besides the holder's signs of life; or when it lapsed or was orphaned.
    pub renewed: Timestamp,
    /// Whether it is held, lapsed or orphaned.
    pub hold: Hold,
    /// Some of the files with uncommitted work, if it is orphaned.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left: Vec<Box<str>>,
    /// What becomes of the work, if its holder took it over to put it aside.
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
    /// Its time ran out or its holder ended; its files are being looked at.
    Lapsed,
    /// Its time ran out or its holder ended over uncommitted work; the human or a leader decides.
    Orphaned,
}

/// Why a lock was released.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReleaseCause {
    /// Its holder gave it back.
    GivenBack,
    HolderEnded,
    /// The human or a leader took it away.
    TakenAway {
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    /// The work that was left was put aside.
    PutAside {
        of: Principal,
        /// The refs that keep it; none if there was no work any more.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        into: Vec<Box<str>>,
    },
    /// Its holder got an exclusive lock instead of this shared one, or one that is also for the agents below.
    Upgraded,
}

/// One ask that waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockWait {
    /// Its place; smaller ones were there first.
    pub ticket: Ticket,
    pub who: Principal,
    pub wants: Vec<Wanted>,
    pub since: Timestamp,
    pub deadline: Timestamp,
    /// The key of the ask, so that a repeat finds its place again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
}

/// How a wait ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WaitEnding {
    /// Everything that was wanted is held now, with these fences.
    Granted {
        /// One for each thing that was wanted.
        fences: Vec<Fence>,
    },
    TimedOut,
    /// The asker's side gave up.
    Cancelled,
    AskerEnded,
    /// What it waited for was left with uncommitted work: no time frees it.
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
