//! Locks: take, give back, look, and decide about others' locks.

mod check;
mod extend;
mod hand_over;
mod list;
mod lock;
mod release;
mod unlock;

use std::fmt;

use comity_core::locks::{Hold, Lock as CoreLock};
use comity_core::{Event, Fence, PathPattern, ProjectId, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

pub use check::Check;
pub use extend::Extend;
pub use hand_over::HandOver;
pub use list::ListLocks;
pub use lock::Lock;
pub use release::Release;
pub use unlock::Unlock;

/// One lock, as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LockView {
    /// The canonical path or glob.
    pub path: String,
    /// Name of the holder.
    pub holder: String,
    /// Id of the holder, if it is an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// exclusive or shared.
    pub mode: &'static str,
    /// held, lapsed (its files are being looked at) or orphaned (uncommitted work was left).
    pub state: &'static str,
    /// Why it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its fence: a later holder has a larger one.
    pub fence: u64,
    /// For how long already.
    pub age_ms: u64,
    /// How long it lasts without a sign of life of its holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// The repository.
    pub project: String,
    /// Asks that wait for it.
    pub waiting: usize,
}

impl LockView {
    pub(crate) fn of(lock: &CoreLock, world: &World, now: Timestamp) -> LockView {
        let seen = lock.view(world, now);
        let project = world.projects.get(&lock.wanted.project);
        LockView {
            path: seen.path,
            holder: seen.holder,
            agent: seen.agent.map(|agent| agent.to_string()),
            mode: seen.mode.word(),
            state: seen.state,
            reason: seen.reason,
            fence: lock.fence.0,
            age_ms: seen.age_ms.0,
            expires_in_ms: seen.expires_in_ms.map(|left| left.0),
            project: project
                .map_or_else(|| lock.wanted.project.to_string(), |project| project.name().to_owned()),
            waiting: world.locks.waits_overlapping(lock.wanted.project, &lock.wanted.pattern).len(),
        }
    }
}

impl fmt::Display for LockView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = comity_core::display::visible;
        write!(f, "{}  {}", shown(&self.path), self.holder)?;
        if self.mode == "shared" {
            f.write_str("  shared")?;
        }
        match self.expires_in_ms {
            Some(left) => write!(f, "  {} left", comity_core::Millis(left))?,
            None => write!(f, "  {}", self.state)?,
        }
        match self.waiting {
            0 => {}
            n => write!(f, "  {n} waiting")?,
        }
        match &self.reason {
            Some(reason) => write!(f, "  \"{}\"", shown(reason)),
            None => Ok(()),
        }
    }
}

/// What an operation on locks did, path by path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LockChanges {
    /// The paths.
    pub paths: Vec<String>,
    #[serde(skip)]
    verb: &'static str,
}

impl LockChanges {
    fn new(verb: &'static str, paths: Vec<String>) -> LockChanges {
        LockChanges { paths, verb }
    }
}

impl fmt::Display for LockChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.paths.is_empty() {
            return write!(f, "nothing to be {}", self.verb);
        }
        let lines: Vec<String> = self
            .paths
            .iter()
            .map(|path| format!("{} {}", self.verb, comity_core::display::visible(path)))
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The paths of locks that are about to change, by fence, so that the answer can name them afterwards.
fn paths_by_fence<'a>(locks: impl Iterator<Item = &'a CoreLock>) -> Vec<(Fence, String)> {
    locks.map(|lock| (lock.fence, lock.wanted.pattern.readable())).collect()
}

/// The locks that overlap one of the patterns.
fn overlapping<'a>(
    world: &'a World,
    project: ProjectId,
    patterns: &'a [PathPattern],
) -> impl Iterator<Item = &'a CoreLock> {
    patterns.iter().flat_map(move |pattern| world.locks.overlapping(project, pattern))
}

/// The fence that an event about an existing lock is about.
fn fence_of(event: &Event) -> Option<Fence> {
    match event {
        Event::LockReleased { fence, .. }
        | Event::LockExtended { fence, .. }
        | Event::LockHandedOver { fence, .. } => Some(*fence),
        _ => None,
    }
}

/// Names the locks that the events changed.
fn changed(verb: &'static str, events: &[Event], before: &[(Fence, String)]) -> LockChanges {
    let name = |fence: Fence| {
        let known = before.iter().find(|(other, _)| *other == fence);
        known.map_or_else(|| format!("lock {fence}"), |(_, path)| path.clone())
    };
    LockChanges::new(verb, events.iter().filter_map(fence_of).map(name).collect())
}

/// A reason as it is stored: bounded, and without secrets.
fn stored_reason(reason: Option<String>) -> Option<Box<str>> {
    reason
        .filter(|reason| !reason.trim().is_empty())
        .map(|reason| comity_core::redact::redact(reason.trim()).into())
}

fn must_name_paths(paths: &[String]) -> Result<(), Refusal> {
    match paths.is_empty() {
        true => Err(Refusal::bad_input("no path was named", "name the paths, or a directory")),
        false => Ok(()),
    }
}

/// Whether a lock keeps others out at this moment.
fn keeps_out(lock: &CoreLock, world: &World, now: Timestamp) -> bool {
    lock.hold != Hold::Held || lock.is_live(world, now)
}
