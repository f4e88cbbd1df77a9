//! Why something was not done to a worktree.

use std::fmt;
use std::io;
use std::path::Path;

use crate::UnknownState;

/// Why something was not done. What was begun has been taken back, or the message says where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    kind: FailureKind,
    message: String,
    hint: &'static str,
}

/// What stands in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// A name that cannot be used.
    BadName,
    /// The worktree or the branch exists, or one that differs by case only.
    Taken,
    /// The commit or branch to start from, or to merge, does not exist.
    NotFound,
    /// A directory that worktrees cannot be kept in, or that is none of ours.
    BadPlace,
    /// Somebody changed it in the meantime.
    Changed,
    /// Somebody else is at it.
    Busy,
    /// The merge has conflicts.
    Conflicts,
    /// The user's own program failed.
    Hook,
    /// Git failed, or said what we do not understand.
    Git,
    /// The file system failed.
    Disk,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>, hint: &'static str) -> Failure {
        Failure { kind, message: message.into(), hint }
    }

    pub(crate) fn bad_name(name: &str, problem: &str) -> Failure {
        let message = format!("{name:?} cannot be used: {problem}");
        Failure::new(
            FailureKind::BadName,
            message,
            "take letters, digits, `.`, `_` and `-`, at most 64 in all",
        )
    }

    pub(crate) fn git(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Git, message, "")
    }

    /// Says that the file system failed at a path.
    pub(crate) fn disk(path: &Path) -> impl Fn(io::Error) -> Failure {
        move |error| Failure::new(FailureKind::Disk, format!("{}: {error}", path.display()), "")
    }

    /// The same failure, with what happened after it.
    pub(crate) fn and(mut self, then: &str) -> Failure {
        self.message = format!("{}; {then}", self.message);
        self
    }

    /// What stands in the way.
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// What to do about it; may be empty.
    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hint {
            "" => f.write_str(&self.message),
            hint => write!(f, "{}; {hint}", self.message),
        }
    }
}

impl std::error::Error for Failure {}

impl From<UnknownState> for Failure {
    fn from(unknown: UnknownState) -> Failure {
        Failure::git(unknown.to_string())
    }
}
