//! Takes locks.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use comity_core::locks::{Hold, LockAsk, LockEvent, LockMode, LockRefusal, Wanted};
use comity_core::{Ask, Event, Millis, PathPattern, Principal, Refusal, Timestamp, World, limits};
use comity_git::WorktreeFilter;

use super::{LockView, must_name_paths, stored_reason};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::permissions::submit_plan_first;
use crate::projects::PathBase;
use crate::span::Span;

/// Files of one ask that are checked, and how long git may take for one.
const CHANGED_MAX: usize = 8;
const LOOK_MAX: Duration = Duration::from_secs(2);

/// Lock paths so that nobody else edits them: all or none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Files, directories, globs (src/**/*.rs)
    #[serde(alias = "filePath", deserialize_with = "one_or_many")]
    pub paths: Vec<String>,
    /// Others may share it; nobody may edit
    #[serde(default)]
    pub shared: bool,
    /// What you are doing
    pub reason: Option<String>,
    /// How long it lasts without a sign of life (5m)
    #[serde(alias = "ttlSeconds")]
    pub ttl: Option<Span>,
    /// Let the agents below you write there, too
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_children: bool,
    /// Wait up to this long (30s)
    pub wait: Option<Span>,
}

/// What was granted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LockGrant {
    /// One entry for each path.
    pub locks: Vec<LockView>,
    /// Those of the paths that are not there yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Those with uncommitted changes that were made while nobody had them locked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

/// Who plans takes no locks.
pub(super) fn refuse_planners(app: &Application, caller: &Caller) -> Result<(), Refusal> {
    if !app.is_planning(caller.who) {
        return Ok(());
    }
    let problem = "you are in plan mode: you change nothing, so no path is locked for you".into();
    Err(Refusal::NotAllowed { problem, hint: submit_plan_first() })
}

impl Operation for Lock {
    type Output = LockGrant;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<LockGrant>, Failure> {
        must_name_paths(&self.paths)?;
        refuse_planners(app, caller)?;
        let place = app.projects().place(caller)?;
        let mode = if self.shared { LockMode::Shared } else { LockMode::Exclusive };
        let ttl = match self.ttl {
            Some(ttl) => Some(ttl),
            None => place.settings()?.lock.ttl.or(app.config().lock.ttl),
        };
        let ttl = ttl.map_or(limits::LOCK_TTL, |span| span.0);
        let reason = stored_reason(self.reason);
        let project = place.project();
        let patterns = place.resolve_all(&self.paths)?;
        let missing: Vec<String> = patterns.iter().filter_map(|pattern| place.missing(pattern)).collect();
        let changed = match self.shared {
            true => vec![],
            false => ChangedBefore::among(&app.engine().world(), &place, &patterns),
        };
        let wants = patterns.into_iter().zip(&self.paths).map(|(pattern, path)| Wanted {
            project,
            pattern,
            mode,
            ttl,
            reason: reason.clone(),
            with_children: self.with_children,
            // An absolute path may lead into another one.
            worktree: place.root().filter(|_| !path.starts_with('/') && !path.contains("..")),
        });
        let wants = wants.collect();
        let wait = self.wait.map(|span| span.0).filter(|wait| *wait > Millis(0));
        let mut asks: Vec<Ask> = place.introduce(&app.engine().world()).into_iter().collect();
        asks.push(Ask::Lock(LockAsk::Lock { wants, wait }));
        let who = caller.who;
        if changed.is_empty() {
            return Ok(Plan::grant(asks, move |events: &[Event], world: &World, now| {
                Ok(LockGrant { locks: grant(who, events, world, now)?, missing, changed: vec![] })
            }));
        }
        Ok(Plan::change_then(asks, move |app, events| {
            let locks = grant(who, events, &app.engine().world(), app.engine().now())?;
            let changed = changed.iter().filter_map(ChangedBefore::confirmed).collect();
            Ok(LockGrant { locks, missing, changed })
        }))
    }
}

/// A file that nobody had locked, and that looks changed.
struct ChangedBefore {
    place: PathBase,
    pattern: PathPattern,
}

impl ChangedBefore {
    fn among(world: &World, place: &PathBase, patterns: &[PathPattern]) -> Vec<ChangedBefore> {
        let looks_changed = |pattern: &&PathPattern| {
            let [alternative] = pattern.alternatives() else { return false };
            let path: PathBuf = alternative.prefix().collect();
            alternative.rest().is_empty()
                && world.locks.overlapping(place.project(), pattern).is_empty()
                && comity_git::looks_changed(place.repository(), &path)
        };
        let found = patterns.iter().filter(looks_changed).take(CHANGED_MAX);
        found.map(|pattern| ChangedBefore { place: place.clone(), pattern: pattern.clone() }).collect()
    }

    /// Its name, if git agrees.
    fn confirmed(&self) -> Option<String> {
        let repository = self.place.repository();
        let here = WorktreeFilter::Only([repository.root().canonicalize().ok()?].into());
        let (dir, case) = (repository.common_dir(), repository.case());
        let found = comity_git::uncommitted_work(dir, (&self.pattern, &here), case, LOOK_MAX, 1);
        found.ok().flatten().map(|_| self.pattern.readable())
    }
}

/// The locks as they are now. A repeat may come when they are no longer held.
fn grant(who: Principal, events: &[Event], world: &World, now: Timestamp) -> Result<Vec<LockView>, Refusal> {
    let mut locks = Vec::new();
    for event in events {
        let (fence, path, wanted) = match event {
            Event::Lock(LockEvent::Acquired { fence, wanted, .. }) => {
                (*fence, wanted.pattern.readable(), Some(wanted))
            }
            Event::Lock(LockEvent::Renewed { fence, path, .. }) => (*fence, path.to_string(), None),
            _ => continue,
        };
        let held = world.locks.get(fence).filter(|lock| lock.holder == who && lock.hold == Hold::Held);
        let Some(lock) = held else {
            let now_held = wanted.map(|wanted| world.locks.overlapping(wanted.project, &wanted.pattern));
            let others = now_held.into_iter().flatten().filter(|lock| lock.holder != who);
            let holders = others.take(limits::HOLDERS_SHOWN_MAX).map(|lock| lock.view(world, now)).collect();
            return Err(Refusal::Lock(LockRefusal::StaleFence { path, holders }));
        };
        locks.push(LockView::of(lock, world, now));
    }
    Ok(locks)
}

impl fmt::Display for LockGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self
            .locks
            .iter()
            .map(|lock| {
                let shared = if lock.mode == "shared" { " shared" } else { "" };
                let left = lock.expires_in_ms.map(|left| format!(" for {}", Millis(left)));
                let path = comity_core::display::visible(&lock.path);
                format!("locked {path}{shared}{} (fence {})", left.unwrap_or_default(), lock.fence)
            })
            .collect();
        lines.extend(self.missing.iter().map(|path| {
            format!("note: {} does not exist yet; is it spelled right?", comity_core::display::visible(path))
        }));
        if let [_, ..] = &self.changed[..] {
            let has = if self.changed.len() == 1 { "has" } else { "have" };
            let paths = comity_core::display::visible(&self.changed.join(", ")).into_owned();
            lines.push(format!(
                "note: {paths} {has} uncommitted changes from before your lock; look at them first: your commit takes them in"
            ));
        }
        f.write_str(&lines.join("\n"))
    }
}

/// Agents often give one path where a list is expected.
pub(in crate::operations) fn one_or_many<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    struct Paths;
    impl<'de> serde::de::Visitor<'de> for Paths {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a path or a list of paths")
        }

        fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Vec<String>, E> {
            Ok(vec![path.to_owned()])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut paths = Vec::new();
            while let Some(path) = list.next_element()? {
                paths.push(path);
            }
            Ok(paths)
        }
    }
    deserializer.deserialize_any(Paths)
}
