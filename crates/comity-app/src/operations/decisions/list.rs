//! Shows the decisions.

use std::fmt;

use comity_core::decisions::DecisionState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DecisionView;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Shows what was decided, why, and what waits to be confirmed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDecisions {
    /// Only those that wait to be confirmed
    #[serde(default)]
    pub pending: bool,
}

/// What was decided.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DecisionList {
    /// The oldest first.
    pub decisions: Vec<DecisionView>,
}

impl Operation for ListDecisions {
    type Output = DecisionList;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<DecisionList>, Failure> {
        let (world, now) = (app.engine().world(), app.engine().now());
        let shown =
            world.decisions.iter().filter(|one| !self.pending || one.standing == DecisionState::Pending);
        let decisions = shown.map(|decision| DecisionView::of(decision, &world, now)).collect();
        Ok(Plan::Answer(DecisionList { decisions }))
    }
}

impl fmt::Display for DecisionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.decisions.is_empty() {
            return f.write_str("nothing was decided");
        }
        let lines: Vec<String> = self.decisions.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}
