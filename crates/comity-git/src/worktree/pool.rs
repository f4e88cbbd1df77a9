//! The pool: worktrees made in advance, so that the next one is available at once.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::sync::{MutexGuard, PoisonError};
use std::time::Instant;

use super::commit::CommitId;
use super::create::{ADD_SETTINGS, CheckedOut};
use super::disk::Root;
use super::failure::WorktreeError;
use super::names::random_suffix;
use super::proof::{check_pristine, look_at_git};
use super::record::{Pooled, WorktreeRecord};
use super::step::WorktreeStep;
use super::survey::{Except, Survey};
use super::watch::ChangeWatch;
use super::{Driver, FailureKind};
use crate::git::Git;
use crate::worktrees::WorktreeDirs;

const READY_MAX: usize = 16;
/// Why git must not prune a worktree of the pool.
pub(super) const READY: &str = "it is ready for the next one";
/// Suffix of one that is being updated, and cannot be claimed.
const BUSY: &str = ".busy";

/// What filling the pool did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filled {
    pub ready: usize,
    pub made: usize,
    pub updated: usize,
    /// Those that somebody had touched; they are in the trash under these names, and stay there.
    pub discarded: Vec<String>,
}

#[derive(Clone)]
pub(super) struct InPool {
    pub(super) name: String,
    pub(super) worktree: WorktreeDirs,
    pub(super) record: Pooled,
}

impl Driver {
    /// Makes this many worktrees ready, at the current commit of `base`. Takes as long as git does.
    pub fn fill(&self, base: &str, ready: usize) -> Result<Filled, WorktreeError> {
        let deadline = self.deadline();
        let turn = self.turn_at_pool(deadline)?;
        let held = turn.file();
        self.check_room()?;
        let project = self.project();
        let git = Git::on_refs(&project, deadline).with_settings(ADD_SETTINGS).holding(held);
        let commit = self.resolve(&git, base)?;
        self.clear_pool()?;
        let mut filled = Filled::default();
        for pooled in self.pooled()? {
            if filled.ready >= ready || pooled.record.commit == commit {
                filled.ready += 1;
                continue;
            }
            match self.update(&pooled, &commit, held, deadline)? {
                Updated::Yes => (filled.updated, filled.ready) = (filled.updated + 1, filled.ready + 1),
                Updated::Claimed => {}
                Updated::Discarded(id) => filled.discarded.push(id),
            }
        }
        while filled.ready < ready.min(READY_MAX) {
            self.make_pooled(&git, &commit, held, deadline)?;
            (filled.made, filled.ready) = (filled.made + 1, filled.ready + 1);
        }
        self.watch_pool(deadline)?;
        Ok(filled)
    }

    pub fn ready(&self) -> Result<usize, WorktreeError> {
        Ok(self.pooled()?.len())
    }

    pub(super) fn pooled(&self) -> Result<Vec<InPool>, WorktreeError> {
        let pool = &self.places.pool;
        let mut names = Vec::new();
        for entry in fs::read_dir(pool).map_err(WorktreeError::disk(pool))? {
            names.extend(entry.map_err(WorktreeError::disk(pool))?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names.into_iter().filter_map(|name| self.pooled_at(name)).collect())
    }

    fn pooled_at(&self, name: String) -> Option<InPool> {
        let worktree = self.linked(&self.places.pool.join(&name)).filter(|_| !name.ends_with(BUSY))?;
        match WorktreeRecord::read(&worktree.git_dir).ok()?? {
            WorktreeRecord::Pooled(record) => Some(InPool { name, worktree, record }),
            WorktreeRecord::Making { .. } | WorktreeRecord::Ready(_) => None,
        }
    }

    /// Whether nobody has touched a worktree of the pool since it was made.
    ///
    /// A watched one need not be searched; but git's directory for it always is.
    pub(super) fn is_untouched(&self, pooled: &InPool, deadline: Instant) -> bool {
        let InPool { name, worktree, record } = pooled;
        let is_watched = || self.watches().get(name).is_some_and(ChangeWatch::is_silent);
        look_at_git(&worktree.git_dir, deadline).is_ok_and(|git| git.seal == record.git)
            && (is_watched()
                || look_at_files(worktree, deadline).is_ok_and(|files| files.seal == record.files))
    }

    fn make_pooled(
        &self,
        git: &Git<'_>,
        commit: &CommitId,
        held: &File,
        deadline: Instant,
    ) -> Result<(), WorktreeError> {
        let name = format!("pool-{}", random_suffix()?);
        let path = self.places.pool.join(&name);
        let make = || -> Result<(), WorktreeError> {
            let add = [
                "worktree",
                "add",
                "--quiet",
                "--no-checkout",
                "--detach",
                "--lock",
                "--reason",
                READY,
                "--",
            ];
            git.tell(&[&add[..], &[path.to_str().unwrap_or_default(), commit.as_str()]].concat(), b"")?;
            let worktree = self.linked(&path).ok_or_else(|| {
                WorktreeError::git(format!("git made {} and it is not a worktree", path.display()))
            })?;
            self.done(WorktreeStep::Added);
            let files = self.check_out(&worktree, held, deadline)?;
            self.done(WorktreeStep::CheckedOut);
            let (record, watch) = self.seal(&worktree, commit, files, deadline)?;
            // It can be claimed as soon as its record is written, and must be watched by then.
            watch.map(|watch| self.watches().insert(name.clone(), watch));
            record.write(&worktree.git_dir)
        };
        make().map_err(|failure| match self.set_aside_path(None, &path, &failure.to_string()) {
            Ok(None) => failure,
            Ok(Some(id)) => failure.and(&format!("what there was of it is in the trash as {id}")),
            Err(error) => failure.and(&format!("what there is of it stays in {}: {error}", path.display())),
        })
    }

    /// Seals an unused worktree, once git says that it contains only the commit.
    ///
    /// It is watched from before git looks: as long as nothing happens, it is what git has seen.
    fn seal(
        &self,
        worktree: &WorktreeDirs,
        commit: &CommitId,
        checked_out: CheckedOut,
        deadline: Instant,
    ) -> Result<(WorktreeRecord, Option<ChangeWatch>), WorktreeError> {
        let look = || Ok((look_at_files(worktree, deadline)?, look_at_git(&worktree.git_dir, deadline)?));
        let (files, git) = look().map_err(WorktreeError::disk(&worktree.root))?;
        let watch = files.watch(&worktree.root);
        files.settle();
        check_pristine(worktree, commit, deadline)?;
        let CheckedOut { unfiltered, hooks, .. } = checked_out;
        let record = Pooled { commit: commit.clone(), files: files.seal, git: git.seal, unfiltered, hooks };
        Ok((WorktreeRecord::Pooled(record), watch))
    }

    /// Watches the ready worktrees that are not watched yet.
    pub(super) fn watch_pool(&self, deadline: Instant) -> Result<(), WorktreeError> {
        let pooled = self.pooled()?;
        self.watches().retain(|name, _| pooled.iter().any(|pooled| pooled.name == *name));
        for InPool { name, worktree, record } in pooled {
            if self.watches().contains_key(&name) {
                continue;
            }
            let look = || look_at_files(&worktree, deadline).ok().filter(|files| files.seal == record.files);
            // The second look sees what changed before the watch began.
            let watch = look().and_then(|files| files.watch(&worktree.root)).filter(|_| look().is_some());
            watch.and_then(|watch| self.watches().insert(name, watch));
        }
        Ok(())
    }

    /// A worktree that has left the pool need not be watched.
    pub(super) fn unwatch(&self, name: &str) {
        self.watches().remove(name);
    }

    fn watches(&self) -> MutexGuard<'_, HashMap<String, ChangeWatch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves a worktree of the pool to another commit, by checking out the difference.
    fn update(
        &self,
        pooled: &InPool,
        commit: &CommitId,
        held: &File,
        deadline: Instant,
    ) -> Result<Updated, WorktreeError> {
        let Some(busy) = self.hold(pooled)? else { return Ok(Updated::Claimed) };
        let update = || -> Result<(), WorktreeError> {
            if !self.is_untouched(&busy, deadline) {
                return Err(WorktreeError::new(FailureKind::Changed, "somebody changed it in the pool", ""));
            }
            self.switch(&busy.worktree, commit, held, deadline)?;
            self.done(WorktreeStep::CheckedOut);
            let Pooled { unfiltered, hooks, .. } = busy.record.clone();
            let files = CheckedOut { unfiltered, hooks, warnings: Vec::new() };
            // The rename ends a watch; it is watched again below.
            let (record, _) = self.seal(&busy.worktree, commit, files, deadline)?;
            record.write(&busy.worktree.git_dir)?;
            self.done(WorktreeStep::Recorded);
            let place = self.place(&self.places.pool)?;
            place.rename(&busy.name, &place, &pooled.name).map_err(WorktreeError::disk(&busy.worktree.root))
        };
        match update() {
            Ok(()) => Ok(Updated::Yes),
            Err(failure) => match self.set_aside_path(None, &busy.worktree.root, &failure.to_string())? {
                Some(id) => Ok(Updated::Discarded(id)),
                None => Err(failure),
            },
        }
    }

    /// Removes a worktree from the pool for good: it goes to the trash, and stays there.
    pub(super) fn discard(&self, pooled: &InPool, why: &str) -> Result<(), WorktreeError> {
        let Some(busy) = self.hold(pooled)? else { return Ok(()) };
        self.set_aside_path(None, &busy.worktree.root, why).map(drop)
    }

    /// Renames a worktree of the pool so that nobody can claim it; `None` if somebody just has.
    fn hold(&self, pooled: &InPool) -> Result<Option<InPool>, WorktreeError> {
        let place = self.place(&self.places.pool)?;
        let name = format!("{}{BUSY}", pooled.name);
        let worktree = WorktreeDirs { root: self.places.pool.join(&name), ..pooled.worktree.clone() };
        match place.rename(&pooled.name, &place, &name) {
            Ok(()) => {
                self.unwatch(&pooled.name);
                self.done(WorktreeStep::Held);
                Ok(Some(InPool { name, worktree, record: pooled.record.clone() }))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(WorktreeError::disk(&pooled.worktree.root)(error)),
        }
    }

    pub(super) fn switch(
        &self,
        worktree: &WorktreeDirs,
        to: &CommitId,
        held: &File,
        deadline: Instant,
    ) -> Result<(), WorktreeError> {
        let git = Git::on(worktree, deadline)?.holding(held);
        git.ask("checkout", &["--quiet", "--detach", "--no-recurse-submodules", to.as_str()], &[])?;
        Ok(())
    }
}

enum Updated {
    Yes,
    Claimed,
    Discarded(String),
}

fn look_at_files(worktree: &WorktreeDirs, deadline: Instant) -> std::io::Result<Survey> {
    Survey::of(&Root::open(&worktree.root)?, &Except::default(), deadline)
}
