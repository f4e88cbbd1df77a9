//! Why something was not done to a worktree.

use std::fmt;
use std::io;
use std::path::Path;

use crate::UnknownState;
use crate::fair_lock::FairLockError;

/// Why something was not done. What was begun has been undone, or the message says where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorktreeError {
    kind: FailureKind,
    message: String,
    hint: &'static str,
}

/// The kind of obstacle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    BadName,
    /// The worktree or the branch exists, or one that differs only in case.
    Taken,
    /// The commit or branch to start from, or to merge, does not exist.
    NotFound,
    /// A directory where worktrees cannot be kept, or that is not ours.
    BadPlace,
    /// Somebody changed it in the meantime.
    Changed,
    Busy,
    Conflicts,
    Hook,
    /// Git failed, or said something that we do not understand.
    Git,
    Disk,
}

impl WorktreeError {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>, hint: &'static str) -> WorktreeError {
        WorktreeError { kind, message: message.into(), hint }
    }

    pub(crate) fn bad_name(name: &str, problem: &str) -> WorktreeError {
        let message = format!("{name:?} can't be used: {problem}");
        WorktreeError::new(
            FailureKind::BadName,
            message,
            "take letters, digits, `.`, `_` and `-`, at most 64 in all",
        )
    }

    pub(crate) fn git(message: impl Into<String>) -> WorktreeError {
        WorktreeError::new(FailureKind::Git, message, "")
    }

    pub(crate) fn disk(path: &Path) -> impl Fn(io::Error) -> WorktreeError {
        move |error| WorktreeError::new(FailureKind::Disk, format!("{}: {error}", path.display()), "")
    }

    pub(crate) fn no_turn(path: &Path) -> impl Fn(FairLockError) -> WorktreeError {
        move |no_turn| match no_turn {
            FairLockError::Busy => {
                let message = format!("{} is held by somebody else", path.display());
                WorktreeError::new(FailureKind::Busy, message, "try again in a moment")
            }
            FairLockError::Disk(error) => WorktreeError::disk(path)(error),
        }
    }

    /// The same failure, with what happened after it.
    pub(crate) fn and(mut self, then: &str) -> WorktreeError {
        self.message = format!("{}; {then}", self.message);
        self
    }

    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for WorktreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hint {
            "" => f.write_str(&self.message),
            hint => write!(f, "{}; {hint}", self.message),
        }
    }
}

impl std::error::Error for WorktreeError {}

impl From<UnknownState> for WorktreeError {
    fn from(unknown: UnknownState) -> WorktreeError {
        WorktreeError::git(unknown.to_string())
    }
}
