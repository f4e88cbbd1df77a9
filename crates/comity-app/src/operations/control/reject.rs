//! Does not agree to end.

use clap::Args;
use comity_core::control::ControlAsk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Handshake, number, planned};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::operations::locks::stored_reason;

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
