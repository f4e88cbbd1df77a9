//! Other names of held files: a hard link leads to the same file past the name that is held.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries of directories that are looked at.
const ENTRIES_MAX: usize = 20_000;

/// Entries of held directories that are looked at: that is done for every command.
const HELD_ENTRIES_MAX: usize = 1_000;

/// Names below `roots` of files that are held, by themselves or with their directory, and have more than one name; as far
/// as they are found.
///
/// Looks at nothing but held directories unless there is such a file, which is rare among sources.
pub fn other_names(roots: &[PathBuf], held: &[PathBuf]) -> Vec<PathBuf> {
    let mut linked: BTreeSet<(u64, u64)> = held.iter().filter_map(|path| linked_file(path)).collect();
    linked.extend(linked_below(held));
    if linked.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<&Path> = held.iter().map(PathBuf::as_path).collect();
    let is_known = |path: &Path| path.ancestors().any(|above| known.contains(above));
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
                && linked_file(&path).is_some_and(|file| linked.contains(&file))
                && !is_known(&path)
            {
                found.push(path);
            }
        }
    }
    found
}

/// Files with several names in held directories.
fn linked_below(held: &[PathBuf]) -> Vec<(u64, u64)> {
    let (mut found, mut left, mut looked) = (Vec::new(), held.to_vec(), 0);
    while let Some(dir) = left.pop() {
        // Most held paths are files, of which this says so.
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            looked += 1;
            if looked > HELD_ENTRIES_MAX {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            match kind.is_dir() {
                true => left.push(entry.path()),
                false if kind.is_file() => {
                    // By the directory that is open, without going there by name again.
                    let linked = entry.metadata().ok().filter(|file| file.nlink() > 1);
                    found.extend(linked.map(|file| (file.dev(), file.ino())));
                }
                false => {}
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
