//! Removes a rule.

use std::fmt;

use comity_core::permissions::{PermissionAsk, RuleId};
use comity_core::{Ask, Event, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Remove a rule of yours, or of an agent you lead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveRule {
    /// The rule's number
    pub id: u64,
}

/// The rule that was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Removed {
    pub id: u64,
}

impl Operation for RemoveRule {
    type Output = Removed;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Removed>, Failure> {
        let id = self.id;
        let asks = vec![Ask::Permission(PermissionAsk::RemoveRule { rule: RuleId(id) })];
        Ok(Plan::change(asks, move |_: &[Event], _: &World, _| Removed { id }))
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "removed rule {}", self.id)
    }
}
