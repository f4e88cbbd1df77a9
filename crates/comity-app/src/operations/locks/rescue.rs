//! Puts orphaned work aside.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::Path;

use comity_core::display::{shell_word, visible};
use comity_core::locks::{Hold, Lock, LockAsk, LockEvent, ReleaseCause};
use comity_core::projects::Project;
use comity_core::{Ask, Event, Fence, PathPattern, Principal, ProjectId, Refusal};
use comity_git::WorktreeFilter;

use super::must_name_paths;
use crate::catalog::next_call;
use crate::engine::Failed;
use crate::lock_worktrees::{is_in, may_be_in};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::{Adopt, ListLocks};
use crate::planted_panic::panic_at;
use crate::projects::PathBase;

/// How long git may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Set aside uncommitted work that someone left behind: it is kept in git's stash and under a ref, its files go back to what was committed, and its orphaned locks are released.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rescue {
    /// Every orphaned lock that overlaps one of these
    #[serde(deserialize_with = "super::lock::one_or_many")]
    pub paths: Vec<String>,
}

/// What was put aside.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rescued {
    /// The work, one entry for each agent and worktree.
    pub rescued: Vec<Kept>,
    /// The paths that are free now.
    pub paths: Vec<String>,
}

/// Work that is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Kept {
    pub by: String,
    /// The ref that keeps it.
    pub r#ref: String,
    pub commit: String,
    /// The directory that its files were in.
    pub worktree: String,
    pub files: Vec<String>,
}

impl Operation for Rescue {
    type Output = Rescued;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Rescued>, Failure> {
        must_name_paths(&self.paths)?;
        let place = app.projects().place_of(caller, &self.paths)?;
        if let Some(done) = done_before(app, caller, &place) {
            return Ok(Plan::Answer(done));
        }
        let (project, patterns) = (place.project(), place.resolve_all(&self.paths)?);
        // Whoever may not take it away may not put it aside, and nothing is touched before that is known.
        let release =
            Ask::Lock(LockAsk::Release { project, patterns: locked(app, project, &patterns), reason: None });
        comity_core::decide(&app.engine().world(), &caller.asker(), &release)?;
        let _one_at_a_time = app.rescuing();
        let mut left = left(app, caller.who, project, &patterns)?;
        for one in &left {
            one.meant().check(PATIENCE).map_err(|problem| one.stays(&problem, &[]))?;
        }
        take_over(app, caller, project, &mut left)?;
        panic_at("rescue");
        let _moving = app.watch().moving();
        let mut rescued: Vec<Kept> = Vec::new();
        let mut aside: Vec<(Fence, Vec<Box<str>>)> = Vec::new();
        for together in together(&left) {
            let kept = match put_aside(app, caller.who, &together) {
                Ok(kept) => kept,
                Err(problem) => {
                    // What is already aside is recorded all the same; the rest is the caller's now, as it is.
                    let _ = app.engine().ask(caller.asker(), Ask::Lock(LockAsk::PutAside { aside }));
                    return Err(together[0].stays(&problem, &rescued).into());
                }
            };
            let into: Vec<Box<str>> = kept.iter().map(|one| one.name.as_str().into()).collect();
            aside.extend(together.iter().map(|one| (one.lock.fence, into.clone())));
            rescued.extend(kept.into_iter().map(|kept| Kept::of(&together[0].by, kept)));
        }
        let asks = vec![Ask::Lock(LockAsk::PutAside { aside })];
        match app.engine().ask_with_key(caller.asker(), asks, caller.key.clone()) {
            Ok(_) => {}
            Err(Failed::Refused(refusal)) => return Err(refusal.into()),
            Err(Failed::Fault(problem)) => return Err(Failure::Fault(problem)),
        }
        let paths = left.iter().map(|left| left.lock.path().to_string()).collect();
        Ok(Plan::Answer(Rescued { rescued, paths }))
    }
}

/// What the same call, by its key, has already put aside, if the server ended before it could answer.
fn done_before(app: &Application, caller: &Caller, place: &PathBase) -> Option<Rescued> {
    let (mut refs, mut paths) = (BTreeSet::new(), Vec::new());
    for event in app.answered(caller)? {
        if let Event::Lock(LockEvent::Released { path, cause: ReleaseCause::PutAside { into, .. }, .. }) =
            event
        {
            refs.extend(into);
            paths.push(path.into());
        }
    }
    let common_dir = place.repository().common_dir();
    let kept = |name: Box<str>| {
        let (by, found) = comity_git::rescued(common_dir, &name, PATIENCE).ok()?;
        Some(Kept::of(&by, found))
    };
    Some(Rescued { rescued: refs.into_iter().filter_map(kept).collect(), paths })
}

/// The locks on what is meant, each by its own name.
fn locked(app: &Application, project: ProjectId, patterns: &[PathPattern]) -> Vec<PathPattern> {
    let world = app.engine().world();
    let locked = patterns.iter().flat_map(|pattern| {
        let locks = world.locks.overlapping(project, pattern);
        let none = locks.is_empty().then(|| pattern.clone());
        locks.into_iter().map(|lock| lock.wanted.pattern.clone()).chain(none).collect::<Vec<_>>()
    });
    locked.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What goes into one ref: everything that the same agent has left in the same worktrees.
fn together(left: &[AbandonedWork]) -> Vec<Vec<&AbandonedWork>> {
    let mut all: Vec<Vec<&AbandonedWork>> = Vec::new();
    for one in left {
        let into = one.lock.rescue.as_ref().map(|rescue| &rescue.into);
        let belongs = |other: &&mut Vec<&AbandonedWork>| {
            other[0].is_of_same(one) && other[0].lock.rescue.as_ref().map(|rescue| &rescue.into) == into
        };
        match all.iter_mut().find(belongs) {
            Some(others) => others.push(one),
            None => all.push(vec![one]),
        }
    }
    all
}

fn put_aside(
    app: &Application,
    who: Principal,
    together: &[&AbandonedWork],
) -> Result<Vec<comity_git::RescuedWork>, String> {
    let first = together[0];
    let is_ours = |lock: &Lock| lock.holder == who && lock.hold == Hold::Held;
    let are_ours = {
        let world = app.engine().world();
        together.iter().all(|one| world.locks.get(one.lock.fence).is_some_and(is_ours))
    };
    let rescue = first.lock.rescue.as_ref().filter(|_| are_ours);
    let rescue = rescue.ok_or("somebody has taken it over meanwhile")?;
    let patterns = together.iter().flat_map(|one| one.lock.wanted.pattern.alternatives().to_vec());
    let pattern = PathPattern::of(patterns.collect());
    let work = comity_git::LeftWork { pattern: &pattern, ..first.meant() };
    work.put_aside(&first.by, &rescue.into, PATIENCE).map_err(|problem| problem.to_string())
}

struct AbandonedWork {
    lock: Lock,
    by: String,
    project: Project,
    within: WorktreeFilter,
    /// Work found in these made the lock orphaned: none of it may stay when the lock is freed.
    may_be_in: WorktreeFilter,
}

/// The orphaned locks that overlap these, and those that the caller has already taken over for this, with everything
/// that belongs together; there must be no others.
fn left(
    app: &Application,
    who: Principal,
    project: ProjectId,
    patterns: &[PathPattern],
) -> Result<Vec<AbandonedWork>, Refusal> {
    let (world, now) = (app.engine().world(), app.engine().now());
    let mut found: Vec<AbandonedWork> = Vec::new();
    let mut patterns: VecDeque<PathPattern> = patterns.iter().cloned().collect();
    while let Some(pattern) = patterns.pop_front() {
        for lock in world.locks.overlapping(project, &pattern) {
            let is_begun = lock.holder == who && lock.rescue.is_some();
            if lock.hold != Hold::Orphaned && !is_begun {
                let problem = format!("{}: that is not work that was left", lock.view(&world, now));
                return Err(Refusal::bad_input(
                    problem,
                    format!("see whose it is with: {}", next_call::<ListLocks>([])),
                ));
            }
            let Some(project) = world.projects.get(&project).cloned() else { continue };
            if !found.iter().any(|known| known.lock.fence == lock.fence) {
                let by = world.name_of(lock.rescue.as_ref().map_or(lock.holder, |rescue| rescue.of));
                let (within, may_be_in) = (is_in(&world, lock), may_be_in(&world, lock));
                found.push(AbandonedWork { lock: lock.clone(), by, project, within, may_be_in });
                patterns.push_back(lock.wanted.pattern.clone());
            }
        }
    }
    Ok(found)
}

/// Takes it over, so that nobody else gets at it, and announces the refs that it will be in.
fn take_over(
    app: &Application,
    caller: &Caller,
    project: ProjectId,
    left: &mut [AbandonedWork],
) -> Result<(), Failure> {
    let mut promised: Vec<Box<str>> = {
        let world = app.engine().world();
        world.locks.iter().filter_map(|lock| Some(lock.rescue.as_ref()?.into.clone())).collect()
    };
    let (mut into, mut patterns) = (Vec::new(), Vec::new());
    let mut named: Vec<(&AbandonedWork, Box<str>)> = Vec::new();
    for one in left.iter().filter(|one| one.lock.hold == Hold::Orphaned) {
        let begun = one.lock.rescue.as_ref().map(|rescue| &rescue.into);
        let name = match begun.or(named.iter().find(|(other, _)| other.is_of_same(one)).map(|(_, name)| name))
        {
            Some(name) => name.clone(),
            None => {
                let free = comity_git::free_name(one.common_dir(), &one.by, &promised, PATIENCE);
                free.map_err(|problem| one.stays(&problem, &[]))?.into()
            }
        };
        promised.push(name.clone());
        named.push((one, name.clone()));
        into.push((one.lock.fence, name));
        patterns.push(one.lock.wanted.pattern.clone());
    }
    if into.is_empty() {
        return Ok(());
    }
    let adopt = Ask::Lock(LockAsk::Adopt { project, patterns, reason: None, into });
    let events = app.engine().ask(caller.asker(), adopt).map_err(|failed| match failed {
        Failed::Refused(refusal) => refusal.into(),
        Failed::Fault(problem) => Failure::Fault(problem),
    })?;
    for event in events {
        let Event::Lock(LockEvent::HandedOver { fence, new_fence, .. }) = event else { continue };
        let taken = app.engine().world().locks.get(new_fence).cloned();
        let known = left.iter_mut().find(|one| one.lock.fence == fence);
        if let Some((one, taken)) = known.zip(taken) {
            one.lock = taken;
        }
    }
    Ok(())
}

impl AbandonedWork {
    fn common_dir(&self) -> &Path {
        Path::new(&*self.project.common_dir)
    }

    fn meant(&self) -> comity_git::LeftWork<'_> {
        let AbandonedWork { project, within, may_be_in, .. } = self;
        let (common_dir, pattern) = (self.common_dir(), &self.lock.wanted.pattern);
        comity_git::LeftWork { common_dir, pattern, case: project.case, within, may_be_in }
    }

    /// Whether it is the same agent's work, to be looked for in the same worktrees.
    fn is_of_same(&self, other: &AbandonedWork) -> bool {
        self.by == other.by && self.within == other.within && self.may_be_in == other.may_be_in
    }

    /// The error that it stays where it was, with what was put aside before.
    fn stays(&self, problem: &impl fmt::Display, before: &[Kept]) -> Refusal {
        let AbandonedWork { by, lock, .. } = self;
        let pattern = &lock.wanted.pattern;
        let of_path = || ("paths", [pattern.to_string()].into());
        let mut problem = format!("the work of {by} stays where it is: {}", visible(&problem.to_string()));
        for Kept { by, r#ref, files, .. } in before {
            problem +=
                &format!("; the work of {by} in {} was put aside into {}", visible(&files.join(", ")), r#ref);
        }
        let hint = match lock.hold {
            Hold::Orphaned => {
                format!("fix that, or take the work over as it is: {}", next_call::<Adopt>([of_path()]))
            }
            Hold::Held | Hold::Lapsed => {
                format!(
                    "{pattern} is yours now: fix that and ask again, or work on with: {}",
                    next_call::<super::Lock>([of_path()])
                )
            }
        };
        Refusal::NotAllowed { problem, hint }
    }
}

impl Kept {
    fn of(by: &str, one: comity_git::RescuedWork) -> Kept {
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
        for Kept { by, r#ref, files, worktree, .. } in &self.rescued {
            lines.push(format!("put aside the work of {by} in {}", visible(&files.join(", "))));
            lines.push(format!("get it back with: git -C {} stash apply {}", shell_word(worktree), r#ref));
        }
        lines.extend(self.paths.iter().map(|path| format!("freed {}", visible(path))));
        f.write_str(&lines.join("\n"))
    }
}
