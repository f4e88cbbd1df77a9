//! Releases the guard's locks once the file is as in the last commit, whatever made it so: a commit, a restore, a
//! checkout.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use comity_core::locks::{Hold, Lock, LockAsk};
use comity_core::{AgentId, Ask, Principal, ProjectId};

use super::AUTO_REASON;
use crate::application::Application;
use crate::lock_worktrees::may_be_in;
use crate::worker_pool::Work;

/// How long git may take.
const GIT_PATIENCE: Duration = Duration::from_secs(8);

/// Whose locks are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CleanLocks {
    Of(AgentId),
    In(ProjectId),
}

impl Application {
    /// Checks the guard's locks, on a thread of its own, and releases those on clean files. An agent in the middle of
    /// a call keeps its locks: it may be about to write.
    pub(crate) fn free_clean_locks(&self, which: CleanLocks) {
        if self.guards_locks(which).is_empty() {
            return;
        }
        // Without a thread it is done the next time.
        let Ok(worker) = self.workers().reserve(Work::Operation) else { return };
        let app = self.clone();
        worker.run(move || {
            for (project, locks) in app.guards_locks(which) {
                app.free_clean(project, &locks);
            }
            app.engine().run_pending();
        });
    }

    /// The guard's locks of agents without a running call, file by file.
    fn guards_locks(&self, which: CleanLocks) -> BTreeMap<ProjectId, Vec<Lock>> {
        let world = self.engine().world();
        let is_meant = |lock: &&Lock| match which {
            CleanLocks::Of(agent) => lock.holder == Principal::Agent(agent),
            CleanLocks::In(project) => lock.wanted.project == project,
        };
        let mut found: BTreeMap<ProjectId, Vec<Lock>> = BTreeMap::new();
        for lock in world.locks.iter().filter(is_meant).filter(|lock| is_guards(lock)) {
            if !lock.holder.agent().is_some_and(|agent| self.watch().has_call_of(agent)) {
                found.entry(lock.wanted.project).or_default().push(lock.clone());
            }
        }
        found
    }

    fn free_clean(&self, project: ProjectId, locks: &[Lock]) {
        let (common_dir, case, among) = {
            let world = self.engine().world();
            let Some(project) = world.projects.get(&project) else { return };
            let among: Vec<_> = locks.iter().map(|lock| may_be_in(&world, lock)).collect();
            (project.common_dir.clone(), project.case, among)
        };
        let meant: Vec<_> = locks.iter().map(|lock| &lock.wanted.pattern).zip(&among).collect();
        let found = comity_git::uncommitted_works(Path::new(&*common_dir), &meant, case, GIT_PATIENCE, 1);
        for (lock, found) in locks.iter().zip(found) {
            let is_idle = || !lock.holder.agent().is_some_and(|agent| self.watch().has_call_of(agent));
            let is_there = || self.engine().world().locks.get(lock.fence).is_some_and(is_guards);
            if matches!(found, Ok(None)) && is_idle() && is_there() {
                let patterns = vec![lock.wanted.pattern.clone()];
                let _ = self.engine().ask(lock.holder, Ask::Lock(LockAsk::Unlock { project, patterns }));
            }
        }
    }
}

/// Whether the guard took a lock, on one file.
fn is_guards(lock: &Lock) -> bool {
    lock.hold == Hold::Held
        && lock.wanted.reason.as_deref() == Some(AUTO_REASON)
        && lock.wanted.pattern.alternatives().iter().all(|alternative| alternative.rest().is_empty())
}
