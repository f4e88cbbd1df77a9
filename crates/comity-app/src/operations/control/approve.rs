//! Agrees to a request to end.

use comity_core::control::ControlAsk;

use super::{Handshake, number, planned};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::locks::stored_reason;

/// Agree to end. Everything you hold is released.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveShutdown {
    /// The request, such as r3
    #[serde(alias = "requestId")]
    pub request: String,
    /// The pane you run in
    #[serde(alias = "paneId")]
    pub pane: Option<String>,
    /// What runs you
    #[serde(alias = "backendType")]
    pub backend: Option<String>,
}

impl Operation for ApproveShutdown {
    type Output = Handshake;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Handshake>, Failure> {
        let (pane, backend) = (stored_reason(self.pane), stored_reason(self.backend));
        Ok(planned(ControlAsk::ApproveShutdown { request: number(&self.request)?, pane, backend }))
    }
}
