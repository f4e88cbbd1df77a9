//! What somebody may commit: what is held exclusively, proven again when it is published.

use std::path::Path;

use comity_core::locks::{Hold, LockAsk, LockMode, LockRefusal};
use comity_core::{Ask, CaseRule, Fence, PathPattern, Principal, ProjectId, Refusal, World};
use comity_git::commit::{CommitScope, FileChange, Patterns, SearchScope};

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

impl CommitScope for ProjectLocks {
    fn look(&self) -> SearchScope {
        Patterns { patterns: &self.patterns, case: self.case }.look()
    }

    fn covers(&self, path: &Path) -> bool {
        self.is_covered(&self.patterns, path)
    }
}
