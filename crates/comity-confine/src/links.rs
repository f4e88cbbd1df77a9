//! Other names of held files: a hard link leads to the same file past the name that is held.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Entries of directories that are looked at.
const ENTRIES_MAX: usize = 20_000;

/// Entries of held directories that are looked at: that is done for every command.
const HELD_ENTRIES_MAX: usize = 500;

/// Names below `roots` of files that are held, by themselves or with their directory, and have more than one name; as far
/// as they are found. Directories that may not be looked into stand for what is in them.
///
/// Looks at nothing but held directories unless there is such a file, which is rare among sources.
pub fn other_names(roots: &[PathBuf], held: &[PathBuf]) -> Vec<PathBuf> {
    let linked = linked_among(held);
    if linked.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<&Path> = held.iter().map(PathBuf::as_path).collect();
    let is_known = |path: &Path| path.ancestors().any(|above| known.contains(above));
    let (mut found, mut left, mut looked) = (Vec::new(), roots.to_vec(), 0);
    while let Some(dir) = left.pop() {
        let is_seen = look_into(&dir, |path, entry| {
            looked += 1;
            if entry.is_dir() {
                left.push(path);
            } else if id_if_linked(entry).is_some_and(|id| linked.contains(&id)) && !is_known(&path) {
                found.push(path);
            }
            looked < ENTRIES_MAX
        });
        // Whoever made it so can look into it again, and find a name there.
        if !is_seen && !is_known(&dir) {
            found.push(dir);
        }
        if looked >= ENTRIES_MAX {
            return found;
        }
    }
    found
}

/// Looks at what is in a directory until that is enough; `false` if it may not be looked at.
fn look_into(dir: &Path, mut look: impl FnMut(PathBuf, &Metadata) -> bool) -> bool {
    let is_denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return !is_denied(&error),
    };
    for entry in entries.flatten() {
        match entry.metadata() {
            Ok(found) if !look(entry.path(), &found) => break,
            Err(error) if is_denied(&error) => return false,
            Ok(_) | Err(_) => {}
        }
    }
    true
}

/// Files with several names among held paths, and in those that are directories.
fn linked_among(held: &[PathBuf]) -> BTreeSet<(u64, u64)> {
    let found = held.iter().filter_map(|path| Some((path, path.symlink_metadata().ok()?)));
    let (dirs, files): (Vec<_>, Vec<_>) = found.partition(|(_, found)| found.is_dir());
    let mut linked: BTreeSet<(u64, u64)> = files.iter().filter_map(|(_, file)| id_if_linked(file)).collect();
    let (mut left, mut looked) = (dirs.into_iter().map(|(dir, _)| dir.clone()).collect::<Vec<_>>(), 0);
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            looked += 1;
            if looked > HELD_ENTRIES_MAX {
                return linked;
            }
            let Ok(kind) = entry.file_type() else { continue };
            match kind.is_dir() {
                true => left.push(entry.path()),
                false => linked.extend(entry.metadata().ok().as_ref().and_then(id_if_linked)),
            }
        }
    }
    linked
}

/// What a file with several names is known by.
fn id_if_linked(found: &Metadata) -> Option<(u64, u64)> {
    (found.is_file() && found.nlink() > 1).then(|| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_of_a_file_are_found() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |path: &str| dir.path().join(path);
        fs::create_dir(at("src")).and_then(|()| fs::create_dir(at("docs"))).expect("made");
        fs::write(at("src/a.rs"), "").expect("written");
        let (root, file, link) = (dir.path().to_owned(), at("src/a.rs"), at("docs/link"));
        let roots = [root];
        assert!(other_names(&roots, std::slice::from_ref(&file)).is_empty());
        fs::hard_link(&file, &link).expect("linked");
        assert_eq!(other_names(&roots, &[file]), std::slice::from_ref(&link));
        // The same for a file in a directory that is held as a whole.
        assert_eq!(other_names(&roots, &[at("src")]), [link]);
        assert!(other_names(&roots, &[at("src"), at("docs")]).is_empty(), "all its names are held");
    }

    #[test]
    fn what_may_not_be_looked_into_stands_for_what_is_in_it() {
        use std::os::unix::fs::PermissionsExt;
        if rustix::process::geteuid().is_root() {
            return comity_skip::skip("what_may_not_be_looked_into", "root looks into everything");
        }
        for mode in [0o000, 0o311, 0o444] {
            let dir = tempfile::tempdir().expect("a directory");
            let at = |path: &str| dir.path().join(path);
            fs::create_dir_all(at("hidden/below")).expect("made");
            fs::write(at("a.rs"), "").expect("written");
            fs::hard_link(at("a.rs"), at("hidden/below/link")).expect("linked");
            let set =
                |mode| fs::set_permissions(at("hidden"), fs::Permissions::from_mode(mode)).expect("set");
            set(mode);
            let found = other_names(&[dir.path().to_owned()], &[at("a.rs")]);
            let nothing =
                fs::remove_file(at("a.rs")).map(|()| other_names(&[dir.path().to_owned()], &[at("a.rs")]));
            set(0o755);
            assert_eq!(found, [at("hidden")], "{mode:o}");
            assert!(nothing.expect("removed").is_empty(), "{mode:o}");
        }
    }
}
