//! Contents that agents have read, kept for a while to show later differences.
//!
//! Files below `contents/` in the state directory, named by their hash. Losing them only loses details of refusals,
//! so they are not synced, and the oldest are removed when there are many.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use comity_core::ContentHash;

use crate::held_dir::HeldDir;
use crate::plain_file;

/// Larger files are not compared.
pub const CONTENT_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Larger contents are not kept.
const KEPT_BYTES_MAX: usize = 256 * 1024;
const KEPT_MAX: usize = 2_000;

/// Contents that agents have read, by hash.
#[derive(Debug)]
pub struct Contents {
    /// The state directory; nothing is kept if `None`.
    home: Option<HeldDir>,
    kept: Mutex<Option<VecDeque<ContentHash>>>,
}

/// A file's content and its hash.
#[derive(Debug)]
pub struct StoredContent {
    pub hash: ContentHash,
    pub bytes: Vec<u8>,
}

impl StoredContent {
    /// Reads a regular file; `None` if it is gone, not a regular file, or too large to be compared.
    pub fn read(file: &Path) -> io::Result<Option<StoredContent>> {
        let opened = match plain_file::open(file) {
            Ok(opened) => opened,
            Err(error) if is_no_file(error.kind()) => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = opened.metadata()?;
        if metadata.len() > CONTENT_BYTES_MAX {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        opened.take(CONTENT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(StoredContent::of(bytes)))
    }

    /// Contents that are not in a file.
    pub(crate) fn of(bytes: Vec<u8>) -> StoredContent {
        StoredContent { hash: ContentHash(*blake3::hash(&bytes).as_bytes()), bytes }
    }
}

fn is_no_file(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput)
}

impl Contents {
    /// The contents kept below a state directory.
    pub fn below(home: &Path) -> Contents {
        Contents { home: HeldDir::open(home).ok(), kept: Mutex::default() }
    }

    /// Keeps a content, unless it is too large.
    pub fn keep(&self, content: &StoredContent) {
        let Some(dir) = self.dir().filter(|_| content.bytes.len() <= KEPT_BYTES_MAX) else { return };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.get_or_insert_with(|| found(&dir));
        if kept.contains(&content.hash) {
            return;
        }
        let write = || -> io::Result<()> {
            dir.create("unfinished")?.write_all(&content.bytes)?;
            dir.rename("unfinished", &content.hash.to_string())
        };
        if write().is_err() {
            // Without it a difference is not shown; the refusal stands.
            return;
        }
        kept.push_back(content.hash);
        while kept.len() > KEPT_MAX {
            if let Some(oldest) = kept.pop_front() {
                let _ = dir.remove(&oldest.to_string());
            }
        }
    }

    /// The content with this hash, if it is kept.
    pub fn get(&self, hash: ContentHash) -> Option<Vec<u8>> {
        self.dir()?.read(&hash.to_string()).ok()
    }

    fn dir(&self) -> Option<HeldDir> {
        self.home.as_ref()?.make_inside("contents").ok()
    }
}

/// What an earlier server left, oldest first.
fn found(dir: &HeldDir) -> VecDeque<ContentHash> {
    let found = dir.names().into_iter().flatten().filter_map(|name| {
        let hash: ContentHash = name.to_str()?.parse().ok()?;
        let kept_at = dir.open_file(name.to_str()?).and_then(|file| file.metadata()?.modified()).ok()?;
        Some((kept_at, hash))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_unstable_by_key(|(kept_at, _)| *kept_at);
    found.into_iter().map(|(_, hash)| hash).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_read_is_kept_and_found_again() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("a.rs");
        fs::write(&file, "fn a() {}\n").expect("written");
        let content = StoredContent::read(&file).expect("readable").expect("a file");
        Contents::below(home.path()).keep(&content);
        let later = Contents::below(home.path());
        assert_eq!(later.get(content.hash).as_deref(), Some(&b"fn a() {}\n"[..]));
        assert_eq!(found(&later.dir().expect("a directory")), [content.hash]);
        assert!(StoredContent::read(&home.path().join("gone")).expect("no error").is_none());
        assert!(StoredContent::read(home.path()).expect("no error").is_none(), "a directory has no content");
    }
}
