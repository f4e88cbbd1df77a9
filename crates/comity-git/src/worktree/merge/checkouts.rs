//! Where a branch is checked out.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::Git;
use crate::marker::{found, pointer};
use crate::unfinished::branch_files;
use crate::worktree::Driver;
use crate::worktree::failure::WorktreeError;
use crate::worktree::names::Branch;

impl Driver {
    /// The worktrees that have a branch checked out, or will when a rebase or bisection ends.
    pub(in crate::worktree) fn checkouts_of(
        &self,
        git: &Git<'_>,
        branch: &Branch,
    ) -> Result<Vec<PathBuf>, WorktreeError> {
        let said = git.tell(&["worktree", "list", "--porcelain", "-z"], b"")?;
        let full = branch.full();
        let (mut at, mut checkouts) = (None, Vec::new());
        for line in said.stdout.split(|byte| *byte == 0) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                at = Some(Path::new(OsStr::from_bytes(path)));
            }
            if line.strip_prefix(b"branch ") == Some(full.as_bytes()) {
                // Git also lists worktrees that are gone.
                checkouts.extend(at.filter(|at| at.exists()).map(Path::to_owned));
            }
        }
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
