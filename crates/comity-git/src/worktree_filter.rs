//! Which worktrees of a project are meant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Some worktrees of a project, by their roots, symlinks resolved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum WorktreeFilter {
    Only(BTreeSet<PathBuf>),
    AllBut(BTreeSet<PathBuf>),
}

impl WorktreeFilter {
    /// Every worktree.
    pub fn all() -> WorktreeFilter {
        WorktreeFilter::AllBut(BTreeSet::new())
    }

    pub(crate) fn holds(&self, root: &Path) -> bool {
        match self {
            WorktreeFilter::Only(these) => these.contains(root),
            WorktreeFilter::AllBut(others) => !others.contains(root),
        }
    }
}
