//! Whether a file system takes `A` and `a` for one name, and how a name is really spelled on it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
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

    fn at(path: &Path) -> io::Result<Identity> {
        Ok(Identity::of(&path.symlink_metadata()?))
    }
}

/// The rule of the directory that is the top of a worktree: a folding one finds `.git` also as `.GIT`.
pub(crate) fn rule(root: &Path) -> CaseRule {
    let listed = || fs::read_dir(root)?.map(|entry| Ok(entry?.file_name())).collect();
    rule_by(Identity::at(&root.join(".git")), Identity::at(&root.join(".GIT")), listed)
}

/// The same from what the file system says. Where it cannot be told, both spellings count as one.
fn rule_by(
    lower: io::Result<Identity>,
    upper: io::Result<Identity>,
    listed: impl FnOnce() -> io::Result<Vec<OsString>>,
) -> CaseRule {
    match (lower, upper) {
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => CaseRule::Exact,
        (Ok(lower), Ok(upper)) if lower == upper => CaseRule::Folded,
        // Some file systems give each spelling an inode of its own; but a directory lists a file once.
        _ => match listed() {
            Ok(names) if [".git", ".GIT"].iter().all(|name| names.iter().any(|it| it == name)) => {
                CaseRule::Exact
            }
            Ok(_) | Err(_) => CaseRule::Folded,
        },
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
fn name_on_disk(dir: &Path, written: &Path) -> Option<OsString> {
    Identity::at(written).ok()?;
    let names = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.file_name()).collect();
    spelling(written.file_name()?, names)
}

/// The one of these names that leads to where `written` leads: itself, else what differs by case only.
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
    fn each_spelling_may_have_an_inode_of_its_own() {
        let id = |inode| Ok(Identity { device: 1, inode });
        let no = |kind: io::ErrorKind| Err(kind.into());
        let check = |upper: io::Result<Identity>, names: Option<&[&str]>, expected| {
            let names = names.map(|names| names.iter().map(OsString::from).collect());
            let rule = rule_by(id(7), upper, || names.ok_or(io::ErrorKind::PermissionDenied.into()));
            assert_eq!(rule, expected);
        };
        check(no(io::ErrorKind::NotFound), Some(&[".git"]), CaseRule::Exact);
        check(id(7), Some(&[".git"]), CaseRule::Folded);
        check(id(8), Some(&[".git", ".GIT"]), CaseRule::Exact);
        check(id(8), Some(&["src", ".git"]), CaseRule::Folded);
        check(id(8), None, CaseRule::Folded);
        check(no(io::ErrorKind::PermissionDenied), None, CaseRule::Folded);
        let names = || ["Main", "src"].map(OsString::from).to_vec();
        assert_eq!(spelling(OsStr::new("MAIN"), names()), Some("Main".into()));
        assert_eq!(
            spelling(OsStr::new("main"), [names(), vec!["main".into()]].concat()),
            Some("main".into())
        );
        assert_eq!(spelling(OsStr::new("other"), names()), None);
    }
}
