//! What git has begun in a worktree and not finished, by the files that it leaves in its directory meanwhile.

use std::fmt;
use std::path::Path;

use crate::git::{Git, UnknownState};

/// Something that git has begun in a worktree.
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
    /// `git bisect`.
    Bisect,
    /// Several picks or reverts in a row.
    Sequence,
    /// `git notes merge`.
    Notes,
}

struct UnfinishedTrace {
    name: &'static str,
    of: Unfinished,
    /// Whether nothing may be committed meanwhile. The others are looked at only before a worktree goes.
    blocks_commits: bool,
    /// Whether it is a ref, and no file where refs are kept in tables.
    is_ref: bool,
    /// The file that has the branch which git will come back to.
    branch_file: Option<&'static str>,
}

const fn note(name: &'static str, of: Unfinished) -> UnfinishedTrace {
    UnfinishedTrace { name, of, blocks_commits: false, is_ref: false, branch_file: None }
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
    note("MERGE_AUTOSTASH", Unfinished::Merge),
    note("MERGE_MODE", Unfinished::Merge),
    note("MERGE_MSG", Unfinished::Merge),
    note("AUTO_MERGE", Unfinished::Merge),
    note("SQUASH_MSG", Unfinished::Squash),
    note("REBASE_HEAD", Unfinished::Rebase),
    note("NOTES_MERGE_PARTIAL", Unfinished::Notes),
    note("NOTES_MERGE_WORKTREE", Unfinished::Notes),
];

impl Unfinished {
    /// What a file in git's directory for a worktree stands for, if it is a trace of something.
    pub(crate) fn of_file(name: &str) -> Option<Unfinished> {
        let known = TRACES.iter().find(|trace| trace.name == name).map(|trace| trace.of);
        known.or_else(|| name.starts_with("BISECT_").then_some(Unfinished::Bisect))
    }

    /// What has to be finished before anything is committed, if anything.
    pub(crate) fn before_commit(
        git: &Git<'_>,
        common_dir: &Path,
    ) -> Result<Option<Unfinished>, UnknownState> {
        let git_dir = &git.worktree().git_dir;
        let mut blocking = TRACES.iter().filter(|trace| trace.blocks_commits);
        if let Some(trace) = blocking.find(|trace| git_dir.join(trace.name).symlink_metadata().is_ok()) {
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

/// Files in git's directory for a worktree that have the branch which git will come back to.
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
