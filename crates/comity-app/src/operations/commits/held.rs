//! What somebody may commit: what is held exclusively, proven again when it is published.

use std::collections::BTreeSet;
use std::path::Path;

use comity_core::locks::{Hold, Lock, LockAsk, LockMode, LockRefusal};
use comity_core::{Ask, CaseRule, Fence, PathPattern, Principal, ProjectId, Refusal, World};
use comity_git::commit::{CommitScope, FileChange, MergedByGit, Patterns, SearchScope};

use crate::application::Application;
use crate::operation::Failure;
use crate::operations::locks::keeps_out;
use crate::operations::worktrees::made_under_locks;
use crate::projects::PathBase;

pub(super) struct ProjectLocks {
    project: ProjectId,
    case: CaseRule,
    pub(super) patterns: Vec<PathPattern>,
    fences: Vec<Fence>,
}

impl ProjectLocks {
    pub(super) fn by(world: &World, who: Principal, project: ProjectId, case: CaseRule) -> ProjectLocks {
        let held = world.locks.live_of(who).filter(|lock| {
            lock.hold == Hold::Held
                && lock.wanted.project == project
                && lock.wanted.mode == LockMode::Exclusive
        });
        let (patterns, fences) = held.map(|lock| (lock.wanted.pattern.clone(), lock.fence)).unzip();
        ProjectLocks { project, case, patterns, fences }
    }

    /// The ask whether every change is still held with its fence.
    pub(super) fn proof(&self, changes: &[FileChange]) -> Result<Ask, Refusal> {
        let mut held: Vec<(PathPattern, Fence)> = Vec::new();
        for change in changes {
            let holding =
                |pattern: &&PathPattern| self.is_covered(std::slice::from_ref(*pattern), &change.path);
            let at = self.patterns.iter().position(|pattern| holding(&pattern)).ok_or_else(|| {
                let path = change.path.to_string_lossy().into_owned();
                Refusal::Lock(LockRefusal::NotHeld { path, yours: vec![], holders: vec![] })
            })?;
            let lock = (self.patterns[at].clone(), self.fences[at]);
            if !held.contains(&lock) {
                held.push(lock);
            }
        }
        Ok(Ask::Lock(LockAsk::CheckFences { project: self.project, held, mode: LockMode::Exclusive }))
    }

    fn is_covered(&self, patterns: &[PathPattern], path: &Path) -> bool {
        Patterns { patterns, case: self.case }.covers(path)
    }
}

/// Refuses a merge by which git would change what somebody else holds, unless that was committed under locks: whoever makes the
/// other side can put anything there.
pub(super) fn refuse_others(
    app: &Application,
    who: Principal,
    place: &PathBase,
    merged: &MergedByGit<'_>,
) -> Result<(), Refusal> {
    let unknown = |problem: String| Refusal::bad_input(problem, "nothing was changed; try again");
    let others: Vec<&FileChange> = {
        let (world, now) = (app.engine().world(), app.engine().now());
        let held = world
            .locks
            .iter()
            .filter(|lock| lock.wanted.project == place.project() && keeps_out(lock, who, &world, now));
        let patterns: Vec<PathPattern> = held.map(|lock| lock.wanted.pattern.clone()).collect();
        let held = Patterns { patterns: &patterns, case: place.repository().case() };
        merged.changes.iter().filter(|change| held.covers(&change.path)).collect()
    };
    for change in others {
        let commits = merged.commits_to(&change.path).map_err(|problem| unknown(problem.to_string()))?;
        let ids: BTreeSet<&str> = commits.iter().map(String::as_str).collect();
        let made = made_under_locks(app, &ids).map_err(|failure| match failure {
            Failure::Refused(refusal) => refusal,
            Failure::Fault(problem) => unknown(problem),
        })?;
        if ids.is_empty() || made.len() < ids.len() {
            return Err(locked(app, who, place, &change.path));
        }
    }
    Ok(())
}

fn locked(app: &Application, who: Principal, place: &PathBase, path: &Path) -> Refusal {
    let (world, now) = (app.engine().world(), app.engine().now());
    let case = place.repository().case();
    let holds = |lock: &&Lock| {
        let pattern = std::slice::from_ref(&lock.wanted.pattern);
        lock.wanted.project == place.project()
            && keeps_out(lock, who, &world, now)
            && Patterns { patterns: pattern, case }.covers(path)
    };
    let holders = world.locks.iter().filter(holds).map(|lock| lock.view(&world, now));
    LockRefusal::locked(path.to_string_lossy().into_owned(), holders.collect(), 0)
}

impl CommitScope for ProjectLocks {
    fn look(&self) -> SearchScope {
        Patterns { patterns: &self.patterns, case: self.case }.look()
    }

    fn covers(&self, path: &Path) -> bool {
        self.is_covered(&self.patterns, path)
    }
}
