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
    /// Counts up without gaps in commit order, from 1.
    pub seq: u64,
    /// On the engine's clock.
    pub now: Timestamp,
    /// On the wall clock, in milliseconds since 1970; only for people.
    pub wall_ms: i64,
    pub by: Principal,
    /// Where the human acted from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<Arc<Origin>>,
    /// Agents that it concerns and that the event does not name, such as the holder of the lock that expired.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub concerns: Vec<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
    pub event: Event,
}

/// A type of events: its names, and how durable it must be.
#[derive(Clone, Copy)]
pub struct EventType {
    /// Its name in the ledger, as `--type` takes it.
    pub action: &'static str,
    /// Its name on the event stream.
    pub stream: &'static str,
    pub durable: bool,
    /// Whether it is Comity's own housekeeping: readers of the log want it only when they look for a fault.
    pub is_housekeeping: bool,
}

/// Implemented by the events of a feature, which lists their types.
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

    /// Whether `wanted` names it: one of its two names, or the first word of several stream names, such as `lock`.
    pub fn is_called(&self, wanted: &str) -> bool {
        is_type(wanted, (self.action, self.stream))
    }
}

/// Lists the types of a feature's events in one table, and maps each event to its type.
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
