//! Locks: take, give back, look, and decide about others' locks.

mod adopt;
mod check;
mod extend;
mod hand_over;
mod left_dirty;
mod list;
mod lock;
mod release;
mod rescue;
mod unlock;

use std::fmt;

use comity_core::calls;
use comity_core::locks::{Hold, Lock as CoreLock, LockEvent, keeps_from_writing, meant_by};
use comity_core::paths::covers;
use comity_core::projects::Project;
use comity_core::{Event, PathPattern, Principal, ProjectId, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
use crate::projects::PathBase;
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

pub(crate) const GROUPS: &[Group] = &[("lock", "Who may edit which path")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Lock>(     calls::LOCK,     "lock <paths>",     POST,   "/api/coordination/locks")         .changes().for_agents().always_loaded().waits().unlisted(&["with_children"]).examples(&["lock src/login.rs --reason \"fixing the login\"", "lock 'src/**/*.rs' --wait 30s"]),
    CatalogEntry::of::<Unlock>(   calls::UNLOCK,   "unlock <paths>",   DELETE, "/api/coordination/locks/{paths}") .changes().for_agents().always_loaded().unlisted(&["all_projects"]).also(&["lock unlock"]).examples(&["unlock src/login.rs", "unlock --all"]),
    CatalogEntry::of::<ListLocks>(calls::LOCKS,    "lock list <path>", GET,    "/api/coordination/locks")         .for_agents().unlisted(&["all_projects"]).also(&["locks", "lock ls", "lock show"]),
    CatalogEntry::of::<Check>(    "check",    "check <path>",     GET,    "/api/coordination/check")         .for_agents().always_loaded().also(&["lock check"]),
    CatalogEntry::of::<Extend>(   "extend",   "extend <paths>",   POST,   "/api/coordination/locks/extend")  .changes().also(&["lock extend"]).examples(&["extend src/login.rs --ttl 30m"]),
    CatalogEntry::of::<HandOver>( calls::HANDOVER, "handover <paths>", POST,   "/api/coordination/locks/handover").changes().also(&["lock handover", "lock give"]).examples(&["handover src/login.rs --to bob"]),
    CatalogEntry::of::<Adopt>(    calls::ADOPT,    "adopt <paths>",    POST,   "/api/coordination/locks/adopt")   .changes().also(&["lock adopt"]),
    CatalogEntry::of::<Rescue>(   calls::RESCUE,   "rescue <paths>",   POST,   "/api/coordination/locks/rescue")  .removes().long().writes_files().also(&["lock rescue"]),
    CatalogEntry::of::<Release>(  calls::RELEASE,  "release <paths>",  POST,   "/api/coordination/locks/release") .removes().also(&["lock release", "lock free", "lock give-back"]).examples(&["release src/login.rs", "release src/login.rs --from ann --reason \"she is at lunch\""]),
];

/// One lock, as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LockView {
    /// The canonical path or glob.
    pub path: String,
    pub holder: String,
    /// Id of the holder, if it is an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// exclusive or shared.
    pub mode: &'static str,
    /// held, lapsed (its files are being looked at) or orphaned (uncommitted work was left).
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its fence: a later holder has a larger one.
    pub fence: u64,
    /// For how long already.
    pub age_ms: u64,
    /// How long it lasts without a sign of life of its holder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    pub project: String,
    /// Asks that wait for it.
    pub waiting: usize,
    /// Whether whoever looks holds it; programs know that by the name.
    #[serde(skip)]
    pub is_yours: bool,
    /// Some of the files with uncommitted work, if it is orphaned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

impl LockView {
    pub(crate) fn of(lock: &CoreLock, world: &World, now: Timestamp) -> LockView {
        let seen = lock.view(world, now);
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
            project: project_name(world, lock.wanted.project),
            waiting: waiting_for(world, lock),
            is_yours: false,
            left: lock.left.iter().map(ToString::to_string).collect(),
        }
    }
}

pub(super) fn project_name(world: &World, id: ProjectId) -> String {
    world.projects.get(&id).map_or_else(|| id.to_string(), |project| project.name().to_owned())
}

impl LockView {
    fn row(&self, with_project: bool) -> Vec<String> {
        let shown = |text: &str| comity_core::display::visible(text).into_owned();
        let reason = self.reason.as_ref().map(|reason| format!("\"{}\"", shown(reason)));
        let left = (!self.left.is_empty() && self.left != [self.path.clone()])
            .then(|| format!("work in {}", shown(&self.left.join(", "))));
        vec![
            shown(&self.path),
            if self.is_yours { "you".to_owned() } else { self.holder.clone() },
            if self.state == "held" { self.mode.to_owned() } else { self.state.to_owned() },
            self.expires_in_ms.map(|left| comity_core::Millis(left).to_string()).unwrap_or_default(),
            if self.waiting > 0 { self.waiting.to_string() } else { String::new() },
            if with_project { shown(&self.project) } else { String::new() },
            [reason, left].into_iter().flatten().collect::<Vec<_>>().join("  "),
        ]
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
    pub paths: Vec<String>,
    /// The repository of each path, if any of them is not in the one that the caller is in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
    /// What is worth knowing: uncommitted changes, or that a lock covers more than was named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip)]
    verb: &'static str,
}

impl fmt::Display for LockChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let visible = comity_core::display::visible;
        let place = |at: usize| self.projects.get(at).map(|project| format!(" in {}", visible(project)));
        let paths = self.paths.iter().enumerate();
        let mut lines: Vec<String> = paths
            .map(|(at, path)| format!("{} {}{}", self.verb, visible(path), place(at).unwrap_or_default()))
            .collect();
        if lines.is_empty() {
            lines.push(format!("nothing to be {}", self.verb));
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        f.write_str(&lines.join("\n"))
    }
}

/// How to name locked paths to a caller: as stored if it is at the top of its repository, otherwise as absolute
/// paths.
pub(super) fn named_from(
    place: Option<&PathBase>,
    world: &World,
    project: ProjectId,
    pattern: &PathPattern,
) -> String {
    let is_top = place.is_some_and(|place| place.project() == project && place.is_top());
    match world.projects.get(&project).and_then(Project::top).filter(|_| !is_top) {
        Some(top) => format!("{top}/{pattern}"),
        None => pattern.to_string(),
    }
}

/// The locks that the events changed.
fn changed(verb: &'static str, events: &[Event]) -> LockChanges {
    let path = |event: &Event| match event {
        Event::Lock(LockEvent::Released { path, .. })
        | Event::Lock(LockEvent::Extended { path, .. })
        | Event::Lock(LockEvent::HandedOver { path, .. }) => Some(path.to_string()),
        _ => None,
    };
    let paths = events.iter().filter_map(path).collect();
    LockChanges { verb, paths, projects: vec![], notes: vec![] }
}

/// For each path without a lock of its own, the lock that it stands for.
fn wider(world: &World, project: ProjectId, patterns: &[PathPattern]) -> Vec<String> {
    let note = |pattern: &PathPattern| {
        let locks = meant_by(world, project, pattern);
        let around: Vec<String> = locks
            .iter()
            .filter(|lock| !covers(pattern, &lock.wanted.pattern))
            .map(|lock| lock.wanted.pattern.readable())
            .collect();
        let shown = comity_core::display::visible;
        (!around.is_empty()).then(|| {
            let path = pattern.readable();
            format!(
                "{} has no lock of its own: that was the lock on {}",
                shown(&path),
                shown(&around.join(", "))
            )
        })
    };
    patterns.iter().filter_map(note).collect()
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

/// How many others wait for what a lock covers: its holder may wait for more than it has.
pub(in crate::operations) fn waiting_for(world: &World, lock: &CoreLock) -> usize {
    let waits = world.locks.waits_overlapping(lock.wanted.project, &lock.wanted.pattern);
    waits.iter().filter(|wait| wait.who != lock.holder).count()
}

/// Whether a lock keeps somebody from writing right now.
pub(crate) fn keeps_out(lock: &CoreLock, who: Principal, world: &World, now: Timestamp) -> bool {
    keeps_from_writing(world, who, lock) && (lock.hold != Hold::Held || lock.is_live(world, now))
}
