//! Agrees to end.

use clap::Args;
use comity_core::control::ControlAsk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Handshake, number, planned};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::operations::locks::stored_reason;

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
