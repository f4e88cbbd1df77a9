//! Control: ask an agent to end, answer that, and say that one waits for work.

mod approve;
mod idle;
mod reject;
mod request;

use std::fmt;

use comity_core::calls;
use comity_core::control::{ControlAsk, ControlEvent, HandshakeId};
use comity_core::{Ask, Event, Refusal};

use crate::catalog::next_call;
use crate::operation::{HelpSection, JsonSchema, Plan, Serialize};
use crate::operations::mail::Next;

use crate::catalog::{CatalogEntry, Group, POST};
pub use approve::ApproveShutdown;
pub use idle::ReportIdle;
pub use reject::RejectShutdown;
pub use request::RequestShutdown;

pub(crate) const GROUPS: &[Group] = &[("shutdown", "Ask an agent to end, or answer that")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<RequestShutdown>(calls::SHUTDOWN_REQUEST, "shutdown request <agent>",   POST, "/api/shutdown")                  .removes(),
    CatalogEntry::of::<ApproveShutdown>(calls::SHUTDOWN_APPROVE, "shutdown approve <request>", POST, "/api/shutdown/{request}/approve").removes().answers("s-", "approve"),
    CatalogEntry::of::<RejectShutdown>( calls::SHUTDOWN_REJECT,  "shutdown reject <request>",  POST, "/api/shutdown/{request}/reject") .changes().answers("s-", "reject"),
    CatalogEntry::of::<ReportIdle>(     "idle",                  "idle <summary>",             POST, "/api/idle")                      .changes().for_agents().unlisted(&["reason", "task", "status"]).under(HelpSection::Work),
];

/// Where the handshake stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Handshake {
    /// The request; empty for an agent that was ended without one.
    pub request: String,
    /// asked, approved, rejected or ended.
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
        hint: format!("see what waits for you with: {}", next_call::<Next>([])),
    })
}

impl fmt::Display for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.request.is_empty() {
            true => f.write_str(self.state),
            false => write!(f, "{} {}", self.request, self.state),
        }
    }
}
