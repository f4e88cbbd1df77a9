//! Our own directory within a git directory: its contents belong to the one commit that is being made.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::not_committed::NotCommitted;
use crate::dot_git::found;
use crate::umask::{as_user, share};

pub(crate) const NAME: &str = "comity";
/// Prefix of temporary files. Git's own lock files next to them have the same prefix.
const PASSING: &str = "passing-";

#[derive(Clone, Debug)]
pub(super) struct CommitDir {
    dir: PathBuf,
}

impl CommitDir {
    /// Creates the directory if it is missing. A symlink in its place is not followed.
    pub(super) fn open(git_dir: &Path) -> Result<CommitDir, NotCommitted> {
        let commit_dir = CommitDir { dir: git_dir.join(NAME) };
        let made = match as_user(|| fs::create_dir(&commit_dir.dir)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.inspect(|()| share(&commit_dir.dir)),
        };
        let is_dir = made.and_then(|()| commit_dir.dir.symlink_metadata()).map(|metadata| metadata.is_dir());
        match is_dir {
            Ok(true) => Ok(commit_dir),
            Ok(false) => Err(NotCommitted::fault(format!("{} is not a directory", commit_dir.dir.display()))),
            Err(error) => Err(commit_dir.fault("", &error)),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Creates an empty file, which is removed when the returned value is dropped.
    pub(super) fn passing(&self, name: &str) -> Result<ScratchFile, NotCommitted> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // A git that outlived its killed parent may still write to files of an earlier process with this id.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        let name = format!("{PASSING}{name}-{}-{count}-{now}", std::process::id());
        let path = self.dir.join(&name);
        match as_user(|| File::create_new(&path)) {
            Ok(file) => Ok(ScratchFile { path, file }),
            Err(error) => Err(self.fault(&name, &error)),
        }
    }

    /// Removes what a killed process left behind. The caller must have the turn: then all files are left over.
    pub(super) fn sweep(&self) -> Result<(), NotCommitted> {
        let sweep = || -> io::Result<()> {
            for entry in fs::read_dir(&self.dir)? {
                let entry = entry?;
                if entry.file_name().as_encoded_bytes().starts_with(PASSING.as_bytes()) {
                    found(fs::remove_file(entry.path()))?;
                }
            }
            Ok(())
        };
        sweep().map_err(|error| self.fault("", &error))
    }

    pub(super) fn fault(&self, name: &str, error: &io::Error) -> NotCommitted {
        NotCommitted::fault(format!("can't work with {}: {error}", self.dir.join(name).display()))
    }
}

/// A file that is removed on drop, unless it was moved elsewhere.
pub(super) struct ScratchFile {
    path: PathBuf,
    /// The file as it was created; git replaces it when it writes.
    pub(super) file: File,
}

impl ScratchFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn move_to(&self, place: &Path) -> io::Result<()> {
        fs::rename(&self.path, place)
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        let _moved_or_swept_later = fs::remove_file(&self.path);
    }
}
