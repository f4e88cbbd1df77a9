//! What has to be finished in a worktree before anything is committed there.

use std::fmt;
use std::path::Path;

use crate::git::{Git, UnknownState};

/// Something that git has begun in a worktree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfinished {
    /// `git merge`.
    Merge,
    /// `git rebase` or `git am`.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git bisect`.
    Bisect,
    /// Several picks or reverts in a row.
    Sequence,
}

/// What git leaves in the git directory of the worktree for as long as it takes.
const TRACES: &[(&str, Unfinished)] = &[
    ("MERGE_HEAD", Unfinished::Merge),
    ("rebase-merge", Unfinished::Rebase),
    ("rebase-apply", Unfinished::Rebase),
    ("CHERRY_PICK_HEAD", Unfinished::CherryPick),
    ("REVERT_HEAD", Unfinished::Revert),
    ("BISECT_LOG", Unfinished::Bisect),
    ("sequencer", Unfinished::Sequence),
];

/// Those of them that are refs, and no files where refs are kept in tables.
const REFS: &[(&str, Unfinished)] =
    &[("CHERRY_PICK_HEAD", Unfinished::CherryPick), ("REVERT_HEAD", Unfinished::Revert)];

/// What has to be finished first, if anything.
pub(super) fn unfinished(git: &Git<'_>, common_dir: &Path) -> Result<Option<Unfinished>, UnknownState> {
    let git_dir = &git.worktree().git_dir;
    let trace = TRACES.iter().find(|(name, _)| git_dir.join(name).symlink_metadata().is_ok());
    if let Some((_, unfinished)) = trace {
        return Ok(Some(*unfinished));
    }
    if !common_dir.join("reftable").is_dir() {
        return Ok(None);
    }
    for (name, unfinished) in REFS {
        if git.call("rev-parse").args(["--quiet", "--verify", name]).agrees()? {
            return Ok(Some(*unfinished));
        }
    }
    Ok(None)
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfinished::Merge => "a merge",
            Unfinished::Rebase => "a rebase",
            Unfinished::CherryPick => "a cherry-pick",
            Unfinished::Revert => "a revert",
            Unfinished::Bisect => "a bisect",
            Unfinished::Sequence => "a sequence of picks or reverts",
        })
    }
}
