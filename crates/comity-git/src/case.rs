//! Whether a file system is case-insensitive, and how it really spells a name.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use comity_core::CaseRule;

/// Tells whether two paths lead to the same file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    pub(crate) fn of(metadata: &fs::Metadata) -> FileIdentity {
        FileIdentity { device: metadata.dev(), inode: metadata.ino() }
    }

    pub(crate) fn device(self) -> u64 {
        self.device
    }

    fn at(path: &Path) -> io::Result<FileIdentity> {
        Ok(FileIdentity::of(&path.symlink_metadata()?))
    }
}

/// The rule of a project, from its common git directory: a case-insensitive one finds `HEAD` also as `head`.
pub(crate) fn of_project(common_dir: &Path) -> CaseRule {
    by_spellings(common_dir, ["HEAD", "head"].map(OsStr::new)).unwrap_or(CaseRule::Folded)
}

/// The rule of a worktree's root: a case-insensitive one finds `.git` also as `.GIT`.
pub(crate) fn of_root(root: &Path) -> CaseRule {
    by_spellings(root, [".git", ".GIT"].map(OsStr::new)).unwrap_or(CaseRule::Folded)
}

/// The rule of another directory of a worktree. `root` is the rule of its top, if both are on one device: then they
/// differ only if the file system has a rule per directory, and says so.
pub(crate) fn of_dir(dir: &Path, root: Option<CaseRule>) -> CaseRule {
    rule_of_dir(has_flag(dir), root, || by_listing(dir))
}

/// The same from what the file system says: the directory's flag, and the rule that its entries show.
fn rule_of_dir(
    mark: Option<bool>,
    root: Option<CaseRule>,
    shown: impl FnOnce() -> Option<CaseRule>,
) -> CaseRule {
    match (mark, root) {
        (Some(true), _) => CaseRule::Folded,
        (Some(false), Some(CaseRule::Exact)) => CaseRule::Exact,
        // A new directory inherits the rule of its parent. Elsewhere it cannot be told, so both spellings count as
        // one.
        _ => shown().unwrap_or(root.unwrap_or(CaseRule::Folded)),
    }
}

/// Whether a directory is flagged as case-insensitive, on file systems that have such a flag.
#[cfg(target_os = "linux")]
fn has_flag(dir: &Path) -> Option<bool> {
    use rustix::fs::{Mode, OFlags};

    /// `FS_CASEFOLD_FL`.
    const CASEFOLD: u32 = 0x4000_0000;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::open(dir, flags, Mode::empty()).ok()?;
    rustix::fs::ioctl_getflags(dir).ok().map(|flags| flags.bits() & CASEFOLD != 0)
}

#[cfg(not(target_os = "linux"))]
fn has_flag(_: &Path) -> Option<bool> {
    None
}

/// The rule that a directory's entries show, if one of them has letters.
fn by_listing(dir: &Path) -> Option<CaseRule> {
    let other_case =
        |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let mut names = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.file_name());
    let name = names
        .find(|name| name.to_str().is_some_and(|name| name.contains(|c: char| c.is_ascii_alphabetic())))?;
    let other: String = name.to_str()?.chars().map(other_case).collect();
    by_spellings(dir, [&name, OsStr::new(&other)])
}

/// The rule that two spellings of an entry show, if it can be told.
fn by_spellings(dir: &Path, spellings: [&OsStr; 2]) -> Option<CaseRule> {
    let [written, other] = spellings.map(|name| FileIdentity::at(&dir.join(name)));
    let listed = || fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name())).collect();
    rule(spellings, written, other, listed)
}

/// The same from what the file system says.
fn rule(
    spellings: [&OsStr; 2],
    written: io::Result<FileIdentity>,
    other: io::Result<FileIdentity>,
    listed: impl FnOnce() -> io::Result<Vec<OsString>>,
) -> Option<CaseRule> {
    match (written, other) {
        (Ok(_), Err(error)) if error.kind() == io::ErrorKind::NotFound => Some(CaseRule::Exact),
        (Ok(written), Ok(other)) if written == other => Some(CaseRule::Folded),
        // Some file systems give each spelling its own inode; but a directory lists a file once.
        (Ok(_), Ok(_)) => {
            let names = listed().ok()?;
            let are_two = spellings.iter().all(|name| names.iter().any(|listed| listed == name));
            Some(if are_two { CaseRule::Exact } else { CaseRule::Folded })
        }
        _ => None,
    }
}

/// Spells each name as its directory does, so that a place has one path however it was reached.
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

/// The name under which a directory lists `written`, if only the case may differ.
pub(crate) fn name_on_disk(dir: &Path, written: &Path) -> Option<OsString> {
    FileIdentity::at(written).ok()?;
    let names = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.file_name()).collect();
    spelling(written.file_name()?, names)
}

/// The one of these names that leads to where `written` leads: itself, otherwise one that differs only in case.
fn spelling(written: &OsStr, names: Vec<OsString>) -> Option<OsString> {
    if names.iter().any(|name| name == written) {
        return Some(written.to_owned());
    }
    let folded = written.to_str()?.to_lowercase();
    names.into_iter().find(|name| name.to_str().is_some_and(|name| name.to_lowercase() == folded))
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

    #[test]
    fn where_it_cannot_be_told_both_spellings_count_as_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let nothing = dir.path().join("nothing");
        // There is nothing to look at.
        assert_eq!(of_project(&nothing), CaseRule::Folded);
        assert_eq!(of_root(&nothing), CaseRule::Folded);
        assert_eq!(of_dir(&nothing, None), CaseRule::Folded);
        // An empty directory of another device has no name to try, and one of numbers has no other spelling.
        assert_eq!(of_dir(dir.path(), None), CaseRule::Folded);
        fs::write(dir.path().join("42"), "").expect("written");
        assert_eq!(of_dir(dir.path(), None), CaseRule::Folded);
        fs::write(dir.path().join("a"), "").expect("written");
        let told = by_spellings(dir.path(), ["a", "A"].map(OsStr::new)).expect("it can be told");
        assert_eq!(of_dir(dir.path(), None), told, "now it can be told");
    }

    /// Few kernels here have a file system with such a mark (ext4 with casefold).
    #[test]
    fn a_directory_that_is_marked_folds_though_the_top_does_not() {
        use CaseRule::{Exact, Folded};
        for (mark, root, shown, expected) in [
            (Some(true), Some(Exact), Some(Exact), Folded),
            (Some(true), Some(Exact), None, Folded),
            (Some(true), None, None, Folded),
            // Below a top that folds, a directory without a mark may be of a kind that has none.
            (Some(false), Some(Exact), Some(Folded), Exact),
            (Some(false), Some(Exact), None, Exact),
            (Some(false), Some(Folded), Some(Exact), Exact),
            (Some(false), Some(Folded), None, Folded),
            // Another device: its entries tell, else both spellings count as one.
            (Some(false), None, Some(Exact), Exact),
            (Some(false), None, None, Folded),
            (None, Some(Exact), Some(Folded), Folded),
            (None, Some(Exact), None, Exact),
            (None, None, None, Folded),
        ] {
            let found = rule_of_dir(mark, root, || shown);
            assert_eq!(found, expected, "{mark:?}, the top {root:?}, shown {shown:?}");
        }
    }

    #[test]
    fn each_spelling_may_have_an_inode_of_its_own() {
        let id = |inode| Ok(FileIdentity { device: 1, inode });
        let no = |kind: io::ErrorKind| Err(kind.into());
        let check = |upper: io::Result<FileIdentity>, names: Option<&[&str]>, expected| {
            let names = names.map(|names| names.iter().map(OsString::from).collect());
            let listed = || names.ok_or(io::ErrorKind::PermissionDenied.into());
            assert_eq!(rule([".git", ".GIT"].map(OsStr::new), id(7), upper, listed), expected);
        };
        check(no(io::ErrorKind::NotFound), Some(&[".git"]), Some(CaseRule::Exact));
        check(id(7), Some(&[".git"]), Some(CaseRule::Folded));
        check(id(8), Some(&[".git", ".GIT"]), Some(CaseRule::Exact));
        check(id(8), Some(&["src", ".git"]), Some(CaseRule::Folded));
        check(id(8), None, None);
        check(no(io::ErrorKind::PermissionDenied), None, None);
        let names = || ["Main", "src"].map(OsString::from).to_vec();
        assert_eq!(spelling(OsStr::new("MAIN"), names()), Some("Main".into()));
        assert_eq!(
            spelling(OsStr::new("main"), [names(), vec!["main".into()]].concat()),
            Some("main".into())
        );
        assert_eq!(spelling(OsStr::new("other"), names()), None);
    }
}
