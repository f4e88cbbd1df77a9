//! Denies what somebody asks for.

use clap::Args;
use comity_core::permissions::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::allow::answered;
use super::{RequestView, stored};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Denies a request of an agent that you lead; it learns why.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct DenyRequest {
    /// The request's number
    #[arg(value_name = "ID")]
    pub id: u64,
    /// Why, for who asked
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Operation for DenyRequest {
    const NAME: &'static str = "permission_deny";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/permissions/{id}/deny" };
    const COMMAND: &'static [&'static str] = &["permissions", "deny"];
    type Output = RequestView;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RequestView>, Failure> {
        answered(app, self.id, None, Answer::Deny { reason: stored(self.reason) })
    }
}
