//! What is written down about a worktree, in git's own directory for it.

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

/// The file in the worktree's git directory.
pub(crate) const RECORD_FILE: &str = "comity.json";
/// Bytes of a record: enough for some ten thousand copied files.
const RECORD_BYTES_MAX: u64 = 8 << 20;
/// The form of the records that this program writes and reads.
const VERSION: u32 = 1;

/// What is known about a worktree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WorktreeRecord {
    /// It was begun and nobody has been given it yet.
    Making { slug: Slug, branch: Branch, base: BaseCommit },
    /// It waits in the pool, untouched since it was sealed.
    Pooled(Pooled),
    /// Somebody has it, or had it.
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

/// Who has made a worktree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Maker {
    /// We have, in our own place.
    Us,
    /// A program of the user's, where it likes.
    Hook,
}

/// A file that was copied into the worktree, with the hash of its contents.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Copied {
    /// Where it is, from the top of the worktree.
    pub path: PathBuf,
    /// The hash of its contents, by BLAKE3.
    pub hash: String,
}

/// A directory of the main worktree that the worktree has as a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedLink {
    /// Where the link is, from the top of the worktree.
    pub path: InnerPath,
    pub target: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u32,
    record: T,
}

impl WorktreeRecord {
    /// Reads what is known about the worktree with this git directory; nothing if we did not make it.
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

/// A record as the bytes of a file.
pub(crate) fn encode(record: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&Versioned { version: VERSION, record })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The record in the bytes of a file; another version's is an error.
pub(crate) fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> io::Result<T> {
    let versioned: Versioned<serde_json::Value> = serde_json::from_slice(bytes)?;
    if versioned.version != VERSION {
        return Err(io::Error::other(format!("it is of version {}, not {VERSION}", versioned.version)));
    }
    Ok(serde_json::from_value(versioned.record)?)
}
