//! Whether a worktree is one that we made, where we made it.

use comity_core::display::shell_word;
use std::path::Path;

use rustix::fs::FileType;

use super::kept::{KeepCause, KeepReason};
use crate::dot_git::pointer;
use crate::worktree::Driver;
use crate::worktree::disk::Root;
use crate::worktree::record::{Maker, Ready, WorktreeRecord};
use crate::worktrees::WorktreeDirs;

impl Driver {
    /// The worktree at a path with its record, if it is ours in every respect and nobody has locked it.
    ///
    /// The main checkout can never be: it has a `.git` directory, and is in none of our places.
    pub(in crate::worktree) fn owned(&self, path: &Path) -> Result<(WorktreeDirs, Ready), KeepReason> {
        let not_ours =
            |problem: &str| KeepReason::one(KeepCause::NotOurs, format!("{}: {problem}", path.display()));
        let root = match self.place_of(path) {
            Ok((place, name)) if place.path() == self.places.worktrees => place.dir(Path::new(&name)),
            // The record below tells whether it was made for us there.
            Ok(_) | Err(_) => Root::open(path),
        };
        let root = root.map_err(|error| not_ours(&error.to_string()))?;
        match root.kind(Path::new(".git")) {
            Ok(Some(FileType::RegularFile)) => {}
            Ok(_) => return Err(not_ours("it has no `.git` file")),
            Err(error) => return Err(KeepReason::unknown(error)),
        }
        let worktree = self.linked(path).ok_or_else(|| not_ours("git has no entry for it"))?;
        let marker = path.join(".git");
        match pointer(&worktree.git_dir.join("gitdir")) {
            Ok(Some(says)) if says == marker.as_os_str().as_encoded_bytes() => {}
            Ok(_) => return Err(not_ours("git's entry for it is for another place")),
            Err(error) => return Err(KeepReason::unknown(error)),
        }
        match pointer(&worktree.git_dir.join("locked")) {
            Ok(None) => {}
            Ok(Some(reason)) => {
                let reason = String::from_utf8_lossy(&reason);
                let reason = if reason.trim().is_empty() { "nobody said why" } else { reason.trim() };
                let unlock = format!(
                    "{reason}; let it go with: git worktree unlock {}",
                    shell_word(&path.display().to_string())
                );
                return Err(KeepReason::one(KeepCause::Locked, unlock));
            }
            Err(error) => return Err(KeepReason::unknown(error)),
        }
        match WorktreeRecord::read(&worktree.git_dir) {
            Ok(Some(WorktreeRecord::Ready(ready))) => {
                let is_in_place = path.parent() == Some(&self.places.worktrees);
                match is_in_place == (ready.made_by == Maker::Us) {
                    true => Ok((worktree, ready)),
                    false => Err(not_ours("it is not where it was made")),
                }
            }
            Ok(Some(WorktreeRecord::Making { .. } | WorktreeRecord::Pooled(_))) => {
                Err(not_ours("it was never finished"))
            }
            Ok(None) => Err(not_ours("nothing is written down about it")),
            Err(error) => Err(KeepReason::unknown(error)),
        }
    }
}
