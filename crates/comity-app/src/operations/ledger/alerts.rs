//! What needs somebody's decision.

use std::fmt;

use comity_core::display::{shell_word, visible};
use comity_core::locks::Hold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Shows what needs a decision: locks over uncommitted work that their holder has left.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAlerts {}

/// What needs a decision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Alerts {
    /// The oldest first.
    pub alerts: Vec<Alert>,
}

/// One thing that needs a decision.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Alert {
    /// What kind.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// How bad.
    pub severity: &'static str,
    /// What, in a sentence.
    pub message: String,
    /// What to do.
    pub action: String,
}

impl Operation for ListAlerts {
    type Output = Alerts;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Alerts>, Failure> {
        let now = app.engine().now();
        let world = app.engine().world();
        let orphaned = world.locks.iter().filter(|lock| lock.hold == Hold::Orphaned);
        let alerts = orphaned.map(|lock| Alert {
            kind: "orphaned_lock",
            severity: "warning",
            message: match &lock.left[..] {
                [] => lock.view(&world, now).to_string(),
                left => visible(&format!("{} in {}", lock.view(&world, now), left.join(", "))).into_owned(),
            },
            action: format!(
                "comity adopt {0}, comity handover {0} --to AGENT, comity rescue {0} (put it aside), or comity release {0}",
                shell_word(&lock.wanted.pattern.to_string())
            ),
        });
        Ok(Plan::Answer(Alerts { alerts: alerts.collect() }))
    }
}

impl fmt::Display for Alerts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.alerts.is_empty() {
            return f.write_str("nothing needs a decision");
        }
        let lines: Vec<String> =
            self.alerts.iter().map(|alert| format!("{}\n  {}", alert.message, alert.action)).collect();
        f.write_str(&lines.join("\n"))
    }
}
