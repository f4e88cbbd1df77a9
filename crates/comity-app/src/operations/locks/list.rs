//! Shows what is locked.

use std::fmt;

use comity_core::Timestamp;
use comity_core::World;
use comity_core::locks::LockWait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LockView;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Locks that one answer shows.
const SHOWN_MAX: usize = 1_000;

/// Shows which paths are locked, by whom, why and until when, and who waits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLocks {
    /// Only what overlaps this path or glob
    pub path: Option<String>,
}

/// What is locked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LockList {
    /// The locks, the oldest first.
    pub locks: Vec<LockView>,
    /// The asks that wait, the first in line first.
    pub waits: Vec<WaitView>,
    /// How many locks there are in all.
    pub total: usize,
}

/// One ask that waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitView {
    /// Who waits.
    pub who: String,
    /// For what.
    pub paths: Vec<String>,
    /// Its place among all that wait, from 1.
    pub position: usize,
    /// For how long already.
    pub age_ms: u64,
    /// Until it gives up.
    pub gives_up_in_ms: u64,
}

impl Operation for ListLocks {
    type Output = LockList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockList>, Failure> {
        let now = app.engine().now();
        let wanted = match &self.path {
            Some(path) => {
                let place = app.projects().place(caller)?;
                Some((place.project(), place.resolve(path)?))
            }
            None => None,
        };
        let world = app.engine().world();
        let (locks, tickets) = match &wanted {
            Some((project, pattern)) => (
                world.locks.overlapping(*project, pattern),
                Some(
                    world
                        .locks
                        .waits_overlapping(*project, pattern)
                        .iter()
                        .map(|wait| wait.ticket)
                        .collect::<Vec<_>>(),
                ),
            ),
            None => (world.locks.iter().collect(), None),
        };
        let waits = world.locks.waits().enumerate();
        let waits = waits.filter(|(_, wait)| tickets.as_ref().is_none_or(|only| only.contains(&wait.ticket)));
        let total = locks.len();
        let locks = locks.into_iter().take(SHOWN_MAX).map(|lock| LockView::of(lock, &world, now)).collect();
        let waits = waits.map(|(at, wait)| wait_view(at + 1, wait, &world, now)).collect();
        Ok(Plan::Answer(LockList { locks, waits, total }))
    }
}

fn wait_view(position: usize, wait: &LockWait, world: &World, now: Timestamp) -> WaitView {
    WaitView {
        who: world.name_of(wait.who),
        paths: wait.wants.iter().map(|wanted| wanted.pattern.readable()).collect(),
        position,
        age_ms: now.since(wait.since).0,
        gives_up_in_ms: wait.deadline.since(now).0,
    }
}

impl fmt::Display for LockList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.locks.iter().map(ToString::to_string).collect();
        if self.total > self.locks.len() {
            lines.push(format!("… and {} more; name a path to see its locks", self.total - self.locks.len()));
        }
        lines.extend(self.waits.iter().map(|wait| {
            let left = comity_core::Millis(wait.gives_up_in_ms);
            format!("{}. {} waits for {}, {left} left", wait.position, wait.who, wait.paths.join(", "))
        }));
        match lines.is_empty() {
            true => f.write_str("nothing is locked"),
            false => f.write_str(&lines.join("\n")),
        }
    }
}
