//! Why a worktree is kept, in words.

use std::fmt;

/// Examples that are named.
const SHOWN_MAX: usize = 5;

/// One reason to keep a worktree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeepReason {
    pub why: KeepCause,
    /// Where, or in which words; the first few.
    pub what: Vec<String>,
    pub count: usize,
}

/// What prevents removing a worktree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeepCause {
    /// We did not make and hand out this worktree.
    NotOurs,
    InUse,
    Locked,
    /// Files are changed, staged, deleted or in conflict.
    Modified,
    Untracked,
    /// Ignored files, except unchanged copies that we made.
    Ignored,
    /// Files whose changes an index flag hides.
    Hidden,
    /// A merge, rebase or the like is unfinished, or git is running.
    Unfinished,
    /// Commits are in no branch, tag or remote that stays.
    Commits,
    Stash,
    /// It contains another repository, or a submodule.
    Repository,
    Process,
    /// It changed while it was looked at, or since.
    Changed,
    Unknown,
}

impl KeepReason {
    pub(crate) fn new(why: KeepCause, what: impl IntoIterator<Item = impl Into<String>>) -> KeepReason {
        let mut kept = KeepReason { why, what: Vec::new(), count: 0 };
        for example in what {
            kept.count += 1;
            if kept.what.len() < SHOWN_MAX {
                kept.what.push(example.into());
            }
        }
        kept
    }

    pub(crate) fn one(why: KeepCause, what: impl Into<String>) -> KeepReason {
        KeepReason::new(why, [what])
    }

    /// The reason that something could not be found out.
    pub fn unknown(problem: impl fmt::Display) -> KeepReason {
        KeepReason::one(KeepCause::Unknown, problem.to_string())
    }

    /// The reason, if there is anything to name.
    pub(crate) fn if_any(
        why: KeepCause,
        what: impl IntoIterator<Item = impl Into<String>>,
    ) -> Option<KeepReason> {
        Some(KeepReason::new(why, what)).filter(|kept| kept.count > 0)
    }
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self.why {
            KeepCause::NotOurs => "it is not a worktree that we have made",
            KeepCause::InUse => "it is in use",
            KeepCause::Locked => "it is locked",
            KeepCause::Modified => "changes are in no commit",
            KeepCause::Untracked => "files are in no commit",
            KeepCause::Ignored => "ignored files are in no commit",
            KeepCause::Hidden => "the index hides changes of files",
            KeepCause::Unfinished => "git has not finished something in it",
            KeepCause::Commits => "commits are in no other branch, tag or remote",
            KeepCause::Stash => "something was stashed in it",
            KeepCause::Repository => "there is another repository in it",
            KeepCause::Process => "a process is in it",
            KeepCause::Changed => "it is changing",
            KeepCause::Unknown => "it could not be found out what is in it",
        };
        write!(f, "{words}: {}", self.what.join(", "))?;
        match self.count - self.what.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
