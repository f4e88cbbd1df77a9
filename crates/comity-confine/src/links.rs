//! Other names of held files: a hard link leads to the same file past the name that is held.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries of directories that are looked at.
const ENTRIES_MAX: usize = 20_000;

/// Names below `roots` of files among `held` that have more than one name, as far as they are found.
///
/// Looks at nothing unless there is such a file, which is rare among sources.
pub fn other_names(roots: &[PathBuf], held: &[PathBuf]) -> Vec<PathBuf> {
    let linked: BTreeSet<(u64, u64)> = held.iter().filter_map(|path| linked_file(path)).collect();
    if linked.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<&Path> = held.iter().map(PathBuf::as_path).collect();
    let (mut found, mut left, mut looked) = (Vec::new(), roots.to_vec(), 0);
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            looked += 1;
            if looked > ENTRIES_MAX {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file()
                && !known.contains(&*path)
                && linked_file(&path).is_some_and(|file| linked.contains(&file))
            {
                found.push(path);
            }
        }
    }
    found
}

/// What a file with several names is known by.
fn linked_file(path: &Path) -> Option<(u64, u64)> {
    let found = path.symlink_metadata().ok()?;
    (found.is_file() && found.nlink() > 1).then(|| (found.dev(), found.ino()))
}
