//! Indexes of our own: copies of the shared one that know when they were made, and fresh ones of a commit.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::change::{FileChange, FileVersion};
use super::commit_dir::{CommitDir, ScratchFile};
use super::look::{Candidate, OnDisk};
use super::not_committed::NotCommitted;
use crate::call::GitCall;
use crate::case::FileIdentity;
use crate::dot_git::{found, open_plain};
use crate::git::{Git, UnknownState};

const SHA1_DIGITS: usize = 40;

pub(super) struct PrivateIndex {
    file: ScratchFile,
    /// What it was copied from; `None` for a fresh one.
    origin: Option<IndexStamp>,
    /// The null hash, in the repository's hash format.
    no_hash: String,
}

/// The shared index when it was copied.
struct IndexStamp {
    path: PathBuf,
    /// Kept open, so that no other file gets its identity. `None` if there was no index.
    open: Option<(File, FileIdentity)>,
}

impl PrivateIndex {
    /// A copy of the worktree's shared index.
    pub(super) fn copy_of_shared(
        git: &Git<'_>,
        commit_dir: &CommitDir,
        head: Option<&str>,
    ) -> Result<PrivateIndex, NotCommitted> {
        let path = shared(git);
        let file = commit_dir.passing("index")?;
        let open = copy(&path, &file)?;
        Ok(PrivateIndex { file, origin: Some(IndexStamp { path, open }), no_hash: no_hash(head) })
    }

    /// Another one with the same entries.
    pub(super) fn copied(&self, commit_dir: &CommitDir) -> Result<PrivateIndex, NotCommitted> {
        let file = commit_dir.passing("index")?;
        copy(self.path(), &file)?;
        Ok(PrivateIndex { file, origin: None, no_hash: self.no_hash.clone() })
    }

    /// An index with exactly what a commit has.
    pub(super) fn of_commit(
        git: &Git<'_>,
        commit_dir: &CommitDir,
        head: Option<&str>,
    ) -> Result<PrivateIndex, NotCommitted> {
        let file = commit_dir.passing("index")?;
        let made = fs::remove_file(file.path());
        made.map_err(|error| commit_dir.fault("", &error))?;
        if let Some(head) = head {
            git.call("read-tree").arg(head).index(file.path()).done()?;
        }
        Ok(PrivateIndex { file, origin: None, no_hash: no_hash(head) })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Sets some paths to what the working tree has.
    pub(super) fn take<'p>(
        &self,
        git: &Git<'_>,
        candidates: impl Iterator<Item = (&'p PathBuf, &'p Candidate)>,
    ) -> Result<(), UnknownState> {
        let (mut replaced, mut paths) = (Vec::new(), Vec::new());
        for (path, candidate) in candidates {
            match candidate.now {
                OnDisk::Replaced => self.removal(&mut replaced, path),
                OnDisk::File | OnDisk::Link | OnDisk::Gone => {
                    paths.extend_from_slice(path.as_os_str().as_bytes());
                    paths.push(0);
                }
            }
        }
        if !replaced.is_empty() {
            self.index_info(git, replaced)?;
        }
        if !paths.is_empty() {
            let options = ["--add", "--remove", "--replace", "-z", "--stdin"];
            self.update(git).args(options).input(paths).done()?;
        }
        Ok(())
    }

    /// Sets some paths to what commits have.
    pub(super) fn set<'p>(
        &self,
        git: &Git<'_>,
        versions: impl Iterator<Item = (&'p Path, Option<&'p FileVersion>)>,
    ) -> Result<(), UnknownState> {
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for (path, version) in versions {
            match version {
                None => self.removal(&mut removed, path),
                Some(FileVersion { mode, hash }) => {
                    added.extend_from_slice(format!("{} {hash}\t", mode.as_str()).as_bytes());
                    added.extend_from_slice(path.as_os_str().as_bytes());
                    added.push(0);
                }
            }
        }
        // Removals make room for additions, such as a directory for a file.
        removed.append(&mut added);
        self.index_info(git, removed)
    }

    fn index_info(&self, git: &Git<'_>, lines: Vec<u8>) -> Result<(), UnknownState> {
        let options = ["--add", "--replace", "-z", "--index-info"];
        self.update(git).args(options).input(lines).done().map(drop)
    }

    fn update<'g>(&self, git: &Git<'g>) -> GitCall<'g> {
        // It may become the shared one, whose users may want this cache.
        git.with("core.untrackedCache", "keep").call("update-index").index(self.path())
    }

    fn removal(&self, lines: &mut Vec<u8>, path: &Path) {
        lines.extend_from_slice(format!("0 {}\t", self.no_hash).as_bytes());
        lines.extend_from_slice(path.as_os_str().as_bytes());
        lines.push(0);
    }

    /// Writes it as a tree, and returns that.
    pub(super) fn tree(&self, git: &Git<'_>) -> Result<String, UnknownState> {
        git.call("write-tree").index(self.path()).word()
    }

    /// Whether the shared index is still the one that was copied.
    pub(super) fn is_current(&self) -> bool {
        let Some(origin) = &self.origin else { return false };
        let now = found(origin.path.symlink_metadata()).map(|it| it.map(|it| FileIdentity::of(&it)));
        now.is_ok_and(|now| now == origin.open.as_ref().map(|(_, identity)| *identity))
    }

    /// Makes it the shared index. The caller must have the lock, and the copy must be current.
    pub(super) fn install(&self, git: &Git<'_>) -> io::Result<()> {
        self.file.move_to(&shared(git))
    }
}

/// Copies an index, and returns the open original with its identity. `None` if there is no index.
fn copy(from: &Path, to: &ScratchFile) -> Result<Option<(File, FileIdentity)>, NotCommitted> {
    let copy = || -> io::Result<Option<(File, FileIdentity)>> {
        if from.is_symlink() {
            return Err(io::Error::other("it is a symlink"));
        }
        let Some(mut original) = open_plain(from)? else {
            if from.symlink_metadata().is_ok() {
                return Err(io::Error::other("it isn't a plain file"));
            }
            // To git an empty file is a broken index, and no file is an empty one.
            fs::remove_file(to.path())?;
            return Ok(None);
        };
        let metadata = original.metadata()?;
        io::copy(&mut original, &mut &to.file)?;
        // Git compares this time with those of files to find entries that it cannot trust yet.
        to.file.set_modified(metadata.modified()?)?;
        Ok(Some((original, FileIdentity::of(&metadata))))
    };
    copy().map_err(|error| NotCommitted::fault(format!("can't copy {}: {error}", from.display())))
}

/// What to update in the shared index for a commit.
pub(super) fn versions(changes: &[FileChange]) -> impl Iterator<Item = (&Path, Option<&FileVersion>)> {
    changes.iter().map(|change| (change.path.as_path(), change.new.as_ref()))
}

/// The null hash, as long as the repository's hashes.
pub(super) fn no_hash(like: Option<&str>) -> String {
    "0".repeat(like.map_or(SHA1_DIGITS, str::len))
}

fn shared(git: &Git<'_>) -> PathBuf {
    git.worktree().git_dir.join("index")
}
