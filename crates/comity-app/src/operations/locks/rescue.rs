//! Puts orphaned work aside.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use comity_core::display::visible;
use comity_core::locks::{Hold, Lock, ReleaseCause};
use comity_core::{Ask, Event, PathPattern, ProjectId, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::must_name_paths;
use crate::application::Application;
use crate::engine::Failed;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::projects::Place;

/// How long git may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Puts uncommitted work that somebody left aside: it is kept in git's stash and by a ref, its files are as they were
/// committed, and its orphaned locks are free.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rescue {
    /// Every orphaned lock that overlaps one of these
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
}

/// What was put aside.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rescued {
    /// The work, one entry for each lock and worktree.
    pub rescued: Vec<Kept>,
    /// The paths that are free now.
    pub paths: Vec<String>,
}

/// Work that is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kept {
    /// Whose work it was.
    pub by: String,
    /// The ref that keeps it.
    pub r#ref: String,
    /// The commit that it is in.
    pub commit: String,
    /// The directory that its files were in.
    pub worktree: String,
    /// Its files.
    pub files: Vec<String>,
}

impl Operation for Rescue {
    type Output = Rescued;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Rescued>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place(caller)?;
        if let Some(done) = done_before(app, caller, &place) {
            return Ok(Plan::Answer(done));
        }
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        // Whoever may not take it away may not put it aside, and nothing is touched before that is known.
        let release = |patterns, reason| Ask::Release { project, patterns, reason };
        comity_core::decide(&app.engine().world(), &caller.asker(), &release(patterns.clone(), None))?;
        let left: Vec<Left> = left(app, project, &patterns)?;
        let _moving = app.watch().moving();
        let mut rescued = Vec::new();
        for Left { lock, by } in &left {
            rescued.extend(put_aside(app, lock, by)?);
        }
        let refs: Vec<&str> = rescued.iter().map(|kept| &*kept.r#ref).collect();
        let reason = match refs.is_empty() {
            true => "it had no uncommitted work any more".to_owned(),
            false => format!("put aside into {}", refs.join(", ")),
        };
        let is_held = |left: &Left| app.engine().world().locks.get(left.lock.fence).is_some();
        // What is clean becomes free by itself.
        let held = left.iter().filter(|left| is_held(left));
        let patterns: Vec<PathPattern> = held.map(|left| left.lock.wanted.pattern.clone()).collect();
        if !patterns.is_empty() {
            let asks = vec![release(patterns, Some(reason.into()))];
            match app.engine().ask_with_key(caller.asker(), asks, caller.key.clone()) {
                Ok(_) => {}
                Err(_) if !left.iter().any(is_held) => {}
                Err(Failed::Refused(refusal)) => return Err(refusal.into()),
                Err(Failed::Fault(problem)) => return Err(Failure::Fault(problem)),
            }
        }
        let paths = left.iter().map(|left| left.lock.path().to_string()).collect();
        Ok(Plan::Answer(Rescued { rescued, paths }))
    }
}

/// What the same call, by its key, has put aside already; the server did not live to answer it.
fn done_before(app: &Application, caller: &Caller, place: &Place) -> Option<Rescued> {
    let (mut refs, mut paths) = (BTreeSet::new(), Vec::new());
    for event in app.answered(caller)? {
        if let Event::LockReleased { path, cause: ReleaseCause::TakenAway { reason }, .. } = event {
            let reason = reason.unwrap_or_default();
            let words = reason.split([' ', ',']).filter(|word| word.starts_with(comity_git::RESCUED));
            refs.extend(words.map(str::to_owned));
            paths.push(path.into());
        }
    }
    let common_dir = place.repository().common_dir();
    let kept = |name: &String| {
        let (by, found) = comity_git::rescued(common_dir, name, PATIENCE).ok()?;
        Some(Kept::of(&by, found))
    };
    Some(Rescued { rescued: refs.iter().filter_map(kept).collect(), paths })
}

/// Work that somebody left.
struct Left {
    lock: Lock,
    by: String,
}

/// The orphaned locks that overlap these; there must be no others.
fn left(app: &Application, project: ProjectId, patterns: &[PathPattern]) -> Result<Vec<Left>, Refusal> {
    let (world, now) = (app.engine().world(), app.engine().now());
    let mut found: Vec<Left> = Vec::new();
    for lock in patterns.iter().flat_map(|pattern| world.locks.overlapping(project, pattern)) {
        if lock.hold != Hold::Orphaned {
            let problem = format!("{}: that is not work that was left", lock.view(&world, now));
            return Err(Refusal::bad_input(problem, "see whose it is with: comity locks"));
        }
        if !found.iter().any(|known| known.lock.fence == lock.fence) {
            found.push(Left { lock: lock.clone(), by: world.name_of(lock.holder) });
        }
    }
    Ok(found)
}

fn put_aside(app: &Application, lock: &Lock, by: &str) -> Result<Vec<Kept>, Failure> {
    let project = app.engine().world().projects.get(&lock.wanted.project).cloned();
    let Some(project) = project else { return Ok(vec![]) };
    let (common_dir, pattern) = (Path::new(&*project.common_dir), &lock.wanted.pattern);
    let rescued = comity_git::put_aside(common_dir, pattern, project.case, PATIENCE, by);
    let rescued = rescued.map_err(|problem| Refusal::NotAllowed {
        problem: format!("the work of {by} stays where it is: {}", visible(&problem.to_string())),
        hint: format!("fix that, or take the work over as it is: comity adopt {pattern}"),
    })?;
    Ok(rescued.into_iter().map(|one| Kept::of(by, one)).collect())
}

impl Kept {
    fn of(by: &str, one: comity_git::Rescued) -> Kept {
        Kept {
            by: by.to_owned(),
            r#ref: one.name,
            commit: one.commit,
            worktree: one.worktree.display().to_string(),
            files: one.files,
        }
    }
}

impl fmt::Display for Rescued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = Vec::new();
        for Kept { by, r#ref, files, .. } in &self.rescued {
            lines.push(format!("put aside the work of {by} in {}", visible(&files.join(", "))));
            lines.push(format!("get it back with: git stash apply {}", r#ref));
        }
        lines.extend(self.paths.iter().map(|path| format!("freed {}", visible(path))));
        f.write_str(&lines.join("\n"))
    }
}
