//! Which worktrees of a project are meant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Some worktrees of a project, by their roots, symlinks resolved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Among {
    /// These and no others.
    Only(BTreeSet<PathBuf>),
    AllBut(BTreeSet<PathBuf>),
}

impl Among {
    /// Every worktree.
    pub fn all() -> Among {
        Among::AllBut(BTreeSet::new())
    }

    pub(crate) fn holds(&self, root: &Path) -> bool {
        match self {
            Among::Only(these) => these.contains(root),
            Among::AllBut(others) => !others.contains(root),
        }
    }
}
