//! Finishes what a killed process of ours has begun.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::change::{FileChange, FileVersion, read_raw};
use super::commit_dir::CommitDir;
use super::index_lock::IndexLock;
use super::journal::Journal;
use super::merging::OngoingMerge;
use super::not_committed::NotCommitted;
use super::private_index::PrivateIndex;
use crate::git::{Git, UnknownState};

/// What was finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Healed {
    Nothing,
    /// A commit that the shared index did not know yet, or one that was never made.
    Journal {
        commit: String,
        /// How many paths were updated in the shared index.
        paths: usize,
    },
}

/// Heals a worktree. The caller must have the turn.
pub(super) fn settle(
    git: &Git<'_>,
    commit_dir: &CommitDir,
    deadline: Instant,
) -> Result<Healed, NotCommitted> {
    commit_dir.sweep()?;
    let git_dir = &git.worktree().git_dir;
    let left_behind = IndexLock::left_behind(git_dir, commit_dir)?;
    let Some(journal) = Journal::read(commit_dir)? else { return Ok(Healed::Nothing) };
    let _lock = match left_behind {
        Some(lock) => lock,
        None => IndexLock::take(git_dir, commit_dir, deadline)?,
    };
    let mut paths = 0;
    if is_published(git, &journal.commit)? {
        paths = teach(git, commit_dir, &journal)?;
        OngoingMerge::clear_if_made_by(git, &journal.commit)?;
    }
    Journal::remove(commit_dir)?;
    Ok(Healed::Journal { commit: journal.commit, paths })
}

/// Whether a commit is part of what is checked out.
fn is_published(git: &Git<'_>, commit: &str) -> Result<bool, UnknownState> {
    let has_head = git.call("rev-parse").args(["--quiet", "--verify", "HEAD^{commit}"]).agrees()?;
    // A power cut may have lost the commit, but not its journal.
    Ok(has_head
        && git.call("cat-file").args(["-e", commit]).agrees()?
        && git.call("merge-base").args(["--is-ancestor", commit, "HEAD"]).agrees()?)
}

/// Updates the shared index to what was committed, where it still has what it had before.
///
/// What somebody has staged since then stays staged.
fn teach(git: &Git<'_>, commit_dir: &CommitDir, journal: &Journal) -> Result<usize, NotCommitted> {
    let options = ["--cached", "-z", "--raw", "--no-abbrev", "--no-renames", "HEAD"];
    let staged = read_raw(&git.call("diff-index").args(options).done()?)?;
    let had: BTreeMap<&Path, &Option<FileVersion>> =
        journal.paths.iter().map(|(path, had)| (path.as_path(), had)).collect();
    let is_stale = |change: &&FileChange| had.get(change.path.as_path()) == Some(&&change.new);
    let stale: Vec<&FileChange> = staged.iter().filter(is_stale).collect();
    if stale.is_empty() {
        return Ok(0);
    }
    let next = PrivateIndex::copy_of_shared(git, commit_dir, Some(&journal.commit))?;
    next.set(git, stale.iter().map(|change| (change.path.as_path(), change.old.as_ref())))?;
    let problem = |error| NotCommitted::fault(format!("the index could not be replaced: {error}"));
    next.install(git).map_err(problem)?;
    Ok(stale.len())
}
