//! What happened. Nothing changes except by an event, and each has its place in the log.

mod stored;
mod types;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, Key, Principal};
use crate::people::Origin;
use crate::time::Timestamp;

pub use crate::features::Event;
pub use types::{check_type, is_housekeeping, is_type, types};

/// One event with its place in the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Gap-free number in commit order, from 1.
    pub seq: u64,
    /// When, on the engine's clock.
    pub now: Timestamp,
    /// When, on the wall, in milliseconds since 1970; only for people.
    pub wall_ms: i64,
    pub by: Principal,
    /// Where the human acted from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<Arc<Origin>>,
    /// Agents that it concerns and that the event does not name: the holder of the lock that expired, and the like.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub concerns: Vec<AgentId>,
    /// The idempotency key of the ask, if it had one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
    pub event: Event,
}

/// A type of events: its name in the log, on the wire, and how durable it must be.
#[derive(Clone, Copy)]
pub struct EventType {
    /// The name in the ledger, as `--type` takes it.
    pub action: &'static str,
    /// The name on the event stream.
    pub stream: &'static str,
    /// Whether it must be on the disk before it is answered.
    pub durable: bool,
    /// Whether it is what Comity does for itself: whoever reads the log wants to know of it only when looking for a fault.
    pub is_housekeeping: bool,
}

/// Whatever is of one of the types that its feature lists.
pub(crate) trait Typed {
    fn kind(&self) -> EventType;
}

pub(crate) const fn durable(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: true, is_housekeeping: false }
}

pub(crate) const fn live(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: false, is_housekeeping: false }
}

impl EventType {
    pub(crate) const fn housekeeping(self) -> EventType {
        EventType { is_housekeeping: true, ..self }
    }

    /// Whether it is asked for by this name: one of its two names, or the word with which several of the stream begin,
    /// such as `lock`.
    pub fn is_called(&self, wanted: &str) -> bool {
        is_type(wanted, (self.action, self.stream))
    }
}

/// The types of a feature's events, in one table: which event is of which, and the list of all.
macro_rules! event_types {
    ($event:ident { $($pattern:pat $(if $guard:expr)? => $kind:expr),* $(,)? }) => {
        impl $event {
            pub(crate) const TYPES: &[$crate::event::EventType] = &[$($kind),*];
        }

        impl $crate::event::Typed for $event {
            fn kind(&self) -> $crate::event::EventType {
                match self {
                    $($pattern $(if $guard)? => $kind),*
                }
            }
        }
    };
}
pub(crate) use event_types;
