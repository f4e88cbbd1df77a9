//! Shows what is locked.

use std::collections::BTreeSet;
use std::fmt;

use comity_core::display::visible;
use comity_core::locks::{Lock, LockWait};
use comity_core::table::table;
use comity_core::{ProjectId, Timestamp, World};

use super::{LockView, project_name};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::project_scope::{ProjectScope, ScopeView};
use crate::projects::in_project;

/// Locks in one answer.
const SHOWN_MAX: usize = 1_000;

/// List what is locked here, by whom, why and until when, and who waits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLocks {
    /// Only what overlaps this path or glob
    pub path: Option<String>,
    /// Include other projects
    #[serde(default, alias = "all")]
    pub all_projects: bool,
}

/// What is locked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LockList {
    /// The locks, the oldest first.
    pub locks: Vec<LockView>,
    /// The asks that wait, the first in line first.
    pub waits: Vec<WaitView>,
    /// How many locks there are here.
    pub total: usize,
    #[serde(flatten)]
    pub scope: ScopeView,
    /// Whether each is shown with its repository.
    #[serde(skip)]
    names_projects: bool,
}

/// One ask that waits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitView {
    pub who: String,
    pub paths: Vec<String>,
    /// Its place among all that wait, from 1.
    pub position: usize,
    /// For how long already.
    pub age_ms: u64,
    /// Until it gives up.
    pub gives_up_in_ms: u64,
    /// The repositories that its paths are in.
    pub projects: Vec<String>,
}

impl Operation for ListLocks {
    type Output = LockList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockList>, Failure> {
        let now = app.engine().now();
        let place = app.projects().place(caller);
        let wanted = match &self.path {
            Some(path) => {
                let place = place.as_ref().map_err(Clone::clone)?;
                Some((place.project(), place.resolve(path)?))
            }
            None => None,
        };
        let scope = ProjectScope::of(app, caller, self.all_projects);
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
            None => (world.locks.iter().filter(|lock| scope.shows(lock.wanted.project)).collect(), None),
        };
        let is_here = |wait: &LockWait| wait.wants.iter().any(|wanted| scope.shows(wanted.project));
        let waits = world.locks.waits().enumerate().filter(|(_, wait)| match &tickets {
            Some(only) => only.contains(&wait.ticket),
            None => is_here(wait),
        });
        let total = locks.len();
        let elsewhere = if wanted.is_none() { world.locks.len() - total } else { 0 };
        let who = caller.who;
        let view = |lock: &Lock| LockView { is_yours: lock.holder == who, ..LockView::of(lock, &world, now) };
        let locks = locks.into_iter().take(SHOWN_MAX).map(view).collect();
        let waits = waits.map(|(at, wait)| wait_view(at + 1, wait, &world, now)).collect();
        let mut scope = scope.view(elsewhere);
        if let Some((project, _)) = wanted {
            scope.project = in_project(&world, Some(project));
        }
        let names_projects = scope.project.is_none();
        Ok(Plan::Answer(LockList { locks, waits, total, scope, names_projects }))
    }
}

fn wait_view(position: usize, wait: &LockWait, world: &World, now: Timestamp) -> WaitView {
    let projects: BTreeSet<ProjectId> = wait.wants.iter().map(|wanted| wanted.project).collect();
    WaitView {
        who: world.name_of(wait.who),
        paths: wait.wants.iter().map(|wanted| wanted.pattern.readable()).collect(),
        position,
        age_ms: now.since(wait.since).0,
        gives_up_in_ms: wait.deadline.since(now).0,
        projects: projects.into_iter().map(|project| project_name(world, project)).collect(),
    }
}

impl fmt::Display for LockList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |projects: &[String]| match self.names_projects {
            true => format!("  in {}", visible(&projects.join(", "))),
            false => String::new(),
        };
        let mut lines = Vec::new();
        if !self.locks.is_empty() {
            let rows: Vec<Vec<String>> =
                self.locks.iter().map(|lock| lock.row(self.names_projects)).collect();
            lines.push(table(&["PATH", "HOLDER", "STATE", "LEFT", "WAITING", "PROJECT", "REASON"], &rows));
        }
        if self.total > self.locks.len() {
            lines.push(format!("… and {} more; name a path to see its locks", self.total - self.locks.len()));
        }
        lines.extend(self.waits.iter().map(|wait| {
            let (left, place) = (comity_core::Millis(wait.gives_up_in_ms), place(&wait.projects));
            format!("{}. {} waits for {}, {left} left{place}", wait.position, wait.who, wait.paths.join(", "))
        }));
        let list = (!lines.is_empty()).then(|| lines.join("\n"));
        f.write_str(&self.scope.whole::<ListLocks>(list, "nothing is locked"))
    }
}
