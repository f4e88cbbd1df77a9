//! The record of a worktree, in git's own directory for it.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::commit::{BaseCommit, CommitId};
use super::disk::Root;
use super::failure::WorktreeError;
use super::names::{Branch, InnerPath};
use super::slug::Slug;
use super::survey::Seal;
use crate::umask::share;

/// In the worktree's git directory.
pub(crate) const RECORD_FILE: &str = "comity.json";
/// Enough for some ten thousand copied files.
const RECORD_BYTES_MAX: u64 = 8 << 20;
/// The version of records that this program writes and reads.
const VERSION: u32 = 1;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WorktreeRecord {
    /// It was begun and not handed out yet.
    Making { slug: Slug, branch: Branch, base: BaseCommit },
    /// It waits in the pool, untouched since it was sealed.
    Pooled(Pooled),
    /// It was handed out.
    Ready(Ready),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pooled {
    pub(crate) commit: CommitId,
    pub(crate) files: Seal,
    pub(crate) git: Seal,
    /// Files that a filter would have changed.
    pub(crate) unfiltered: usize,
    /// The directory with hooks that it will need from the main worktree.
    pub(crate) hooks: Option<InnerPath>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    pub(crate) slug: Slug,
    pub(crate) branch: Branch,
    pub(crate) base: BaseCommit,
    /// In seconds since 1970.
    pub(crate) made_at: u64,
    pub(crate) copied: Vec<Copied>,
    pub(crate) links: Vec<SharedLink>,
    pub(crate) made_by: Maker,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Maker {
    /// We did, in our own place.
    Us,
    /// A program of the user, wherever it likes.
    Hook,
}

/// A file that was copied into the worktree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copied {
    /// From the top of the worktree.
    pub path: PathBuf,
    /// Of its contents, by BLAKE3.
    pub hash: String,
}

/// A directory of the main worktree that the worktree has as a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedLink {
    /// From the top of the worktree.
    pub path: InnerPath,
    pub target: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u32,
    record: T,
}

impl WorktreeRecord {
    /// The record of the worktree with this git directory; `None` if we did not make it.
    pub(crate) fn read(git_dir: &Path) -> io::Result<Option<WorktreeRecord>> {
        let Some(bytes) = Root::open(git_dir)?.read(Path::new(RECORD_FILE), RECORD_BYTES_MAX)? else {
            return Ok(None);
        };
        decode(&bytes).map(Some)
    }

    pub(crate) fn write(&self, git_dir: &Path) -> Result<(), WorktreeError> {
        let file = git_dir.join(RECORD_FILE);
        let write = || Root::open(git_dir)?.write(RECORD_FILE, &encode(self)?);
        write().map_err(WorktreeError::disk(&file))?;
        share(&file);
        Ok(())
    }
}

pub(crate) fn encode(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&Versioned { version: VERSION, record })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The record in the bytes of a file; another version is an error.
pub(crate) fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> io::Result<T> {
    let versioned: Versioned<serde_json::Value> = serde_json::from_slice(bytes)?;
    if versioned.version != VERSION {
        return Err(io::Error::other(format!("it is of version {}, not {VERSION}", versioned.version)));
    }
    Ok(serde_json::from_value(versioned.record)?)
}
