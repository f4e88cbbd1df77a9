//! What needs somebody's decision.

use std::fmt;

use comity_core::display::visible;
use comity_core::locks::Hold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::operations::locks::{Adopt, HandOver, Release, Rescue, named_from, project_name};

/// Show what needs a decision: locks over uncommitted work that their holder left behind.
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
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub severity: &'static str,
    /// What, in a sentence.
    pub message: String,
    /// The repository that it is about.
    pub project: String,
    pub action: String,
    /// Whether that is another one than the caller's.
    #[serde(skip)]
    is_elsewhere: bool,
}

impl Operation for ListAlerts {
    type Output = Alerts;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Alerts>, Failure> {
        let now = app.engine().now();
        let place = app.projects().place(caller).ok();
        let world = app.engine().world();
        let orphaned = world.locks.iter().filter(|lock| lock.hold == Hold::Orphaned);
        let alerts = orphaned.map(|lock| Alert {
            project: project_name(&world, lock.wanted.project),
            is_elsewhere: place.as_ref().is_none_or(|place| place.project() != lock.wanted.project),
            kind: "orphaned_lock",
            severity: "warning",
            message: match &lock.left[..] {
                [] => lock.view(&world, now).to_string(),
                left => visible(&format!("{} in {}", lock.view(&world, now), left.join(", "))).into_owned(),
            },
            action: {
                let path = named_from(place.as_ref(), &world, lock.wanted.project, &lock.wanted.pattern);
                let paths = || ("paths", [path.as_str()].into());
                let adopt = next_call::<Adopt>([paths()]);
                let hand_over = next_call::<HandOver>([paths(), ("to", "AGENT".into())]);
                let (rescue, release) = (next_call::<Rescue>([paths()]), next_call::<Release>([paths()]));
                format!("{adopt}, {hand_over}, {rescue} (put it aside), or {release}")
            },
        });
        Ok(Plan::Answer(Alerts { alerts: alerts.collect() }))
    }
}

impl fmt::Display for Alerts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.alerts.is_empty() {
            return f.write_str("nothing needs a decision");
        }
        let line = |alert: &Alert| {
            let Alert { message, action, project, is_elsewhere, .. } = alert;
            let place = if *is_elsewhere { format!("in {}: ", visible(project)) } else { String::new() };
            format!("{place}{message}\n  {action}")
        };
        f.write_str(&self.alerts.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
