//! What git has begun in a worktree and not finished, by the files that it leaves in its directory.

use std::fmt;
use std::path::Path;

use crate::git::{Git, UnknownState};

/// An operation that git has begun in a worktree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unfinished {
    /// `git merge`.
    Merge,
    /// `git merge --squash`.
    Squash,
    /// `git rebase` or `git am`.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    Bisect,
    /// Several picks or reverts in a row.
    Sequence,
    /// `git notes merge`.
    Notes,
}

struct UnfinishedTrace {
    name: &'static str,
    of: Unfinished,
    /// Whether nothing may be committed in the meantime. The others only matter before a worktree is removed.
    blocks_commits: bool,
    /// Whether it is a ref, which is no file where refs are stored in tables.
    is_ref: bool,
    /// Whether only git can finish it.
    needs_git: bool,
    /// The file with the branch that git will return to.
    branch_file: Option<&'static str>,
}

const fn note(name: &'static str, of: Unfinished) -> UnfinishedTrace {
    UnfinishedTrace { name, of, blocks_commits: false, is_ref: false, needs_git: false, branch_file: None }
}

const fn block(name: &'static str, of: Unfinished) -> UnfinishedTrace {
    UnfinishedTrace { blocks_commits: true, ..note(name, of) }
}

const TRACES: &[UnfinishedTrace] = &[
    block("MERGE_HEAD", Unfinished::Merge),
    UnfinishedTrace {
        branch_file: Some("rebase-merge/head-name"),
        ..block("rebase-merge", Unfinished::Rebase)
    },
    UnfinishedTrace {
        branch_file: Some("rebase-apply/head-name"),
        ..block("rebase-apply", Unfinished::Rebase)
    },
    UnfinishedTrace { is_ref: true, ..block("CHERRY_PICK_HEAD", Unfinished::CherryPick) },
    UnfinishedTrace { is_ref: true, ..block("REVERT_HEAD", Unfinished::Revert) },
    UnfinishedTrace { branch_file: Some("BISECT_START"), ..block("BISECT_LOG", Unfinished::Bisect) },
    block("sequencer", Unfinished::Sequence),
    // What it has stashed comes back with the end of the merge.
    UnfinishedTrace { needs_git: true, ..note("MERGE_AUTOSTASH", Unfinished::Merge) },
    note("MERGE_MODE", Unfinished::Merge),
    note("MERGE_MSG", Unfinished::Merge),
    note("AUTO_MERGE", Unfinished::Merge),
    note("SQUASH_MSG", Unfinished::Squash),
    note("REBASE_HEAD", Unfinished::Rebase),
    note("NOTES_MERGE_PARTIAL", Unfinished::Notes),
    note("NOTES_MERGE_WORKTREE", Unfinished::Notes),
];

impl UnfinishedTrace {
    fn is_in(&self, git_dir: &Path) -> bool {
        git_dir.join(self.name).symlink_metadata().is_ok()
    }
}

impl Unfinished {
    /// What a file in a worktree's git directory stands for, if it is a trace of something.
    pub(crate) fn of_file(name: &str) -> Option<Unfinished> {
        let known = TRACES.iter().find(|trace| trace.name == name).map(|trace| trace.of);
        known.or_else(|| name.starts_with("BISECT_").then_some(Unfinished::Bisect))
    }

    /// Whether this is all that git has begun, and could be finished without git.
    pub(crate) fn is_alone(self, git_dir: &Path) -> bool {
        let hinders =
            |trace: &&UnfinishedTrace| trace.needs_git || (trace.blocks_commits && trace.of != self);
        !TRACES.iter().filter(hinders).any(|trace| trace.is_in(git_dir))
    }

    pub(crate) fn files(self) -> impl Iterator<Item = &'static str> {
        TRACES.iter().filter(move |trace| trace.of == self && !trace.needs_git).map(|trace| trace.name)
    }

    /// What has to be finished before anything is committed, if anything.
    pub(crate) fn before_commit(
        git: &Git<'_>,
        common_dir: &Path,
    ) -> Result<Option<Unfinished>, UnknownState> {
        let git_dir = &git.worktree().git_dir;
        let mut blocking = TRACES.iter().filter(|trace| trace.blocks_commits);
        if let Some(trace) = blocking.find(|trace| trace.is_in(git_dir)) {
            return Ok(Some(trace.of));
        }
        if !common_dir.join("reftable").is_dir() {
            return Ok(None);
        }
        for trace in TRACES.iter().filter(|trace| trace.is_ref) {
            if git.call("rev-parse").args(["--quiet", "--verify", trace.name]).agrees()? {
                return Ok(Some(trace.of));
            }
        }
        Ok(None)
    }
}

/// Files with the branch that git will return to.
pub(crate) fn branch_files() -> impl Iterator<Item = &'static str> {
    TRACES.iter().filter_map(|trace| trace.branch_file)
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unfinished::Merge => "a merge",
            Unfinished::Squash => "a squashed merge",
            Unfinished::Rebase => "a rebase",
            Unfinished::CherryPick => "a cherry-pick",
            Unfinished::Revert => "a revert",
            Unfinished::Bisect => "a bisect",
            Unfinished::Sequence => "a sequence of picks or reverts",
            Unfinished::Notes => "a merge of notes",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_is_finished_only_if_nothing_else_was_begun() {
        let check = |files: &[&str], expected: bool| {
            let dir = tempfile::tempdir().expect("a directory");
            for file in files {
                std::fs::write(dir.path().join(file), "").expect("a file");
            }
            assert_eq!(Unfinished::Merge.is_alone(dir.path()), expected, "{files:?}");
        };
        check(&["MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "REBASE_HEAD"], true);
        check(&["MERGE_HEAD", "MERGE_AUTOSTASH"], false);
        for other in
            ["rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "sequencer"]
        {
            check(&["MERGE_HEAD", other], false);
        }
    }

    #[test]
    fn what_a_merge_leaves() {
        let files: Vec<_> = Unfinished::Merge.files().collect();
        assert_eq!(files, ["MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE"]);
    }
}
