//! Control: ask an agent to end, answer that, and say that one waits for work.

mod approve;
mod idle;
mod reject;
mod request;

use std::fmt;

use comity_core::control::{ControlAsk, ControlEvent, HandshakeId};
use comity_core::{Ask, Event, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::Plan;

use crate::catalog::{CatalogEntry, Group, POST};
pub use approve::ApproveShutdown;
pub use idle::ReportIdle;
pub use reject::RejectShutdown;
pub use request::RequestShutdown;

/// What the commands that begin with the same word are about.
pub(crate) const GROUPS: &[Group] = &[("shutdown", "Asks an agent to end, and answers that")];

/// The operations, in the order in which people read them.
#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<RequestShutdown>("shutdown_request", "shutdown request <agent>",   POST, "/api/shutdown")                  .removes(),
    CatalogEntry::of::<ApproveShutdown>("shutdown_approve", "shutdown approve <request>", POST, "/api/shutdown/{request}/approve").removes(),
    CatalogEntry::of::<RejectShutdown>( "shutdown_reject",  "shutdown reject <request>",  POST, "/api/shutdown/{request}/reject") .changes(),
    CatalogEntry::of::<ReportIdle>(     "idle",             "idle <summary>",             POST, "/api/idle")                      .changes(),
];

/// Where the handshake stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Handshake {
    /// The request.
    pub request: String,
    /// asked, approved or rejected.
    pub state: &'static str,
}

fn planned(ask: ControlAsk) -> Plan<Handshake> {
    Plan::change(vec![Ask::Control(ask)], |events, _, _| handshake(events))
}

fn handshake(events: &[Event]) -> Handshake {
    let found = events.iter().find_map(|event| match event {
        Event::Control(ControlEvent::ShutdownRequested { request, .. }) => Some((request, "asked")),
        Event::Control(ControlEvent::ShutdownApproved { request, .. }) => Some((request, "approved")),
        Event::Control(ControlEvent::ShutdownRejected { request, .. }) => Some((request, "rejected")),
        _ => None,
    });
    let (request, state) = found.map_or((String::new(), "asked"), |(id, state)| (id.to_string(), state));
    Handshake { request, state }
}

fn number(text: &str) -> Result<HandshakeId, Refusal> {
    text.parse().map_err(|()| Refusal::NotFound {
        problem: format!("there is no request {text:?}"),
        hint: "see what waits for you with: comity next".into(),
    })
}

impl fmt::Display for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.request, self.state)
    }
}
