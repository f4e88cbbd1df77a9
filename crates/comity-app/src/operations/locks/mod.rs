//! Locks: take, give back, look, and decide about others' locks.

mod adopt;
mod check;
mod extend;
mod hand_over;
mod list;
mod lock;
mod release;
mod rescue;
mod unlock;

use std::fmt;

use comity_core::locks::{Hold, Lock as CoreLock, LockEvent, keeps_from_writing};
use comity_core::{Event, Principal, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::{CatalogEntry, DELETE, GET, POST};
pub use adopt::Adopt;
pub use check::Check;
pub use extend::Extend;
pub use hand_over::HandOver;
pub use list::ListLocks;
pub use lock::Lock;
pub(super) use lock::one_or_many;
pub use release::Release;
pub use rescue::Rescue;
pub use unlock::Unlock;

/// The operations, in the order in which people read them.
#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Lock>(     "lock",     "lock <paths>",     POST,   "/api/coordination/locks")         .changes().for_agents().always_loaded().waits().unlisted(&["with_children"]),
    CatalogEntry::of::<Unlock>(   "unlock",   "unlock <paths>",   DELETE, "/api/coordination/locks/{paths}") .changes().for_agents().always_loaded(),
    CatalogEntry::of::<ListLocks>("locks",    "locks <path>",     GET,    "/api/coordination/locks")         .for_agents(),
    CatalogEntry::of::<Check>(    "check",    "check <path>",     GET,    "/api/coordination/check")         .for_agents().always_loaded(),
    CatalogEntry::of::<Extend>(   "extend",   "extend <paths>",   POST,   "/api/coordination/locks/extend")  .changes(),
    CatalogEntry::of::<HandOver>( "handover", "handover <paths>", POST,   "/api/coordination/locks/handover").changes(),
    CatalogEntry::of::<Adopt>(    "adopt",    "adopt <paths>",    POST,   "/api/coordination/locks/adopt")   .changes(),
    CatalogEntry::of::<Rescue>(   "rescue",   "rescue <paths>",   POST,   "/api/coordination/locks/rescue")  .removes().long().writes_files(),
    CatalogEntry::of::<Release>(  "release",  "release <paths>",  POST,   "/api/coordination/locks/release") .removes(),
];

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
    /// Some of the files with uncommitted work, if it is orphaned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
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
            left: lock.left.iter().map(ToString::to_string).collect(),
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
        if let Some(reason) = &self.reason {
            write!(f, "  \"{}\"", shown(reason))?;
        }
        match &self.left[..] {
            [] => Ok(()),
            [only] if *only == self.path => Ok(()),
            left => write!(f, "  work in {}", shown(&left.join(", "))),
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

/// Names the locks that the events changed.
fn changed(verb: &'static str, events: &[Event]) -> LockChanges {
    let path = |event: &Event| match event {
        Event::Lock(LockEvent::Released { path, .. })
        | Event::Lock(LockEvent::Extended { path, .. })
        | Event::Lock(LockEvent::HandedOver { path, .. }) => Some(path.to_string()),
        _ => None,
    };
    LockChanges { verb, paths: events.iter().filter_map(path).collect() }
}

/// A reason as it is stored: bounded, and without secrets.
pub(super) fn stored_reason(reason: Option<String>) -> Option<Box<str>> {
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

/// Whether a lock keeps somebody from writing at this moment.
pub(crate) fn keeps_out(lock: &CoreLock, who: Principal, world: &World, now: Timestamp) -> bool {
    keeps_from_writing(world, who, lock) && (lock.hold != Hold::Held || lock.is_live(world, now))
}
