//! Which ignored files of the main worktree a new one gets: those that `.worktreeinclude` names.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType};

use super::disk::Root;
use super::failure::Failure;
use super::patterns::{Kind, Patterns};
use super::setup::Skipped;
use crate::git::Git;

/// The file with the patterns, at the top of the main worktree.
const INCLUDE_FILE: &str = ".worktreeinclude";
/// Bytes of it.
const INCLUDE_BYTES_MAX: u64 = 64 << 10;
/// Files that one list may name.
const FILES_MAX: usize = 10_000;
/// Directories that are looked into for one list.
const DIRS_MAX: usize = 10_000;

/// The files to copy, from the top of the worktree.
#[derive(Debug, Default)]
pub(crate) struct Included {
    pub(crate) files: BTreeSet<PathBuf>,
    pub(crate) skipped: Vec<Skipped>,
    dirs: usize,
}

/// Finds what is ignored by git *and* named by `.worktreeinclude`.
///
/// Git lists an ignored directory as one; it is looked into only where a pattern does.
pub(crate) fn included(git: &Git<'_>) -> Result<Included, Failure> {
    let root = Root::open(&git.worktree().root).map_err(Failure::disk(&git.worktree().root))?;
    let mut included = Included::default();
    let text = match root.read(Path::new(INCLUDE_FILE), INCLUDE_BYTES_MAX) {
        Ok(None) => return Ok(included),
        Ok(Some(text)) => text,
        Err(error) => {
            included.skip(INCLUDE_FILE.into(), error.to_string());
            return Ok(included);
        }
    };
    let patterns = Patterns::parse(&text);
    let listed =
        git.ask("ls-files", &["--others", "--ignored", "--exclude-standard", "--directory", "-z"], &[])?;
    for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        match entry.strip_suffix(b"/") {
            Some(dir) => included.look_into(&root, &patterns, dir),
            None if patterns.name(entry, Kind::File) => included.add(entry),
            None => {}
        }
    }
    Ok(included)
}

impl Included {
    fn add(&mut self, path: &[u8]) {
        let path = PathBuf::from(OsString::from_vec(path.to_owned()));
        match path.to_str() {
            None => self.skip(path, "its name is not UTF-8".into()),
            Some(_) if self.files.len() >= FILES_MAX => self.skip(path, "too many files are named".into()),
            Some(_) => drop(self.files.insert(path)),
        }
    }

    fn skip(&mut self, path: PathBuf, why: String) {
        self.skipped.push(Skipped { path, why });
    }

    /// Adds what the patterns name in an ignored directory.
    fn look_into(&mut self, root: &Root, patterns: &Patterns, dir: &[u8]) {
        if !patterns.name(dir, Kind::Dir) && !patterns.look_into(dir) {
            return;
        }
        let path = Path::new(OsStr::from_bytes(dir));
        self.dirs += 1;
        if self.dirs > DIRS_MAX {
            return self.skip(path.to_owned(), "too many directories are named".into());
        }
        let entries = match entries(root, path) {
            Ok(entries) => entries,
            Err(error) => return self.skip(path.to_owned(), error.to_string()),
        };
        for (name, kind) in entries {
            let below = [dir, b"/", &name].concat();
            match kind {
                FileType::Directory => self.look_into(root, patterns, &below),
                _ if patterns.name(&below, Kind::File) => self.add(&below),
                _ => {}
            }
        }
    }
}

/// What is in a directory, git's own aside, sorted by name.
fn entries(root: &Root, dir: &Path) -> io::Result<Vec<(Vec<u8>, FileType)>> {
    let dir = root.dir(dir)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(dir.fd())? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b".." | b".git") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => dir.kind(Path::new(OsStr::from_bytes(name)))?.unwrap_or(FileType::Unknown),
            kind => kind,
        };
        names.push((name.to_owned(), kind));
    }
    names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}
