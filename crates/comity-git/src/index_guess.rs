//! Guesses without git whether a file is changed: for a question that is asked with every lock.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Repository;
use crate::dot_git::open_plain;

/// Larger indexes are not read.
const INDEX_BYTES_MAX: u64 = 4 << 20;
/// Bytes of an entry before its hash, of the hash, and of the flags after it.
const STAT_BYTES: usize = 40;
const HASH_BYTES: usize = 20;
const EXTENDED: u16 = 0x4000;

/// Whether a file looks changed or new. Only git can really tell: this is also true for a file that was only touched,
/// and false for one that is staged. `None` if that cannot be seen at a glance.
pub fn looks_changed(repository: &Repository, path: &Path) -> bool {
    guess(repository, path).unwrap_or(false)
}

fn guess(repository: &Repository, path: &Path) -> Option<bool> {
    let file = repository.root().join(path).symlink_metadata().ok().filter(|file| !file.is_dir())?;
    let index = open_plain(&repository.git_dir().join("index")).ok()??;
    if index.metadata().ok()?.len() > INDEX_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    index.take(INDEX_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let Some(stat) = stat_of(&bytes, path.as_os_str().as_bytes())? else { return Some(true) };
    let field = |at: usize| Some(u32::from_be_bytes(stat.get(at * 4..at * 4 + 4)?.try_into().ok()?));
    // Git stores the lower half of each.
    let is_same = field(2)? == file.mtime() as u32
        && field(3)? == file.mtime_nsec() as u32
        && field(9)? == file.size() as u32;
    Some(!is_same)
}

/// The index entry of a path: the inner `None` if it has none, the outer if the index cannot be read.
fn stat_of<'a>(index: &'a [u8], path: &[u8]) -> Option<Option<&'a [u8]>> {
    let (header, mut rest) = index.split_at_checked(12)?;
    let number = |bytes: &[u8]| Some(u32::from_be_bytes(bytes.try_into().ok()?));
    if !header.starts_with(b"DIRC") || !matches!(number(&header[4..8])?, 2 | 3) {
        return None;
    }
    for _ in 0..number(&header[8..])? {
        let fixed = rest.get(..STAT_BYTES + HASH_BYTES + 2)?;
        let flags = u16::from_be_bytes(fixed[STAT_BYTES + HASH_BYTES..].try_into().ok()?);
        let name_at = fixed.len() + if flags & EXTENDED != 0 { 2 } else { 0 };
        let end = name_at + rest.get(name_at..)?.iter().position(|byte| *byte == 0)?;
        if rest[name_at..end] == *path {
            return Some(Some(&fixed[..STAT_BYTES]));
        }
        if rest[name_at..end] > *path {
            return Some(None);
        }
        rest = rest.get((end + 8) & !7..)?;
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_was_written_since_looks_changed() {
        let dir = tempfile::tempdir().expect("a directory");
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", dir.path()).arg("-C").arg(dir.path()).args(words);
            assert!(git.status().expect("git").success(), "{words:?}");
        };
        git(&["init", "-q"]);
        ["a", "b", "c"].iter().for_each(|name| fs::write(dir.path().join(name), "x").expect("written"));
        git(&["add", "--all"]);
        let repository = Repository::containing(dir.path()).expect("readable").expect("a repository");
        let check = |name: &str, looks: bool| {
            assert_eq!(looks_changed(&repository, Path::new(name)), looks, "{name}");
        };
        ["a", "b", "c", "missing"].iter().for_each(|name| check(name, false));
        fs::write(dir.path().join("b"), "longer").expect("written");
        fs::write(dir.path().join("d"), "new").expect("written");
        [("a", false), ("b", true), ("c", false), ("d", true)]
            .into_iter()
            .for_each(|(name, is)| check(name, is));
        git(&["update-index", "--index-version", "4"]);
        check("b", false);
    }
}
