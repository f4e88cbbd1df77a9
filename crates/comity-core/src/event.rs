//! What happened. Nothing changes except by an event, and each has its place in the log.

mod stored;
mod types;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, Key, Principal};
use crate::people::Origin;
use crate::time::Timestamp;

pub use crate::features::Event;
pub use types::{EVENT_TYPES, check_type, is_housekeeping, is_type};

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

/// One row of the catalogue of event types: the name in the log, on the wire, and how durable it must be.
pub struct EventType {
    /// The name in the ledger, as `--type` takes it.
    pub action: &'static str,
    /// The name on the event stream.
    pub stream: &'static str,
    /// Whether it must be on the disk before it is answered.
    pub durable: bool,
}

pub(crate) const fn durable(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: true }
}

pub(crate) const fn live(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: false }
}
