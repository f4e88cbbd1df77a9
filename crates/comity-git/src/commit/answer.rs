//! The result of a commit: what is in it, what is not and why, and what is left.

use std::fmt;
use std::path::PathBuf;

use comity_core::display::visible;

use super::change::FileChange;
use super::half_renames::HalfRename;

/// Paths of one kind that an answer lists; the rest is only counted.
pub const LISTED_MAX: usize = 200;

/// The result of a request that was not refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommitOutcome {
    Committed(Box<Committed>),
    /// Nothing within the scope is changed.
    Nothing(CommitReport),
}

/// A commit that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Committed {
    pub commit: String,
    /// `None` for the first commit of a branch.
    pub parent: Option<String>,
    /// The full name of its branch, such as `refs/heads/trunk`; `None` if no branch was checked out.
    pub branch: Option<String>,
    /// By path.
    pub changes: Vec<FileChange>,
    /// Covered paths that others committed in the meantime.
    pub overtaken: FirstOf<PathBuf>,
    /// Whether git confirms all this afterwards.
    pub verified: Confirmation,
    /// Whether the worktree's shared index knows of it.
    pub index: SharedIndex,
    pub report: CommitReport,
}

/// What is not in a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommitReport {
    /// Changed paths that were left out.
    pub skipped: FirstOf<SkippedPath>,
    /// Expected paths that are not in the commit.
    pub missing: Vec<Missing>,
    /// What in the worktree is still uncommitted, within the scope and outside.
    pub dirty: Dirty,
    /// Renames of which only the old name is in the commit.
    pub half_renames: Vec<HalfRename>,
    /// What git warned about, such as unreadable directories.
    pub warnings: Vec<String>,
}

/// The first of many.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstOf<T> {
    /// At most [`LISTED_MAX`] of them.
    pub first: Vec<T>,
    pub count: usize,
}

/// A changed path that was left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SkippedPath {
    /// A directory stands for everything in it.
    pub path: PathBuf,
    pub reason: SkipReason,
}

/// Why a changed path was left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SkipReason {
    /// The scope does not cover it.
    OutsideScope,
    /// Git ignores it, and does not track it.
    Ignored,
    NestedRepository,
    Submodule,
    /// It has an unresolved conflict.
    Unmerged,
    /// Git was told to overlook changes in it.
    Hidden,
    /// Its contents would go through a filter, and filters are programs of the repository.
    Filtered {
        filter: String,
    },
    /// It is neither a file nor a symlink.
    NotAFile,
    Unreadable {
        problem: String,
    },
}

/// An expected path that is not in the commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// As it was given.
    pub path: PathBuf,
    pub reason: MissingReason,
}

/// Why an expected path is not in the commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MissingReason {
    /// It is the same as in the previous commit.
    Unchanged,
    /// There is no such file, and there was none.
    NotThere,
    Skipped(SkipReason),
}

/// The uncommitted part of a worktree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dirty {
    Known(FirstOf<PathBuf>),
    Unknown { problem: String },
}

/// Whether git confirms the commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Confirmation {
    Yes,
    No { problem: String },
}

/// Whether the worktree's shared index knows of the commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SharedIndex {
    /// It does: a plain `git commit` reverts nothing.
    Refreshed,
    /// It does not: until the next commit here, or [`super::heal()`], a plain `git commit` would revert this one.
    Stale { problem: String },
}

impl<T> FirstOf<T> {
    pub(super) fn of(all: impl IntoIterator<Item = T>) -> FirstOf<T> {
        let mut all = all.into_iter();
        let first: Vec<T> = all.by_ref().take(LISTED_MAX).collect();
        let count = first.len() + all.count();
        FirstOf { first, count }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::OutsideScope => f.write_str("it is outside of what may be committed"),
            SkipReason::Ignored => f.write_str("git ignores it; `git add --force` would make git track it"),
            SkipReason::NestedRepository => f.write_str("it is another repository"),
            SkipReason::Submodule => f.write_str("it is a submodule; commit it with git itself"),
            SkipReason::Unmerged => f.write_str("it has a conflict; resolve it, then `git add` it"),
            SkipReason::Hidden => f.write_str(
                "its changes are hidden by `git update-index` (assume-unchanged or skip-worktree)",
            ),
            SkipReason::Filtered { filter } => {
                let filter = visible(filter);
                write!(
                    f,
                    "the filter {filter} of the repository would have to run; commit it with git itself"
                )
            }
            SkipReason::NotAFile => f.write_str("it is neither a file nor a symlink"),
            SkipReason::Unreadable { problem } => write!(f, "it can't be read: {problem}"),
        }
    }
}

impl fmt::Display for MissingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MissingReason::Unchanged => f.write_str("it is the same as in the commit before"),
            MissingReason::NotThere => f.write_str("there is no such file"),
            MissingReason::Skipped(reason) => reason.fmt(f),
        }
    }
}
