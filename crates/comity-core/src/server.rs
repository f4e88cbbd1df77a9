//! The server itself: its starts, and observations that belong to no feature.

use serde::{Deserialize, Serialize};

use crate::agents;
use crate::checks::only_comity;
use crate::decide::AskResult;
use crate::display::visible;
use crate::event::{Event, Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Fence};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::time::Millis;
use crate::world::World;

/// Asks that report on the server.
#[derive(Clone, PartialEq, Debug)]
pub enum ServerAsk {
    Start {
        /// No fence up to this one may be given again.
        fence_floor: Fence,
        version: Box<str>,
        /// Identifies the machine's current boot.
        boot: Option<Box<str>>,
        uptime: Option<Millis>,
    },
    /// Records that callers were refused.
    NoteRefusedEntries {
        /// Why the last one was refused.
        why: Box<str>,
        /// Since this was last recorded.
        count: u64,
    },
    /// Records that an idempotency key was reused for another call.
    NoteReusedKey {
        /// The refused operation.
        op: Box<str>,
    },
}

/// What happened to the server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ServerEvent {
    /// A server began to write this log.
    #[serde(rename = "server_started")]
    Started {
        /// No fence up to this one is given again.
        fence_floor: Fence,
        version: Box<str>,
        /// Identifies the machine's boot.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        boot: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        uptime: Option<Millis>,
    },
    /// Callers were refused at the HTTP port.
    EntriesRefused {
        /// Why the last one was refused.
        why: Box<str>,
        /// Since this was last recorded.
        count: u64,
    },
    /// An ask was refused because its idempotency key had been used for another one.
    KeyReused { op: Box<str> },
    /// An ask with an idempotency key found nothing to change; a repeat changes nothing either.
    NothingChanged {},
}

impl FeatureAsk for ServerAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let events = match self {
            ServerAsk::Start { fence_floor, version, boot, uptime } => {
                let mut events = agents::silent_across_restarts(world, boot.as_deref(), *uptime);
                let (fence_floor, version) = (*fence_floor, version.clone());
                let started =
                    ServerEvent::Started { fence_floor, version, boot: boot.clone(), uptime: *uptime };
                events.insert(0, Event::Server(started));
                events
            }
            ServerAsk::NoteRefusedEntries { why, count } => {
                only_comity(asker.who)?;
                vec![Event::Server(ServerEvent::EntriesRefused { why: why.clone(), count: *count })]
            }
            ServerAsk::NoteReusedKey { op } => {
                vec![Event::Server(ServerEvent::KeyReused { op: op.clone() })]
            }
        };
        Ok(events.into())
    }
}

event_types!(ServerEvent {
    ServerEvent::Started { .. } => durable("server_started", "server:started"),
    ServerEvent::EntriesRefused { .. } => live("entries_refused", "server:entries_refused"),
    ServerEvent::KeyReused { .. } => live("key_reused", "server:key_reused"),
    ServerEvent::NothingChanged {} => live("nothing_changed", "nothing:changed").housekeeping(),
});

impl FeatureEvent for ServerEvent {
    fn apply(&self, world: &mut World, _: &Record) {
        match self {
            ServerEvent::Started { fence_floor, boot, uptime, .. } => {
                let is_same_boot = boot.is_some() && world.people.boot() == boot.as_deref();
                world.people.booted(boot.as_deref());
                world.fence = world.fence.max(*fence_floor);
                agents::server_started(world, *uptime, is_same_boot);
                world.moves.server_started();
            }
            ServerEvent::EntriesRefused { .. }
            | ServerEvent::KeyReused { .. }
            | ServerEvent::NothingChanged {} => {}
        }
    }

    /// It concerns only whoever acted.
    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        vec![]
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        match self {
            ServerEvent::Started { version, .. } => format!("comity {version} started"),
            ServerEvent::EntriesRefused { why, count: 1 } => {
                format!("a caller was turned away at the HTTP port: {}", visible(why))
            }
            ServerEvent::EntriesRefused { why, count } => {
                let why = visible(why);
                format!("{count} callers were turned away at the HTTP port, the last because: {why}")
            }
            ServerEvent::KeyReused { op } => {
                format!("{by} asked for {op} with the key of another call, and was refused")
            }
            ServerEvent::NothingChanged {} => format!("{by} asked for something that was already so"),
        }
    }
}
