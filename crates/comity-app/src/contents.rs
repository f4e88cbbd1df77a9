//! Contents that agents have read, kept for a while so that a later difference can be shown.
//!
//! Files below `contents/` in the state directory, named by their hash. Losing them loses no more than the words of a
//! refusal, so they are not synced, and the oldest go when there are many.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use comity_core::ContentHash;

/// Bytes of a file whose content is compared; a larger one is not known to anybody.
pub const CONTENT_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Bytes of a content that is kept.
const KEPT_BYTES_MAX: usize = 256 * 1024;
/// Contents that are kept.
const KEPT_MAX: usize = 2_000;

/// The kept contents.
#[derive(Debug)]
pub struct Contents {
    dir: PathBuf,
    kept: Mutex<Option<VecDeque<ContentHash>>>,
}

/// A file's content and its hash.
#[derive(Debug)]
pub struct Content {
    /// The hash.
    pub hash: ContentHash,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Content {
    /// Reads a regular file; nothing if it is gone, no regular file, or too large to be compared.
    pub fn read(file: &Path) -> io::Result<Option<Content>> {
        let opened = match fs::File::open(file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = opened.metadata()?;
        if !metadata.is_file() || metadata.len() > CONTENT_BYTES_MAX {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        opened.take(CONTENT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(Some(Content { hash: ContentHash(*blake3::hash(&bytes).as_bytes()), bytes }))
    }
}

impl Contents {
    /// Contents kept below a state directory.
    pub fn below(home: &Path) -> Contents {
        Contents { dir: home.join("contents"), kept: Mutex::default() }
    }

    /// Keeps a content, if it is small enough.
    pub fn keep(&self, content: &Content) {
        if content.bytes.len() > KEPT_BYTES_MAX || self.dir.parent().is_none_or(|home| !home.is_dir()) {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = kept.get_or_insert_with(|| self.found());
        if kept.contains(&content.hash) {
            return;
        }
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            let unfinished = self.dir.join("unfinished");
            fs::write(&unfinished, &content.bytes)?;
            fs::rename(&unfinished, self.path(content.hash))
        };
        if write().is_err() {
            // Without it a difference is not shown; the refusal stands.
            return;
        }
        kept.push_back(content.hash);
        while kept.len() > KEPT_MAX {
            if let Some(oldest) = kept.pop_front() {
                let _ = fs::remove_file(self.path(oldest));
            }
        }
    }

    /// A content that was kept.
    pub fn get(&self, hash: ContentHash) -> Option<Vec<u8>> {
        fs::read(self.path(hash)).ok()
    }

    fn path(&self, hash: ContentHash) -> PathBuf {
        self.dir.join(hash.to_string())
    }

    /// What an earlier server left, the oldest first.
    fn found(&self) -> VecDeque<ContentHash> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return VecDeque::new() };
        let found = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let hash: ContentHash = entry.file_name().to_str()?.parse().ok()?;
            Some((entry.metadata().ok()?.modified().ok()?, hash))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_unstable_by_key(|(kept_at, _)| *kept_at);
        found.into_iter().map(|(_, hash)| hash).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_kept_and_found_again() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("a.rs");
        fs::write(&file, "fn a() {}\n").expect("written");
        let content = Content::read(&file).expect("readable").expect("a file");
        Contents::below(home.path()).keep(&content);
        let later = Contents::below(home.path());
        assert_eq!(later.get(content.hash).as_deref(), Some(&b"fn a() {}\n"[..]));
        assert_eq!(later.found(), [content.hash]);
        assert!(Content::read(&home.path().join("gone")).expect("no error").is_none());
        assert!(Content::read(home.path()).expect("no error").is_none(), "a directory has no content");
    }
}
