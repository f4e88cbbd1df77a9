//! Which ignored files of the main worktree a new one gets: those that `.worktreeinclude` names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType};

use super::disk::Root;
use super::failure::WorktreeError;
use super::include_list::IncludeList;
use super::setup::SkippedCopy;
use crate::git::Git;
use crate::parse::{parts, to_path};

/// At the top of the main worktree.
const INCLUDE_FILE: &str = ".worktreeinclude";
const INCLUDE_BYTES_MAX: u64 = 64 << 10;
const FILES_MAX: usize = 10_000;
/// Directories that are searched for one list.
const DIRS_MAX: usize = 10_000;

/// The files to copy, from the top of the worktree.
#[derive(Debug, Default)]
pub(crate) struct Included {
    pub(crate) files: BTreeSet<PathBuf>,
    pub(crate) skipped: Vec<SkippedCopy>,
    dirs: usize,
}

/// Finds what is ignored by git *and* named by `.worktreeinclude`.
///
/// Git lists an ignored directory as one; it is searched only if a pattern reaches into it.
pub(crate) fn included(git: &Git<'_>) -> Result<Included, WorktreeError> {
    let root = Root::open(&git.worktree().root).map_err(WorktreeError::disk(&git.worktree().root))?;
    let mut included = Included::default();
    let text = match root.read(Path::new(INCLUDE_FILE), INCLUDE_BYTES_MAX) {
        Ok(None) => return Ok(included),
        Ok(Some(text)) => text,
        Err(error) => {
            included.skip(INCLUDE_FILE.into(), error.to_string());
            return Ok(included);
        }
    };
    let list = match IncludeList::parse(&text) {
        Ok(list) => list,
        Err(error) => {
            included.skip(INCLUDE_FILE.into(), error.to_string());
            return Ok(included);
        }
    };
    let listed =
        git.ask("ls-files", &["--others", "--ignored", "--exclude-standard", "--directory", "-z"], &[])?;
    for entry in parts(&listed) {
        match entry.strip_suffix(b"/") {
            Some(dir) => included.look_into(&root, &list, &to_path(dir)),
            None => included.add_if_named(&list, to_path(entry)),
        }
    }
    Ok(included)
}

impl Included {
    fn add_if_named(&mut self, list: &IncludeList, path: PathBuf) {
        if !list.name(&path, false) {
            return;
        }
        match path.to_str() {
            None => self.skip(path, "its name is not UTF-8".into()),
            Some(_) if self.files.len() >= FILES_MAX => self.skip(path, "too many files are named".into()),
            Some(_) => drop(self.files.insert(path)),
        }
    }

    fn skip(&mut self, path: PathBuf, why: String) {
        self.skipped.push(SkippedCopy { path, why });
    }

    /// Adds what the patterns match in an ignored directory.
    fn look_into(&mut self, root: &Root, list: &IncludeList, dir: &Path) {
        if !list.name(dir, true) && !list.look_into(dir) {
            return;
        }
        self.dirs += 1;
        if self.dirs > DIRS_MAX {
            return self.skip(dir.to_owned(), "too many directories are named".into());
        }
        let entries = match entries(root, dir) {
            Ok(entries) => entries,
            Err(error) => return self.skip(dir.to_owned(), error.to_string()),
        };
        for (name, kind) in entries {
            let below = dir.join(name);
            match kind {
                FileType::Directory => self.look_into(root, list, &below),
                _ => self.add_if_named(list, below),
            }
        }
    }
}

/// A directory's entries, without git's own, sorted by name.
fn entries(root: &Root, dir: &Path) -> io::Result<Vec<(PathBuf, FileType)>> {
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
        names.push((to_path(name), kind));
    }
    names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    Ok(names)
}
