//! Finds out afterwards what became of a commit whose maker did not live to say it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::answer::Dirty;
use super::change::FileChange;
use super::commit_dir::CommitDir;
use super::heal::settle;
use super::not_committed::NotCommitted;
use super::verify::{changes_of, dirty};
use super::{turn_to_commit, worktree};
use crate::Repository;
use crate::git::{Git, is_there};
use crate::worktrees::{self, KnownWorktree, WorktreeDirs};

/// A commit that was to be made.
#[derive(Clone, Copy, Debug)]
pub struct BegunCommit<'a> {
    pub common_dir: &'a Path,
    pub worktree: &'a Path,
    /// Its full name; `None` if no branch was checked out.
    pub branch: Option<&'a str>,
    pub commit: &'a str,
}

/// What a commit changes, and what is uncommitted in its worktree now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recalled {
    /// By path.
    pub changes: Vec<FileChange>,
    pub dirty: Dirty,
}

/// Whether a commit was made: its branch is at it, or contains it.
///
/// Waits for commits of ours under way there, and for a git that outlived its server. Updates the index of its
/// worktree, if that still exists; if somebody has locked the index, the next commit there does it.
pub fn came_about(begun: &BegunCommit<'_>, patience: Duration) -> Result<bool, NotCommitted> {
    let deadline = Instant::now() + patience;
    let _turn = turn_to_commit(begun.common_dir, deadline)?;
    let here = worktrees::known(begun.common_dir, begun.worktree).map_err(|error| {
        NotCommitted::fault(format!("can't look at {}: {error}", begun.worktree.display()))
    })?;
    if let Some(KnownWorktree::There(here)) = &here {
        let _the_next_commit_does = heal(here, deadline);
    }
    let shared = WorktreeDirs { root: begun.common_dir.to_owned(), git_dir: begun.common_dir.to_owned() };
    let shared = Git::on_refs(&shared, deadline);
    if !is_there(&shared, begun.commit)? {
        // A power cut has lost it.
        return Ok(false);
    }
    if let Some(branch) = begun.branch
        && has(&shared, branch, begun.commit)?
    {
        return Ok(true);
    }
    match here {
        Some(KnownWorktree::There(here)) => has(&Git::on_refs(&here, deadline), "HEAD", begun.commit),
        // Its files are away, but not its HEAD.
        Some(KnownWorktree::Away { git_dir }) => {
            let head = WorktreeDirs { root: begun.common_dir.to_owned(), git_dir };
            has(&Git::on_refs(&head, deadline), "HEAD", begun.commit)
        }
        None => Ok(false),
    }
}

/// What was committed, for somebody who asks again.
pub fn recall(repository: &Repository, commit: &str, patience: Duration) -> Result<Recalled, NotCommitted> {
    let worktree = worktree(repository)?;
    let git = Git::on(&worktree, Instant::now() + patience)?;
    let (_, changes) = changes_of(&git, commit)?;
    Ok(Recalled { changes, dirty: dirty(&git) })
}

fn heal(here: &WorktreeDirs, deadline: Instant) -> Result<(), NotCommitted> {
    settle(&Git::on(here, deadline)?, &CommitDir::open(&here.git_dir)?, deadline).map(drop)
}

/// Whether a ref exists and contains a commit.
fn has(git: &Git<'_>, name: &str, commit: &str) -> Result<bool, NotCommitted> {
    let tip = format!("{name}^{{commit}}");
    Ok(is_there(git, name)? && git.call("merge-base").args(["--is-ancestor", commit, &tip]).agrees()?)
}
