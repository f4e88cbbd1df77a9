//! Whether an index may hide changes: looks at its flags, to save a call of git if there are none.

use std::io::Read;
use std::path::Path;

use crate::dot_git::open_plain;

/// Bytes before an entry's hash: times, device, inode, mode, owner and size of the file.
const STAT_BYTES: usize = 40;
/// Bytes of a hash. Repositories with longer ones have a setting that says so.
const HASH_BYTES: usize = 20;
/// The assume-unchanged flag.
const ASSUME_UNCHANGED: u16 = 0x8000;
/// The flag of an entry with extended flags, one of which is skip-worktree.
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;
/// The extension of an index whose main part is in another file.
const SPLIT: &[u8] = b"link";

/// Whether an entry has a flag that hides changes; an unreadable one may have.
pub(super) fn may_hide(index: &Path) -> bool {
    let mut bytes = Vec::new();
    match open_plain(index) {
        Ok(Some(mut file)) => file.read_to_end(&mut bytes).is_err() || has_flags(&bytes).unwrap_or(true),
        Ok(None) => index.symlink_metadata().is_ok(),
        Err(_) => true,
    }
}

fn has_flags(index: &[u8]) -> Option<bool> {
    let (header, mut rest) = index.split_at_checked(12)?;
    let (version, count) = (number(&header[4..8])?, number(&header[8..])?);
    if !header.starts_with(b"DIRC") || !matches!(version, 2..=4) {
        return None;
    }
    for _ in 0..count {
        let (fixed, after) = rest.split_at_checked(STAT_BYTES + HASH_BYTES + 2)?;
        let flags = flags(&fixed[STAT_BYTES + HASH_BYTES..])?;
        let is_extended = flags & EXTENDED != 0;
        let more = if is_extended { self::flags(after.get(..2)?)? } else { 0 };
        if flags & ASSUME_UNCHANGED != 0 || more & SKIP_WORKTREE != 0 {
            return Some(true);
        }
        let mut name_at = fixed.len() + if is_extended { 2 } else { 0 };
        if version == 4 {
            // How much of the previous name is dropped: a number in bytes of seven bits.
            name_at += rest.get(name_at..)?.iter().position(|byte| byte & 0x80 == 0)? + 1;
        }
        let end = name_at + rest.get(name_at..)?.iter().position(|byte| *byte == 0)?;
        let entry_bytes = if version == 4 { end + 1 } else { (end + 8) & !7 };
        rest = rest.get(entry_bytes..)?;
    }
    while rest.len() > HASH_BYTES {
        let (name, size) = (rest.get(..4)?, number(rest.get(4..8)?)?);
        if name == SPLIT {
            return None;
        }
        rest = rest.get(8_usize.checked_add(size as usize)?..)?;
    }
    Some(false)
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn flags(bytes: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    /// A repository with files whose names have all lengths, and a way to call git there.
    fn repository(dir: &Path, version: &str) -> impl Fn(&[&str]) -> PathBuf {
        let root = dir.to_owned();
        let git = move |args: &[&str]| {
            let mut git = Command::new("git");
            git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &root).arg("-C").arg(&root).args(args);
            assert!(git.status().expect("git").success(), "{args:?}");
            root.join(".git/index")
        };
        git(&["init", "-q"]);
        (1..40).for_each(|length| fs::write(dir.join("n".repeat(length)), "x").expect("a file"));
        git(&["add", "--all"]);
        git(&["update-index", "--index-version", version]);
        git
    }

    #[test]
    fn flags_are_seen_wherever_they_are() {
        for version in ["2", "3", "4"] {
            let dir = tempfile::tempdir().expect("a directory");
            let git = repository(dir.path(), version);
            assert!(!may_hide(&git(&["add", "--all"])), "{version}");
            for name in [1, 9, 39].map(|length| "n".repeat(length)) {
                for flag in ["assume-unchanged", "skip-worktree"] {
                    assert!(
                        may_hide(&git(&["update-index", &format!("--{flag}"), &name])),
                        "{version} {name}"
                    );
                    assert!(
                        !may_hide(&git(&["update-index", &format!("--no-{flag}"), &name])),
                        "{version} {name}"
                    );
                }
            }
            fs::write(dir.path().join("intended"), "x").expect("a file");
            assert!(!may_hide(&git(&["add", "--intent-to-add", "intended"])), "{version}");
            assert!(may_hide(&git(&["update-index", "--split-index"])), "{version}: the rest is elsewhere");
        }
    }

    #[test]
    fn what_is_no_index_may_hide_anything() {
        let dir = tempfile::tempdir().expect("a directory");
        let index = repository(dir.path(), "2")(&["add", "--all"]);
        assert!(!may_hide(&dir.path().join("missing")));
        let bytes = fs::read(&index).expect("an index");
        for end in [0, 4, 11, 12, 100, bytes.len() / 2] {
            fs::write(&index, &bytes[..end]).expect("a torn index");
            assert!(may_hide(&index), "{end}");
        }
        fs::write(&index, [b"DIRC\0\0\0\x05", &bytes[8..]].concat()).expect("another version");
        assert!(may_hide(&index));
    }
}
