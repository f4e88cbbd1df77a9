//! What is watched, and what went wrong.

use std::fmt;
use std::path::PathBuf;

/// What is watched, and what went wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WatchState {
    pub trees: usize,
    pub directories: usize,
    /// What is wrong, so that writes may go unnoticed.
    pub troubles: Vec<WatchTrouble>,
}

/// Why writes may go unnoticed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WatchTrouble {
    /// There are more directories than are watched.
    TooManyDirectories {
        /// In which tree it was reached.
        root: PathBuf,
        directories_max: usize,
    },
    /// The system allows no more watches.
    SystemLimit {
        /// In which tree it was reached.
        root: PathBuf,
    },
    /// More paths changed at once than are kept.
    TooManyPaths {
        /// The worktree's root.
        root: PathBuf,
        paths_max: usize,
    },
    /// Files changed faster than they were read, and some events were lost.
    Overrun { times: usize },
    /// The branches of a project cannot be watched.
    Refs {
        /// The project's git directory.
        common_dir: PathBuf,
        problem: String,
    },
    Unreadable {
        /// The worktree's root.
        root: PathBuf,
        problem: String,
    },
}

impl WatchTrouble {
    /// The tree that it is about, if any.
    pub fn root(&self) -> Option<&PathBuf> {
        match self {
            WatchTrouble::TooManyDirectories { root, .. }
            | WatchTrouble::SystemLimit { root }
            | WatchTrouble::TooManyPaths { root, .. }
            | WatchTrouble::Unreadable { root, .. } => Some(root),
            WatchTrouble::Overrun { .. } | WatchTrouble::Refs { .. } => None,
        }
    }
}

impl fmt::Display for WatchTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WatchTrouble::TooManyDirectories { root, directories_max } => write!(
                f,
                "{} has directories that are not watched: {directories_max} are watched at most; let git ignore what \
                 nobody edits",
                root.display()
            ),
            WatchTrouble::SystemLimit { root } => write!(
                f,
                "{} has directories that are not watched: the system allows no more; raise \
                 fs.inotify.max_user_watches",
                root.display()
            ),
            WatchTrouble::TooManyPaths { root, paths_max } => {
                write!(
                    f,
                    "more than {paths_max} files changed at once in {}; the rest was not looked at",
                    root.display()
                )
            }
            WatchTrouble::Overrun { times } => {
                write!(
                    f,
                    "files changed faster than they could be looked at, {times} times; some writes were not seen"
                )
            }
            WatchTrouble::Refs { common_dir, problem } => {
                write!(f, "commits in {} may go past the guard unnoticed: {problem}", common_dir.display())
            }
            WatchTrouble::Unreadable { root, problem } => {
                write!(f, "{} is not watched as a whole: {problem}", root.display())
            }
        }
    }
}
