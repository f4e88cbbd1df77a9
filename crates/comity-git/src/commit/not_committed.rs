//! Why there is no commit.

use std::fmt;
use std::path::PathBuf;

use comity_core::Refusal;
use comity_core::display::visible;

use super::answer::FirstOf;
use crate::git::UnknownState;
use crate::unfinished::Unfinished;

/// Why there is no commit. Neither the branch nor the index was changed.
#[derive(Clone, PartialEq, Debug)]
pub enum NotCommitted {
    /// `before_publish` refused.
    Refused(Refusal),
    BadRequest {
        problem: String,
    },
    /// Something in this worktree has to be finished first.
    Unfinished(Unfinished),
    /// A merge cannot be finished like this.
    Unresolved {
        path: String,
        what: String,
    },
    /// Covered paths cannot be committed without others, such as a file in place of a directory.
    BeyondScope {
        /// The paths that are not covered.
        paths: FirstOf<PathBuf>,
    },
    HookRefused {
        hook: &'static str,
        output: String,
    },
    /// Another git has locked the index for too long, or left its lock behind.
    IndexLocked {
        lock: PathBuf,
    },
    /// Others commit so fast that there was no moment to publish.
    Overtaken {
        /// How often it was tried.
        attempts: usize,
        /// Git's last message.
        problem: String,
    },
    /// Other commits in this repository took too long.
    Busy,
    Fault {
        problem: String,
    },
}

impl NotCommitted {
    pub(super) fn fault(problem: impl Into<String>) -> NotCommitted {
        NotCommitted::Fault { problem: problem.into() }
    }
}

impl From<UnknownState> for NotCommitted {
    fn from(unknown: UnknownState) -> NotCommitted {
        NotCommitted::fault(unknown.to_string())
    }
}

impl fmt::Display for NotCommitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCommitted::Refused(refusal) => refusal.fmt(f),
            NotCommitted::BadRequest { problem } => f.write_str(problem),
            NotCommitted::Unfinished(unfinished) => {
                write!(f, "{unfinished} is not finished in this worktree; finish or abort it first")
            }
            NotCommitted::Unresolved { path, what } => {
                write!(f, "the merge in this worktree can't be finished yet: {} {what}", visible(path))
            }
            NotCommitted::BeyondScope { paths } => {
                let FirstOf { first, count } = paths;
                let name = first.first().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
                let name = visible(&name);
                write!(f, "the commit would also change {name}, which may not be committed ({count} in all)")
            }
            NotCommitted::HookRefused { hook, output } => {
                write!(f, "the hook {hook} of the repository refused: {}", visible(output.trim()))
            }
            NotCommitted::IndexLocked { lock } => {
                let lock = lock.display();
                write!(f, "another git works in this worktree; if none does, remove {lock} and try again")
            }
            NotCommitted::Overtaken { attempts, problem } => {
                write!(f, "the branch did not stay the same in {attempts} attempts; try again ({problem})")
            }
            NotCommitted::Busy => {
                f.write_str("other commits of this repository are not done in time; try again")
            }
            NotCommitted::Fault { problem } => f.write_str(problem),
        }
    }
}

impl std::error::Error for NotCommitted {}
