//! Finishes or undoes what a crash has interrupted and nobody asks for again.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Driver;
use super::disk::Root;
use super::failure::WorktreeError;
use super::leftovers::{Leftover, visible};
use super::reserve::INTERRUPTED;
use super::trash::{FILES, GIT_ENTRY, PURGING, Reason, TrashEntry};
use crate::fair_lock::FairLock;

impl Driver {
    /// Recovers for a server that has just started, and watches the ready worktrees, so that they need not be
    /// searched when asked for. What cannot be done stays a leftover. Waits for a git that outlived its server.
    pub fn recover(&self) -> Result<(), WorktreeError> {
        let deadline = self.deadline();
        let _turn = self.turn_at_pool(deadline)?;
        self.clear_pool()?;
        self.take_back_reservations()?;
        self.watch_pool(deadline)
    }

    /// Moves crash leftovers of unused worktrees to the trash. The caller holds the pool's lock.
    pub(super) fn clear_pool(&self) -> Result<(), WorktreeError> {
        self.finish_setting_aside()?;
        let mut found: Vec<Leftover> =
            visible(&self.places.pool)?.iter().filter_map(|path| self.left_there(path, true)).collect();
        found.extend(self.left_without_files(&[])?);
        for left in found.iter().filter(|left| left.path().parent() == Some(&self.places.pool)) {
            match left {
                Leftover::HalfMade { path, .. }
                | Leftover::NoGitEntry { path }
                | Leftover::NoFiles { path, .. } => {
                    // What cannot go stays a leftover; it is in nobody's way.
                    let _stays = self.set_aside_path(None, path, INTERRUPTED);
                }
                Leftover::HalfRemoved { .. } | Leftover::Unknown { .. } => {}
            }
        }
        self.is_recovered.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether what is in the pool and not ready was left by a crash: nobody is working there, or about to clear it.
    pub fn pool_is_quiet(&self) -> bool {
        let is_free = || self.turn_at_pool(Instant::now()).is_ok();
        self.is_recovered.load(Ordering::Relaxed) && is_free()
    }

    pub(super) fn turn_at_pool(&self, deadline: Instant) -> Result<FairLock, WorktreeError> {
        let path = self.places.pool.join(".lock");
        FairLock::wait(&path, deadline).map_err(WorktreeError::no_turn(&path))
    }

    /// Completes what was on its way to the trash without a proof.
    fn finish_setting_aside(&self) -> Result<(), WorktreeError> {
        let _turn = self.turn_at_trash(self.deadline())?;
        for name in names(&self.places.trash)?.into_iter().filter(|name| !name.ends_with(PURGING)) {
            if name.starts_with('.') {
                self.drop_unwritten(&name)?;
                continue;
            }
            let Ok((dir, entry)) = self.trash_entry(&name) else { continue };
            let has = |name: &str| dir.kind(Path::new(name)).is_ok_and(|kind| kind.is_some());
            let is_aside = matches!(entry.reason, Reason::SetAside { .. });
            if !is_aside || has(GIT_ENTRY) {
                continue;
            }
            match (self.git_entry_left(&dir, &entry, has(FILES))?, has(FILES)) {
                (Some(name), _) => self.move_git_entry(&dir, &name)?,
                (None, true) => {}
                // Nothing was moved yet.
                (None, false) => self.end_entry(&entry)?,
            }
        }
        Ok(())
    }

    /// Git's entry for something that is in the trash or gone, if it did not follow.
    fn git_entry_left(
        &self,
        dir: &Root,
        entry: &TrashEntry,
        has_files: bool,
    ) -> Result<Option<String>, WorktreeError> {
        let Some(name) = &entry.git_entry else { return Ok(None) };
        let git_dir = self.common_dir.join("worktrees").join(name);
        let entries = self.git_entries()?;
        let Some((_, marker)) = entries.iter().find(|(known, _)| *known == git_dir) else { return Ok(None) };
        let is_its = match has_files {
            true => self.linked(&dir.path().join(FILES)).is_some_and(|it| it.git_dir == git_dir),
            false => marker.parent() == Some(&entry.path),
        };
        // Somebody may have the name by now.
        let is_used = marker.exists() || self.is_elsewhere(&git_dir)?;
        Ok(Some(name.clone()).filter(|_| is_its && !is_used))
    }
}

fn names(place: &Path) -> Result<Vec<String>, WorktreeError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(place).map_err(WorktreeError::disk(place))? {
        names.extend(entry.map_err(WorktreeError::disk(place))?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}
