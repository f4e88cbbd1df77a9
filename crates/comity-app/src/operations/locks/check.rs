//! Asks whether a path may be edited.

use std::fmt;

use comity_core::limits::HOLDERS_SHOWN_MAX;
use comity_core::locks::{LockMode, LockRefusal, conflicts};

use super::keeps_out;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Ask whether you may edit a path now; if not, who locked it and why.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A file, directory or glob
    pub path: String,
}

/// The path may be edited.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Free {
    /// The canonical path.
    pub path: String,
    /// Whether the caller has it locked.
    pub yours: bool,
}

impl Operation for Check {
    type Output = Free;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Free>, Failure> {
        let place = app.projects().place(caller)?;
        let (project, pattern) = (place.project(), place.resolve(&self.path)?);
        let now = app.engine().now();
        let world = app.engine().world();
        let mut locks =
            conflicts(&world, caller.who, project, &pattern, LockMode::Exclusive, HOLDERS_SHOWN_MAX);
        locks.retain(|lock| keeps_out(lock, caller.who, &world, now));
        if locks.is_empty() {
            let yours = world.locks.own(caller.who, project, &pattern).is_some();
            return Ok(Plan::Answer(Free { path: pattern.readable(), yours }));
        }
        let holders = locks.iter().map(|lock| lock.view(&world, now)).collect();
        let waiting = world.locks.waits_overlapping(project, &pattern).len();
        Err(LockRefusal::locked(pattern.readable(), holders, waiting).into())
    }
}

impl fmt::Display for Free {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = comity_core::display::visible(&self.path);
        match self.yours {
            true => write!(f, "{path} is yours"),
            false => write!(f, "{path} is free"),
        }
    }
}
