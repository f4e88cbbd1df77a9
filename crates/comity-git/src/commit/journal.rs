//! A journal, written before a branch moves: what the shared index has to be updated with afterwards.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::change::FileVersion;
use super::commit_dir::CommitDir;
use super::not_committed::NotCommitted;
use crate::dot_git::open_plain;
use crate::parse::to_path;

const NAME: &str = "journal";
/// How it begins; a journal of another version is not touched.
const HEADING: &[u8] = b"comity journal 1";
const END: &[u8] = b"end";
const BYTES_MAX: u64 = 256 << 20;

/// How to update the shared index once a commit is on its branch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Journal {
    pub(super) commit: String,
    /// Its paths, with what the shared index had there before.
    pub(super) paths: Vec<(PathBuf, Option<FileVersion>)>,
}

impl Journal {
    /// Writes the journal atomically, also across a power cut.
    pub(super) fn write(&self, commit_dir: &CommitDir) -> Result<(), NotCommitted> {
        let passing = commit_dir.passing(NAME)?;
        let write = || -> io::Result<()> {
            (&passing.file).write_all(&self.to_bytes())?;
            passing.file.sync_data()?;
            // File systems keep the order of renames: if the branch's is there afterwards, so is this one.
            passing.move_to(&commit_dir.path(NAME))
        };
        write().map_err(|error| commit_dir.fault(NAME, &error))
    }

    /// The journal that a killed process left behind, if there is one.
    pub(super) fn read(commit_dir: &CommitDir) -> Result<Option<Journal>, NotCommitted> {
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some(file) = open_plain(&commit_dir.path(NAME))? else { return Ok(None) };
            let mut bytes = Vec::new();
            file.take(BYTES_MAX).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        let Some(bytes) = read().map_err(|error| commit_dir.fault(NAME, &error))? else { return Ok(None) };
        let problem = || {
            let note = commit_dir.path(NAME);
            let note = note.display();
            NotCommitted::fault(format!("can't read {note}; look at `git status`, then remove it"))
        };
        Journal::from_bytes(&bytes).ok_or_else(problem).map(Some)
    }

    pub(super) fn remove(commit_dir: &CommitDir) -> Result<(), NotCommitted> {
        fs::remove_file(commit_dir.path(NAME)).map_err(|error| commit_dir.fault(NAME, &error))
    }

    /// Fields ended by NUL, which no path contains.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut field = |text: &[u8]| {
            bytes.extend_from_slice(text);
            bytes.push(0);
        };
        field(HEADING);
        field(self.commit.as_bytes());
        for (path, had) in &self.paths {
            match had {
                Some(FileVersion { mode, hash }) => field(format!("{} {hash}", mode.as_str()).as_bytes()),
                None => field(b"000000 -"),
            }
            field(path.as_os_str().as_bytes());
        }
        field(END);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Journal> {
        let mut fields = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
        let heading = fields.next()?;
        let commit = str::from_utf8(fields.next()?).ok()?.to_owned();
        let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        if heading != HEADING || !is_hash || fields.next_back()? != END {
            return None;
        }
        let mut paths = Vec::new();
        while let Some(had) = fields.next() {
            let at = had.iter().position(|byte| *byte == b' ')?;
            let had = FileVersion::read(&had[..at], &had[at + 1..])?;
            paths.push((to_path(fields.next()?), had));
        }
        Some(Journal { commit, paths })
    }
}

#[cfg(test)]
mod tests {
    use super::super::change::FileMode;
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_or_not_at_all() {
        let version = FileVersion { mode: FileMode::Executable, hash: "a".repeat(64) };
        let paths = vec![(to_path(b"odd\n\xff"), Some(version)), ("-new".into(), None)];
        let journal = Journal { commit: "b".repeat(64), paths };
        let bytes = journal.to_bytes();
        assert_eq!(Journal::from_bytes(&bytes), Some(journal));
        for end in 0..bytes.len() {
            assert_eq!(Journal::from_bytes(&bytes[..end]), None, "{end} bytes");
        }
    }

    #[test]
    fn a_note_in_other_words_is_left_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let commit_dir = CommitDir::open(dir.path()).expect("a directory of our own");
        assert_eq!(Journal::read(&commit_dir), Ok(None));
        fs::write(commit_dir.path(NAME), "comity journal 2\0").expect("a file");
        let not = Journal::read(&commit_dir).expect_err("unreadable").to_string();
        assert!(not.ends_with("journal; look at `git status`, then remove it"), "{not}");
    }
}
