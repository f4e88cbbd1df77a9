//! Where a branch is checked out.

use std::fs;
use std::path::PathBuf;

use crate::dot_git::{found, pointer};
use crate::git::Git;
use crate::unfinished::branch_files;
use crate::worktree::Driver;
use crate::worktree::failure::WorktreeError;
use crate::worktree::names::Branch;
use crate::worktree_list::{LIST, listed_worktrees};

impl Driver {
    /// The worktrees that have a branch checked out, or will when a rebase or bisection ends.
    pub(in crate::worktree) fn checkouts_of(
        &self,
        git: &Git<'_>,
        branch: &Branch,
    ) -> Result<Vec<PathBuf>, WorktreeError> {
        let output = git.tell(&LIST, b"")?;
        let full = branch.full();
        let on_it = listed_worktrees(&output.stdout)
            .into_iter()
            .filter(|tree| tree.branch.as_deref() == Some(full.as_bytes()));
        // Git also lists worktrees that are gone.
        let mut checkouts: Vec<PathBuf> = on_it.map(|tree| tree.path).filter(|path| path.exists()).collect();
        let linked = self.common_dir.join("worktrees");
        let mut git_dirs = vec![self.common_dir.clone()];
        for entry in found(fs::read_dir(&linked)).map_err(WorktreeError::disk(&linked))?.into_iter().flatten()
        {
            git_dirs.push(entry.map_err(WorktreeError::disk(&linked))?.path());
        }
        for git_dir in git_dirs {
            let comes_back = |file: &str| {
                let name = pointer(&git_dir.join(file)).ok().flatten();
                name.is_some_and(|name| name == full.as_bytes() || name == branch.as_str().as_bytes())
            };
            if branch_files().any(comes_back) {
                checkouts.push(git_dir);
            }
        }
        Ok(checkouts)
    }
}
