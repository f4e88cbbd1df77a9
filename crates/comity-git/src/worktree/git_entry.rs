//! Git's entries for worktrees: what it stores about each in its own directory.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::Driver;
use super::disk::Root;
use super::failure::WorktreeError;
use super::trash::GIT_ENTRY;
use crate::dot_git::{found, pointer};

/// Why git must not prune the entry of a worktree that goes to the trash.
const MOVING: &str = "it is on its way to the trash\n";

const REASON_BYTES_MAX: u64 = 64 << 10;

impl Driver {
    /// Tells git to leave its entry for a worktree alone while the files are elsewhere.
    pub(super) fn lock_git_entry(&self, git_dir: &Path) -> Result<(), WorktreeError> {
        let lock = || -> io::Result<()> {
            let root = Root::open(git_dir)?;
            let mut file = root.new_file(Path::new("locked"), 0o666)?;
            file.write_all(MOVING.as_bytes())
        };
        lock().map_err(WorktreeError::disk(&git_dir.join("locked")))
    }

    /// Undoes that; somebody else's lock stays.
    pub(super) fn unlock_git_entry(&self, git_dir: &Path) -> Result<(), WorktreeError> {
        self.unlock_if(git_dir, |reason| reason == MOVING.as_bytes())
    }

    /// The same after a crash, which may have come before the reason was written.
    pub(super) fn unlock_interrupted(&self, git_dir: &Path) -> Result<(), WorktreeError> {
        self.unlock_if(git_dir, |reason| MOVING.as_bytes().starts_with(reason))
    }

    fn unlock_if(&self, git_dir: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), WorktreeError> {
        let unlock = || -> io::Result<()> {
            let root = Root::open(git_dir)?;
            let reason = root.read(Path::new("locked"), REASON_BYTES_MAX)?;
            if reason.is_some_and(|reason| is_ours(&reason)) { root.unlink("locked") } else { Ok(()) }
        };
        unlock().map_err(WorktreeError::disk(&git_dir.join("locked")))
    }

    /// Moves git's entry for a worktree into a trash entry.
    pub(super) fn move_git_entry(&self, dir: &Root, name: &str) -> Result<(), WorktreeError> {
        let all = self.place(&self.common_dir.join("worktrees"))?;
        all.rename(name, dir, GIT_ENTRY).map_err(WorktreeError::disk(&all.path().join(name)))
    }

    /// Git's entries whose worktree is at a path.
    pub(super) fn entries_for(&self, path: &Path) -> Result<Vec<PathBuf>, WorktreeError> {
        let marker = path.join(".git");
        let entries = self.git_entries()?;
        Ok(entries.into_iter().filter(|(_, says)| *says == marker).map(|(dir, _)| dir).collect())
    }

    /// Git's entries for worktrees, each with the path of the worktree's `.git`.
    pub(super) fn git_entries(&self) -> Result<Vec<(PathBuf, PathBuf)>, WorktreeError> {
        let all = self.common_dir.join("worktrees");
        let Some(entries) = found(fs::read_dir(&all)).map_err(WorktreeError::disk(&all))? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for entry in entries {
            let dir = entry.map_err(WorktreeError::disk(&all))?.path();
            let pointer = pointer(&dir.join("gitdir")).map_err(WorktreeError::disk(&dir))?;
            found.extend(pointer.map(|says| (dir.clone(), dir.join(OsString::from_vec(says)))));
        }
        found.sort();
        Ok(found)
    }
}
