//! The worktrees that were handed out.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Driver;
use super::commit::BaseCommit;
use super::failure::WorktreeError;
use super::names::Branch;
use super::record::WorktreeRecord;
use super::reserve::ReservationState;
use super::slug::Slug;

/// A worktree that was made and handed out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedWorktree {
    pub slug: Slug,
    pub path: PathBuf,
    /// The branch that was made for it.
    pub branch: Branch,
    pub base: BaseCommit,
    pub made_at: SystemTime,
}

impl Driver {
    /// The worktrees that were handed out, by path. Half made ones that a crash left are leftovers.
    pub fn list(&self) -> Result<Vec<ListedWorktree>, WorktreeError> {
        let dir = &self.places.worktrees;
        let mut all = Vec::new();
        for entry in fs::read_dir(dir).map_err(WorktreeError::disk(dir))? {
            let path = entry.map_err(WorktreeError::disk(dir))?.path();
            let Some(worktree) = self.linked(&path) else { continue };
            let folder = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if matches!(self.making(folder), ReservationState::Left(_)) {
                continue;
            }
            let Ok(Some(WorktreeRecord::Ready(ready))) = WorktreeRecord::read(&worktree.git_dir) else {
                continue;
            };
            let made_at = UNIX_EPOCH + Duration::from_secs(ready.made_at);
            all.push(ListedWorktree {
                slug: ready.slug,
                path,
                branch: ready.branch,
                base: ready.base,
                made_at,
            });
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(all)
    }
}
