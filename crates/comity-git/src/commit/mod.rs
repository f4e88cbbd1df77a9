//! Commits exactly those changed files that a scope covers, whatever else is staged or changed.
//!
//! The commit is built in an index of its own, checked, and only then published: by compare-and-swap of the branch,
//! under git's own lock on the worktree's shared index, which is updated at the same time. So a plain `git commit`
//! reverts nothing of it, and nothing that others have staged gets into it.

mod answer;
mod attempts;
mod between;
mod build;
mod change;
mod commit_dir;
mod filters;
mod half_renames;
mod heal;
mod hooks;
mod index_flags;
mod index_lock;
mod journal;
mod look;
mod merged;
mod merging;
mod not_committed;
mod presence;
mod private_index;
mod publish;
mod recover;
mod report;
mod request;
mod scope;
mod side_by_side;
mod verify;

use std::path::Path;
use std::time::{Duration, Instant};

use comity_core::Refusal;

use crate::Repository;
use crate::dot_git::{self, DotGit};
use crate::fair_lock::{FairLock, FairLockError};
use crate::git::Git;
use crate::worktrees::WorktreeDirs;
use attempts::{Committing, PublishedCommit};
use commit_dir::CommitDir;
use half_renames::half_renames;
use heal::settle;
use merging::OngoingMerge;

pub use answer::{
    CommitOutcome, CommitReport, Committed, Confirmation, Dirty, FirstOf, LISTED_MAX, Missing, MissingReason,
    SharedIndex, SkipReason, SkippedPath,
};
pub use attempts::NextCommit;
pub(crate) use between::BetweenCommits;
pub use change::{ChangeKind, FileChange, FileMode, FileVersion};
pub(crate) use commit_dir::NAME as COMMIT_DIR;
pub(crate) use filters::filtered;
pub use half_renames::HalfRename;
pub use heal::Healed;
pub use merged::MergedByGit;
pub use not_committed::NotCommitted;
pub use recover::{BegunCommit, Recalled, came_about, recall};
pub use request::{AUTHOR_BYTES_MAX, Author, CommitRequest, Hooks, MESSAGE_BYTES_MAX};
pub use scope::{CommitScope, Patterns, SearchScope};

/// The file in our directory of the common git directory that is locked while a process of ours commits.
const LOCK_FILE: &str = "commit.lock";

/// Commits the changes within a scope in the working tree of `repository`, and nothing else.
///
/// `before_publish` gets the commit and exactly what it changes, while no other commit of ours is under way in this
/// repository, and may refuse; then nothing has happened. It is called again whenever somebody else moved the branch
/// in between and the commit had to be rebuilt.
pub fn commit(
    repository: &Repository,
    request: &CommitRequest<'_>,
    before_publish: &mut dyn FnMut(&NextCommit<'_>) -> Result<(), Refusal>,
) -> Result<CommitOutcome, NotCommitted> {
    request.check()?;
    let deadline = Instant::now() + request.patience;
    let worktree = worktree(repository)?;
    let turn = turn_to_commit(repository.common_dir(), deadline)?;
    let git = &Git::on(&worktree, deadline)?;
    let commit_dir = &CommitDir::open(&worktree.git_dir)?;
    settle(git, commit_dir, deadline)?;
    let committing = Committing { git, commit_dir, turn: &turn, repository, request, deadline };
    let (found, made) = match OngoingMerge::begun(git) {
        Some(merge) if !merge.is_made(git)? => committing.finish_merge(&merge, before_publish)?,
        begun => {
            if begun.is_some() {
                OngoingMerge::clear(git);
            }
            committing.attempts(before_publish)?
        }
    };
    let half_renames = match &made {
        None => Ok(Vec::new()),
        Some(PublishedCommit { commit, changes, .. }) => {
            let (parent, known) = (found.head.as_deref(), found.dirty.as_ref());
            half_renames(git, commit_dir, parent, commit, changes, known)
        }
    };
    // Nobody has to wait while we look back.
    drop(turn);
    let mut answer = report::answer(git, request, &found, made);
    if let CommitOutcome::Committed(committed) = &mut answer {
        // The commit stands; without an answer nothing is reported.
        committed.report.half_renames = half_renames.unwrap_or_default();
    }
    Ok(answer)
}

/// Finishes what a killed commit has begun in the worktree of `repository`. Every commit there does so, too.
pub fn heal(repository: &Repository, patience: Duration) -> Result<Healed, NotCommitted> {
    let deadline = Instant::now() + patience;
    let worktree = worktree(repository)?;
    let _turn = turn_to_commit(repository.common_dir(), deadline)?;
    settle(&Git::on(&worktree, deadline)?, &CommitDir::open(&worktree.git_dir)?, deadline)
}

/// Waits for all earlier commits in a repository.
fn turn_to_commit(common_dir: &Path, deadline: Instant) -> Result<FairLock, NotCommitted> {
    let commit_dir = CommitDir::open(common_dir)?;
    FairLock::wait(&commit_dir.path(LOCK_FILE), deadline).map_err(|no_turn| match no_turn {
        FairLockError::Busy => NotCommitted::Busy,
        FairLockError::Disk(error) => commit_dir.fault(LOCK_FILE, &error),
    })
}

fn worktree(repository: &Repository) -> Result<WorktreeDirs, NotCommitted> {
    let root = repository.root();
    let gone = || NotCommitted::fault(format!("{} is no longer a worktree", root.display()));
    match dot_git::look(root) {
        Ok(DotGit::Leads(dirs)) if repository.is_same_project(&dirs.common_dir) => {
            Ok(WorktreeDirs { root: root.to_owned(), git_dir: dirs.git_dir })
        }
        Ok(DotGit::Leads(_) | DotGit::Broken | DotGit::None) => Err(gone()),
        Err(error) => Err(NotCommitted::fault(format!("can't look at {}: {error}", root.display()))),
    }
}
