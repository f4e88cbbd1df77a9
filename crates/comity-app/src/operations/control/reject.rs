//! Refuses a request to end.

use comity_core::control::ControlAsk;

use super::{Handshake, number, planned};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::locks::stored_reason;

/// Decline to end, and say why.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectShutdown {
    /// The request, such as r3
    #[serde(alias = "requestId")]
    pub request: String,
    /// Why you are not ending
    pub reason: String,
}

impl Operation for RejectShutdown {
    type Output = Handshake;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Handshake>, Failure> {
        let reason = stored_reason(Some(self.reason)).unwrap_or_default();
        Ok(planned(ControlAsk::RejectShutdown { request: number(&self.request)?, reason }))
    }
}
