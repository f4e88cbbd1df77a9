//! One changed path: what it was and what it becomes, as git stores it.

use std::path::PathBuf;

use crate::git::{Git, UnknownState};
use crate::parse::{parts, to_path, unreadable};

/// The hashes of an empty tree, which git knows without storing it.
const EMPTY_TREE_SHA1: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// A path that a commit changes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileChange {
    /// From the top of the worktree, as git spells it.
    pub path: PathBuf,
    /// `None` for a new path.
    pub old: Option<FileVersion>,
    /// `None` for a deleted path.
    pub new: Option<FileVersion>,
}

/// What a tree or an index has at a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileVersion {
    pub mode: FileMode,
    /// In hexadecimal.
    pub hash: String,
}

/// The kinds of files in git.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FileMode {
    Plain,
    Executable,
    /// A symlink; its contents are the target.
    Link,
    /// A commit of another repository.
    Submodule,
}

/// How a path is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// It became executable, or no longer is.
    ModeChanged,
    /// A file became a symlink, or the other way round.
    TypeChanged,
}

impl FileChange {
    pub fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(old), Some(new)) if old.mode.is_file() != new.mode.is_file() => ChangeKind::TypeChanged,
            (Some(old), Some(new)) if old.hash == new.hash => ChangeKind::ModeChanged,
            (Some(_), Some(_)) => ChangeKind::Modified,
        }
    }

    pub(super) fn is_submodule(&self) -> bool {
        [&self.old, &self.new].into_iter().flatten().any(|version| version.mode == FileMode::Submodule)
    }
}

impl FileVersion {
    /// Parses git's notation; the inner `None` is mode `000000`.
    pub(crate) fn read(mode: &[u8], hash: &[u8]) -> Option<Option<FileVersion>> {
        let mode = match mode {
            b"000000" => return Some(None),
            b"100644" => FileMode::Plain,
            b"100755" => FileMode::Executable,
            b"120000" => FileMode::Link,
            b"160000" => FileMode::Submodule,
            _ => return None,
        };
        let is_hash = hash.len() >= 40 && hash.iter().all(u8::is_ascii_hexdigit);
        is_hash.then(|| Some(FileVersion { mode, hash: String::from_utf8_lossy(hash).into_owned() }))
    }
}

impl FileMode {
    fn is_file(self) -> bool {
        match self {
            FileMode::Plain | FileMode::Executable => true,
            FileMode::Link | FileMode::Submodule => false,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            FileMode::Plain => "100644",
            FileMode::Executable => "100755",
            FileMode::Link => "120000",
            FileMode::Submodule => "160000",
        }
    }
}

/// What changes between two commits or trees; `old` is `None` before the first commit.
pub(super) fn changes_between(
    git: &Git<'_>,
    old: Option<&str>,
    new: &str,
) -> Result<Vec<FileChange>, UnknownState> {
    let empty = if new.len() == EMPTY_TREE_SHA1.len() { EMPTY_TREE_SHA1 } else { EMPTY_TREE_SHA256 };
    let options = ["-r", "-z", "--raw", "--no-abbrev", "--no-renames"];
    read_raw(&git.call("diff-tree").args(options).args([old.unwrap_or(empty), new]).done()?)
}

/// Parses the output of `--raw -z`, sorted by path.
pub(super) fn read_raw(output: &[u8]) -> Result<Vec<FileChange>, UnknownState> {
    let mut parts = parts(output);
    let mut changes = Vec::new();
    while let Some(meta) = parts.next() {
        let change = parts.next().and_then(|path| read_one(meta, path));
        changes.push(change.ok_or_else(|| unreadable("git diff-tree", meta))?);
    }
    changes.sort();
    Ok(changes)
}

/// `:<old mode> <new mode> <old hash> <new hash> <letter>`, and the path.
fn read_one(meta: &[u8], path: &[u8]) -> Option<FileChange> {
    let mut fields = meta.strip_prefix(b":")?.split(|byte| *byte == b' ');
    let (old_mode, new_mode) = (fields.next()?, fields.next()?);
    let (old_hash, new_hash) = (fields.next()?, fields.next()?);
    let (old, new) = (FileVersion::read(old_mode, old_hash)?, FileVersion::read(new_mode, new_hash)?);
    Some(FileChange { path: to_path(path), old, new })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_comparisons() {
        let (a, b, none) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let check = |modes: &str, hashes: [&str; 2], letter: &str, kind: ChangeKind| {
            let output = format!(":{modes} {} {} {letter}\0odd\nname\0", hashes[0], hashes[1]);
            let changes = read_raw(output.as_bytes()).expect("readable");
            assert_eq!(changes.len(), 1);
            assert_eq!((changes[0].kind(), changes[0].path.to_str()), (kind, Some("odd\nname")));
        };
        check("000000 100644", [&none, &a], "A", ChangeKind::Added);
        check("100644 100644", [&a, &b], "M", ChangeKind::Modified);
        check("100644 000000", [&a, &none], "D", ChangeKind::Deleted);
        check("100644 100755", [&a, &a], "M", ChangeKind::ModeChanged);
        check("100644 100755", [&a, &b], "M", ChangeKind::Modified);
        check("100755 120000", [&a, &a], "T", ChangeKind::TypeChanged);
        for wrong in [":1 2\0x\0", "x\0", ":000000 100644 a b A\0x\0", ":000000 100644 0 0 A\0"] {
            assert!(read_raw(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
