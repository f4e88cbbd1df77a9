//! Reserves a worktree's name while it is made, so that a crash leaves nothing that blocks the name.
//!
//! The intention is written into a file that is locked meanwhile, also by git. A file that exists and is not locked
//! was left by a killed server.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::commit::BaseCommit;
use super::failure::{FailureKind, WorktreeError};
use super::leftovers::Leftover;
use super::names::Branch;
use super::record::{WorktreeRecord, decode, encode};
use super::slug::Slug;
use super::{Driver, save};
use crate::dot_git::open_plain;
use crate::fair_lock::{FairLock, FairLockError};

/// Follows the folder in the name of the file.
const SUFFIX: &str = ".making";
/// How long somebody else may hold the same name, such as a git that has outlived a killed server.
const WAIT_MAX: Duration = Duration::from_secs(30);
const BYTES_MAX: usize = 16 << 10;
/// Why a half made worktree is in the trash.
pub(super) const INTERRUPTED: &str = "its making was interrupted";

/// The name of a worktree that is being made. It is free again when this is dropped.
#[derive(Debug)]
pub struct Reserved {
    turn: FairLock,
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Intention {
    slug: Slug,
    branch: Branch,
    base: BaseCommit,
}

pub(super) enum ReservationState {
    No,
    /// Somebody is making it right now.
    Now,
    /// Somebody did not finish.
    Left(Slug),
}

impl Driver {
    /// Reserves a name: nobody else makes a worktree with it meanwhile. Moves what a crash left of an earlier one to
    /// the trash, and deletes its branch if nothing is on it.
    pub fn reserve(&self, slug: &Slug) -> Result<Reserved, WorktreeError> {
        let path = self.reservation(&slug.folder());
        let deadline = Instant::now() + WAIT_MAX;
        let turn = loop {
            let turn = FairLock::wait(&path, deadline).map_err(|no_turn| match no_turn {
                FairLockError::Busy => {
                    let message = format!("somebody is just making a worktree {slug}");
                    WorktreeError::new(FailureKind::Busy, message, "wait for it, or take another name")
                }
                FairLockError::Disk(error) => WorktreeError::disk(&path)(error),
            })?;
            // Whoever had it before us may have removed the file.
            if is_same(turn.file(), &path) {
                break turn;
            }
        };
        if let Some(Intention { slug, branch, base }) = read(turn.file()) {
            self.clear(&slug, Some((&branch, &base)))?;
        } else if let Some(Leftover::HalfMade { .. }) = self.left_half_made(slug) {
            self.clear(slug, None)?;
        }
        let reserved = Reserved { turn, path };
        reserved.forget()?;
        Ok(reserved)
    }

    /// This worktree is known to be handed out: a server that died after recording that left its reservation.
    pub fn handed_out(&self, slug: &Slug) {
        let path = self.reservation(&slug.folder());
        let Ok(Some(file)) = open_plain(&path) else { return };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _was_removed_by_somebody = std::fs::remove_file(path);
        }
    }

    /// Whether the worktree in a folder is being made, or was not finished.
    pub(super) fn making(&self, folder: &str) -> ReservationState {
        let Ok(Some(file)) = open_plain(&self.reservation(folder)) else { return ReservationState::No };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                read(&file).map_or(ReservationState::No, |intention| ReservationState::Left(intention.slug))
            }
            Err(_) => ReservationState::Now,
        }
    }

    /// Undoes what a crash left of names without a worktree: an unused branch, or only the reservation.
    pub(super) fn take_back_reservations(&self) -> Result<(), WorktreeError> {
        let worktrees = &self.places.worktrees;
        for entry in std::fs::read_dir(worktrees).map_err(WorktreeError::disk(worktrees))? {
            let path = entry.map_err(WorktreeError::disk(worktrees))?.path();
            if !path.as_os_str().as_encoded_bytes().ends_with(SUFFIX.as_bytes()) {
                continue;
            }
            let Ok(Some(file)) = open_plain(&path) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !is_same(&file, &path) {
                continue;
            }
            if let Some(Intention { slug, branch, base }) = read(&file) {
                let meant = worktrees.join(slug.folder());
                if meant.symlink_metadata().is_ok() || self.git_dir_of(&meant)?.is_some() {
                    continue;
                }
                self.drop_unused(&branch, &base)?;
            }
            std::fs::remove_file(&path).map_err(WorktreeError::disk(&path))?;
        }
        Ok(())
    }

    /// Moves what there is of a worktree that was not handed out to the trash.
    fn clear(&self, slug: &Slug, meant: Option<(&Branch, &BaseCommit)>) -> Result<(), WorktreeError> {
        let path = self.places.worktrees.join(slug.folder());
        let git_dir = self.git_dir_of(&path)?;
        let record = git_dir.as_ref().and_then(|git_dir| WorktreeRecord::read(git_dir).ok().flatten());
        if let Some(git_dir) = &git_dir {
            save::keep_everything(self, &path, git_dir)?;
        }
        self.set_aside_path(Some(slug), &path, INTERRUPTED)?;
        match (meant, record) {
            (Some((branch, base)), _) => self.drop_unused(branch, base),
            (None, Some(WorktreeRecord::Making { branch, base, .. })) => self.drop_unused(&branch, &base),
            (None, Some(WorktreeRecord::Pooled(_) | WorktreeRecord::Ready(_)) | None) => Ok(()),
        }
    }

    fn reservation(&self, folder: &str) -> PathBuf {
        // On some file systems, folders that differ only in case are the same.
        self.places.worktrees.join(format!(".{}{SUFFIX}", folder.to_ascii_lowercase()))
    }
}

impl Reserved {
    /// Records what is being made.
    pub(super) fn note(&self, slug: &Slug, branch: &Branch, base: &BaseCommit) -> Result<(), WorktreeError> {
        let (slug, branch, base) = (slug.clone(), branch.clone(), base.clone());
        let write = || self.turn.file().write_all_at(&encode(&Intention { slug, branch, base })?, 0);
        self.forget()?;
        write().map_err(WorktreeError::disk(&self.path))
    }

    fn forget(&self) -> Result<(), WorktreeError> {
        self.turn.file().set_len(0).map_err(WorktreeError::disk(&self.path))
    }

    /// The locked file, for git to hold, too.
    pub(super) fn file(&self) -> &File {
        self.turn.file()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // A panic is a crash: the next one finds what it left.
        if !std::thread::panicking() {
            let _was_removed_by_somebody = std::fs::remove_file(&self.path);
        }
    }
}

fn read(file: &File) -> Option<Intention> {
    let mut bytes = vec![0; BYTES_MAX];
    let length = file.read_at(&mut bytes, 0).ok()?;
    decode(&bytes[..length]).ok()
}

fn is_same(file: &File, path: &Path) -> bool {
    let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let (own, there) = (file.metadata().map(id), std::fs::symlink_metadata(path).map(id));
    own.is_ok() && own.ok() == there.ok()
}
