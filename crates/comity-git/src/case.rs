//! Whether a file system takes `A` and `a` for one name, and how a name is really spelled on it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use comity_core::CaseRule;

/// What tells whether two paths lead to the same file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The identity of a file whose attributes were read.
    pub(crate) fn of(metadata: &fs::Metadata) -> Identity {
        Identity { device: metadata.dev(), inode: metadata.ino() }
    }

    fn at(path: &Path) -> Option<Identity> {
        Some(Identity::of(&path.symlink_metadata().ok()?))
    }
}

/// The rule of the file system of a worktree: a folding one finds `.git` also as `.GIT`.
pub(crate) fn rule(root: &Path) -> CaseRule {
    match (Identity::at(&root.join(".git")), Identity::at(&root.join(".GIT"))) {
        (Some(lower), Some(upper)) if lower == upper => CaseRule::Folded,
        _ => CaseRule::Exact,
    }
}

/// Spells each name like its directory does, so that a place has one path however somebody came there.
pub(crate) fn as_on_disk(path: &Path) -> PathBuf {
    let mut spelled = PathBuf::new();
    for component in path.components() {
        let Component::Normal(_) = component else {
            spelled.push(component);
            continue;
        };
        let written = spelled.join(component);
        let name = name_on_disk(&spelled, &written);
        spelled = name.map_or(written, |name| spelled.join(name));
    }
    spelled
}

/// The name under which a directory lists what `written` leads to, if only the case may differ.
fn name_on_disk(dir: &Path, written: &Path) -> Option<std::ffi::OsString> {
    let written_name = written.file_name()?.to_str()?.to_lowercase();
    let identity = Identity::at(written)?;
    let is_it = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.to_lowercase() == written_name)
            && entry.metadata().is_ok_and(|metadata| Identity::of(&metadata) == identity)
    };
    fs::read_dir(dir).ok()?.flatten().find(is_it).map(|entry| entry.file_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_like_on_disk() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().canonicalize().expect("its path").join("Src");
        fs::create_dir(&path).expect("a directory");
        assert_eq!(as_on_disk(&path), path);
        assert_eq!(as_on_disk(&path.join("missing")), path.join("missing"));
    }
}
