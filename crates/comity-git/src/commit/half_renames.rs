//! Half renames: the commit deletes the old name, but the new one is not within the scope.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::change::FileChange;
use super::commit_dir::CommitDir;
use super::filters::filtered;
use super::look::{Candidate, OnDisk, dirty};
use super::not_committed::NotCommitted;
use super::presence::{Presence, PresenceCache};
use super::private_index::PrivateIndex;
use crate::git::Git;
use crate::parse::{parts, to_path};
use crate::status::{StatusQuery, WorktreeStatus};

/// Files, and their bytes, that are compared with deleted ones.
const COMPARED_MAX: usize = 100;
const COMPARED_BYTES_MAX: u64 = 4 << 20;

/// A file that a commit deletes, and the uncommitted file that it was renamed to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HalfRename {
    pub from: PathBuf,
    pub to: PathBuf,
}

/// Finds them with git's rename detection. The caller must have the turn: it needs an index of its own.
pub(super) fn half_renames(
    git: &Git<'_>,
    commit_dir: &CommitDir,
    parent: Option<&str>,
    commit: &str,
    changes: &[FileChange],
    known: Option<&BTreeSet<PathBuf>>,
) -> Result<Vec<HalfRename>, NotCommitted> {
    let is_deleted = |path: &Path| changes.iter().any(|change| change.new.is_none() && change.path == path);
    let Some(parent) = parent.filter(|_| changes.iter().any(|change| change.new.is_none())) else {
        return Ok(Vec::new());
    };
    let looked;
    let uncommitted = match known {
        Some(known) => known,
        None => {
            let query = StatusQuery { submodules: true, ..StatusQuery::default() };
            looked = dirty(&WorktreeStatus::ask(git, query)?.entries);
            &looked
        }
    };
    let root = &git.worktree().root;
    let mut tree = PresenceCache::at(root);
    let is_small = |path: &Path| {
        root.join(path).symlink_metadata().is_ok_and(|metadata| metadata.len() <= COMPARED_BYTES_MAX)
    };
    let mut others: Vec<PathBuf> = uncommitted
        .iter()
        .filter(|path| !changes.iter().any(|change| change.path == **path))
        .filter(|path| matches!(tree.presence(path), Presence::File) && is_small(path))
        .take(COMPARED_MAX)
        .cloned()
        .collect();
    let through_filter = filtered(git, others.iter().map(PathBuf::as_path))?;
    others.retain(|path| !through_filter.iter().any(|(other, _)| other == path));
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let candidates: Vec<(PathBuf, Candidate)> =
        others.into_iter().map(|path| (path, Candidate { indexed: None, now: OnDisk::File })).collect();
    let index = PrivateIndex::of_commit(git, commit_dir, Some(commit))?;
    index.take(git, candidates.iter().map(|(path, candidate)| (path, candidate)))?;
    let with_others = index.tree(git)?;
    let options = ["-r", "-z", "--name-status", "--find-renames", "--diff-filter=R", parent];
    let told = git.call("diff-tree").args(options).arg(&with_others).done()?;
    let mut parts = parts(&told);
    let mut found = Vec::new();
    while let (Some(_how), Some(from), Some(to)) = (parts.next(), parts.next(), parts.next()) {
        let (from, to) = (to_path(from), to_path(to));
        if is_deleted(&from) && candidates.iter().any(|(path, _)| *path == to) {
            found.push(HalfRename { from, to });
        }
    }
    Ok(found)
}
