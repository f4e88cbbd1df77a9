//! Hands out a worktree of the pool: a rename and a branch, no checkout.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use super::commit::CommitId;
use super::create::{BegunWorktree, CheckedOut, MadeWorktree, NewWorktree};
use super::disk::Root;
use super::failure::{FailureKind, WorktreeError};
use super::names::Branch;
use super::pool::InPool;
use super::proof::check_pristine;
use super::record::Pooled;
use super::setup::Preparation;
use super::step::WorktreeStep;
use super::{BaseCommit, Driver};
use crate::git::Git;
use crate::worktrees::WorktreeDirs;

/// Git's message for an unknown command.
const NO_SUCH_COMMAND: &str = "unknown command";

impl Driver {
    /// Hands out a worktree of the pool if one is ready, otherwise makes one.
    pub fn claim_or_create(&self, new: &NewWorktree<'_>) -> Result<MadeWorktree, WorktreeError> {
        match self.claim(new)? {
            Some(made) => Ok(made),
            None => self.create(new),
        }
    }

    /// Hands out a worktree of the pool, updated if the base has moved; `None` if none is ready.
    ///
    /// One that somebody has touched is not handed out: it goes to the trash, and stays there.
    pub fn claim(&self, new: &NewWorktree<'_>) -> Result<Option<MadeWorktree>, WorktreeError> {
        let deadline = self.deadline();
        let branch = new.branch()?;
        let own;
        let reserved = match new.reserved {
            Some(reserved) => reserved,
            None => {
                own = self.reserve(new.slug)?;
                &own
            }
        };
        self.check_folder(new.slug)?;
        let mut pooled = self.pooled()?;
        if pooled.is_empty() {
            return Ok(None);
        }
        let (base, preparation, looked) = self.find_out(new, &branch, &pooled[0], deadline);
        let (base, preparation) = (base?, preparation?);
        reserved.note(new.slug, &branch, &base)?;
        let held = reserved.file();
        let first = pooled[0].name.clone();
        // Those already at the base come first.
        pooled.sort_by_key(|pooled| pooled.record.commit != base.commit);
        for pooled in pooled {
            let is_untouched =
                if pooled.name == first { looked } else { self.is_untouched(&pooled, deadline) };
            if !is_untouched {
                self.discard(&pooled, "somebody changed it in the pool")?;
                continue;
            }
            let path = self.places.worktrees.join(new.slug.folder());
            if !self.take(&pooled, &new.slug.folder())? {
                continue;
            }
            self.unwatch(&pooled.name);
            self.done(WorktreeStep::Claimed);
            let (slug, branch, base) = (new.slug.clone(), branch.clone(), base.clone());
            let mut begun = BegunWorktree { slug, path, branch, base, has_branch: false };
            let made = self.finish(&mut begun, &pooled, preparation, held, deadline);
            return made.map(Some).map_err(|failure| self.take_back(&begun, failure));
        }
        Ok(None)
    }

    /// Three independent questions, asked in parallel.
    fn find_out(
        &self,
        new: &NewWorktree<'_>,
        branch: &Branch,
        first: &InPool,
        deadline: Instant,
    ) -> (Result<BaseCommit, WorktreeError>, Result<Preparation, WorktreeError>, bool) {
        let died = || WorktreeError::git("a thread that asked git has died");
        std::thread::scope(|scope| {
            let project = self.project();
            let base =
                scope.spawn(move || self.base_for(&Git::on_refs(&project, deadline), new.base, branch));
            let preparation = scope.spawn(move || self.prepare(new.setup, deadline));
            let is_untouched = self.is_untouched(first, deadline);
            let base = base.join().unwrap_or_else(|_| Err(died()));
            let preparation = preparation.join().unwrap_or_else(|_| Err(died()));
            (base, preparation, is_untouched)
        })
    }

    /// Moves a worktree of the pool to its new place, unless somebody else was faster.
    fn take(&self, pooled: &InPool, folder: &str) -> Result<bool, WorktreeError> {
        let (pool, worktrees) = (self.place(&self.places.pool)?, self.place(&self.places.worktrees)?);
        match pool.rename(&pooled.name, &worktrees, folder) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let message = format!("there is a worktree {folder} already");
                Err(WorktreeError::new(FailureKind::Taken, message, "take another name"))
            }
            Err(error) => Err(WorktreeError::disk(pool.path())(error)),
        }
    }

    fn finish(
        &self,
        begun: &mut BegunWorktree,
        pooled: &InPool,
        preparation: Preparation,
        held: &File,
        deadline: Instant,
    ) -> Result<MadeWorktree, WorktreeError> {
        let worktree = WorktreeDirs { root: begun.path.clone(), git_dir: pooled.worktree.git_dir.clone() };
        tell_git_where(&worktree)?;
        if pooled.record.commit != begun.base.commit {
            self.switch(&worktree, &begun.base.commit, held, deadline)?;
            check_pristine(&worktree, &begun.base.commit, deadline)?;
        }
        let git = Git::on_refs(&worktree, deadline).holding(held);
        branch_off(&git, &begun.branch, &begun.base.commit)?;
        begun.has_branch = true;
        let Pooled { unfiltered, hooks, .. } = pooled.record.clone();
        self.hand_over(
            &worktree,
            begun,
            preparation,
            CheckedOut { unfiltered, hooks, warnings: Vec::new() },
            deadline,
        )
    }
}

/// Creates the branch and puts the worktree on it. The files stay as they are: both are at the same commit.
fn branch_off(git: &Git<'_>, branch: &Branch, commit: &CommitId) -> Result<(), WorktreeError> {
    let (full, reason) = (branch.full(), format!("branch: Created from {commit}"));
    let update = ["update-ref", "--create-reflog", "-m", &reason, "--stdin"];
    let create = format!("create {full} {commit}\n");
    let output = git.run(&update, format!("{create}symref-update HEAD {full}\n").as_bytes())?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !complaint.contains(NO_SUCH_COMMAND) {
        return Err(WorktreeError::git(format!("git update-ref: {}", complaint.trim())));
    }
    // Git before 2.46 needs two calls.
    git.tell(&update, create.as_bytes())?;
    let switched = git.tell(&["symbolic-ref", "-m", &reason, "HEAD", &full], b"");
    if let Err(error) = switched {
        git.tell(&["update-ref", "-d", &full, commit.as_str()], b"")?;
        return Err(error.into());
    }
    Ok(())
}
/// Tells git where a worktree has moved. Besides the rename, that is all that `git worktree move` does.
pub(super) fn tell_git_where(worktree: &WorktreeDirs) -> Result<(), WorktreeError> {
    let marker = worktree.root.join(".git");
    let line = [marker.as_os_str().as_encoded_bytes(), b"\n"].concat();
    let write = || Root::open(&worktree.git_dir)?.write("gitdir", &line);
    write().map_err(WorktreeError::disk(&worktree.git_dir.join(Path::new("gitdir"))))
}
