//! Shows what is locked.

use std::collections::BTreeSet;
use std::fmt;

use comity_core::display::{counted, visible};
use comity_core::locks::{Lock, LockWait};
use comity_core::next_call::Argument;
use comity_core::table::table;
use comity_core::{ProjectId, Timestamp, World};

use super::{LockView, project_name};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
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
    /// How many there are in other repositories, and are not shown.
    pub elsewhere: usize,
    /// Whether each is shown with its repository.
    #[serde(skip)]
    names_projects: bool,
    /// The repository that all are in.
    #[serde(skip)]
    project: Option<String>,
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
        let here = place.ok().map(|place| place.project()).filter(|_| !self.all_projects);
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
            None => {
                let is_here = |project| here.is_none_or(|here| here == project);
                (world.locks.iter().filter(|lock| is_here(lock.wanted.project)).collect(), None)
            }
        };
        let is_here =
            |wait: &LockWait| here.is_none_or(|here| wait.wants.iter().any(|wanted| wanted.project == here));
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
        let names_projects = wanted.is_none() && here.is_none();
        let project = wanted.as_ref().map(|(project, _)| *project).or(here);
        let project = in_project(&world, project);
        Ok(Plan::Answer(LockList { locks, waits, total, elsewhere, names_projects, project }))
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
        let is_empty = self.locks.is_empty() && self.waits.is_empty();
        lines.extend(self.project.iter().filter(|_| !is_empty).map(|name| format!("in {}:", visible(name))));
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
        if lines.is_empty() {
            lines.push("nothing is locked".to_owned() + if self.elsewhere > 0 { " here" } else { "" });
        }
        if self.elsewhere > 0 {
            lines.push(format!(
                "{} in other repositories: {}",
                counted(self.elsewhere, "lock"),
                next_call::<ListLocks>([("all_projects", Argument::Yes)])
            ));
        }
        f.write_str(&lines.join("\n"))
    }
}
