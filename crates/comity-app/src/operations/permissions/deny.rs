//! Answers a permission request with no.

use comity_core::permissions::Answer;

use super::allow::answered;
use super::{RequestView, stored};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Deny a request from an agent you lead; it learns why.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenyRequest {
    /// The request's number
    pub id: u64,
    /// Why, for whoever asked
    pub reason: Option<String>,
}

impl Operation for DenyRequest {
    type Output = RequestView;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RequestView>, Failure> {
        answered(app, self.id, None, Answer::Deny { reason: stored(self.reason) })
    }
}
