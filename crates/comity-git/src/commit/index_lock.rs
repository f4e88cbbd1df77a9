//! Git's own lock on a worktree's index, held by us.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::commit_dir::CommitDir;
use super::not_committed::NotCommitted;
use crate::case::FileIdentity;
use crate::dot_git::found;
use crate::umask::as_user;

/// How long another git may hold the index before we give up.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often it is tried; git has no way to tell that it is done.
pub(super) const POLL: Duration = Duration::from_millis(2);
/// A second link to our lock file. It proves to us, and to a later process, that the lock is ours.
const HELD: &str = "held";

/// While it exists, no git changes the index or begins a commit from it.
pub(super) struct IndexLock {
    names: Names,
}

struct Names {
    lock: PathBuf,
    held: PathBuf,
}

impl IndexLock {
    /// Waits for the lock; it is never taken from anybody.
    pub(super) fn take(
        git_dir: &Path,
        commit_dir: &CommitDir,
        deadline: Instant,
    ) -> Result<IndexLock, NotCommitted> {
        let names = Names::of(git_dir, commit_dir);
        as_user(|| File::create_new(&names.held)).map_err(|error| commit_dir.fault(HELD, &error))?;
        let taken = names.wait(deadline.min(Instant::now() + WAIT_MAX));
        match taken {
            Ok(()) => Ok(IndexLock { names }),
            Err(not) => {
                names.forget_held();
                Err(not)
            }
        }
    }

    /// The lock that a killed process of ours left behind, if there is one. The caller must have the turn.
    pub(super) fn left_behind(
        git_dir: &Path,
        commit_dir: &CommitDir,
    ) -> Result<Option<IndexLock>, NotCommitted> {
        let names = Names::of(git_dir, commit_dir);
        let look = |path: &Path| match found(path.symlink_metadata()) {
            Ok(metadata) => Ok(metadata.map(|metadata| FileIdentity::of(&metadata))),
            Err(error) => Err(NotCommitted::fault(format!("can't look at {}: {error}", path.display()))),
        };
        let held = look(&names.held)?;
        if held.is_some() && held == look(&names.lock)? {
            return Ok(Some(IndexLock { names }));
        }
        names.forget_held();
        Ok(None)
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // The proof that it is ours goes last.
        let _was_removed_by_somebody = fs::remove_file(&self.names.lock);
        self.names.forget_held();
    }
}

impl Names {
    fn of(git_dir: &Path, commit_dir: &CommitDir) -> Names {
        Names { lock: git_dir.join("index.lock"), held: commit_dir.path(HELD) }
    }

    fn wait(&self, deadline: Instant) -> Result<(), NotCommitted> {
        loop {
            match self.make() {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(NotCommitted::fault(format!("can't make {}: {error}", self.lock.display())));
                }
            }
            if Instant::now() >= deadline {
                return Err(NotCommitted::IndexLocked { lock: self.lock.clone() });
            }
            std::thread::sleep(POLL);
        }
    }

    /// Creates the lock so that it has two links from the first moment.
    fn make(&self) -> io::Result<()> {
        match fs::hard_link(&self.held, &self.lock) {
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {
                // A file system without hard links: a kill now would leave a lock that nobody can prove to be ours.
                as_user(|| File::create_new(&self.lock)).map(drop)
            }
            made => made,
        }
    }

    fn forget_held(&self) {
        let _was_not_there = fs::remove_file(&self.held);
    }
}
