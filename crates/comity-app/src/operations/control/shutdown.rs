//! The handshake by which an agent is ended: asked, and it answers.

use std::fmt;

use clap::Args;
use comity_core::control::{ControlAsk, ControlEvent, RequestId};
use comity_core::{Ask, Event, Millis, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::operations::locks::stored_reason;
use crate::span::Span;

/// How long an agent has to answer, unless asked otherwise.
const WITHIN: Millis = Millis::seconds(60);

/// Asks an agent that you lead to end. It agrees or says why not; past the time it is ended all the same.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct RequestShutdown {
    /// Name or id
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it has to answer, such as 60s (the default)
    #[arg(long, value_name = "SPAN")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Span>,
}

/// Agrees to end. Everything that you hold is released.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct ApproveShutdown {
    /// The request, such as r3
    #[arg(value_name = "REQUEST")]
    #[serde(alias = "requestId")]
    pub request: String,
    /// The pane that you run in
    #[arg(long, value_name = "PANE")]
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "paneId")]
    pub pane: Option<String>,
    /// What runs you
    #[arg(long, value_name = "BACKEND")]
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "backendType")]
    pub backend: Option<String>,
}

/// Does not agree to end, and says why.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct RejectShutdown {
    /// The request, such as r3
    #[arg(value_name = "REQUEST")]
    #[serde(alias = "requestId")]
    pub request: String,
    /// Why you go on
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Where the handshake stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Handshake {
    /// The request.
    pub request: String,
    /// asked, approved or rejected.
    pub state: &'static str,
}

impl Operation for RequestShutdown {
    const NAME: &'static str = "shutdown_request";
    const EFFECT: Effect = Effect::Removes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/shutdown" };
    const COMMAND: &'static [&'static str] = &["shutdown", "request"];
    type Output = Handshake;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Handshake>, Failure> {
        let agent = app.engine().world().agents.find(&self.agent)?.id;
        let within = self.within.map_or(WITHIN, |span| span.0);
        let ask = ControlAsk::RequestShutdown { agent, reason: stored_reason(self.reason), within };
        Ok(planned(ask))
    }
}

impl Operation for ApproveShutdown {
    const NAME: &'static str = "shutdown_approve";
    const EFFECT: Effect = Effect::Removes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/shutdown/{request}/approve" };
    const COMMAND: &'static [&'static str] = &["shutdown", "approve"];
    type Output = Handshake;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Handshake>, Failure> {
        let (pane, backend) = (stored_reason(self.pane), stored_reason(self.backend));
        Ok(planned(ControlAsk::ApproveShutdown { request: number(&self.request)?, pane, backend }))
    }
}

impl Operation for RejectShutdown {
    const NAME: &'static str = "shutdown_reject";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/shutdown/{request}/reject" };
    const COMMAND: &'static [&'static str] = &["shutdown", "reject"];
    type Output = Handshake;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Handshake>, Failure> {
        let reason = stored_reason(Some(self.reason)).unwrap_or_default();
        Ok(planned(ControlAsk::RejectShutdown { request: number(&self.request)?, reason }))
    }
}

fn planned(ask: ControlAsk) -> Plan<Handshake> {
    Plan::Change { asks: vec![Ask::Control(ask)], finish: Box::new(|events, _, _| handshake(events)) }
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

fn number(text: &str) -> Result<RequestId, Refusal> {
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
