//! What git says about the files of a worktree, when it is told to hide nothing.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::{Git, UnknownState};
use crate::worktree::commit::CommitId;
use crate::worktree::names::Branch;

/// How git says that a branch has no commit yet.
const NO_COMMIT: &str = "(initial)";
/// How git says that no branch is checked out.
const NO_BRANCH: &str = "(detached)";

/// What `git status` says.
pub(super) struct Status {
    /// Nothing before the first commit.
    pub(super) head: Option<CommitId>,
    pub(super) branch: Option<Branch>,
    pub(super) entries: Vec<Entry>,
}

/// One path that git status names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Changed(PathBuf),
    Submodule(PathBuf),
    Untracked(PathBuf),
    Ignored(PathBuf),
}

/// Asks git for everything that differs from the commit, ignored files included.
pub(super) fn status(git: &Git<'_>) -> Result<Status, UnknownState> {
    // Git would start itself in submodules, under their settings; that they are there at all is found otherwise.
    let options = [
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--ignored=matching",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    let said = git.ask("status", &options, &[])?;
    let mut status = Status { head: None, branch: None, entries: Vec::new() };
    let (mut has_head, mut has_branch) = (false, false);
    for line in said.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let unknown = || {
            let line = String::from_utf8_lossy(line);
            UnknownState::new(format!("git status said {line:?}, which means nothing to us"))
        };
        match line {
            [b'#', b' ', header @ ..] => {
                let header = str::from_utf8(header).map_err(|_| unknown())?;
                match header.split_once(' ') {
                    Some(("branch.oid", NO_COMMIT)) => has_head = true,
                    Some(("branch.oid", id)) => {
                        status.head = Some(CommitId::parse(id).map_err(|_| unknown())?);
                        has_head = true;
                    }
                    Some(("branch.head", NO_BRANCH)) => has_branch = true,
                    Some(("branch.head", name)) => {
                        status.branch = Some(Branch::parse(name).map_err(|_| unknown())?);
                        has_branch = true;
                    }
                    Some(("branch.upstream" | "branch.ab" | "stash", _)) => {}
                    _ => return Err(unknown()),
                }
            }
            _ => status.entries.push(entry(line).ok_or_else(unknown)?),
        }
    }
    match has_head && has_branch {
        true => Ok(status),
        false => Err(UnknownState::new("git status did not say what is checked out")),
    }
}

fn entry(line: &[u8]) -> Option<Entry> {
    let path = |fields: usize| -> Option<PathBuf> {
        let path = line.splitn(fields + 1, |byte| *byte == b' ').nth(fields)?;
        (!path.is_empty()).then(|| Path::new(OsStr::from_bytes(path)).to_owned())
    };
    let changed = |fields: usize| -> Option<Entry> {
        let submodule = line.split(|byte| *byte == b' ').nth(2)?;
        let path = path(fields)?;
        match submodule {
            b"N..." => Some(Entry::Changed(path)),
            [b'S', _, _, _] => Some(Entry::Submodule(path)),
            _ => None,
        }
    };
    match line {
        [b'1', b' ', ..] => changed(8),
        [b'u', b' ', ..] => changed(10),
        [b'?', b' ', ..] => path(1).map(Entry::Untracked),
        [b'!', b' ', ..] => path(1).map(Entry::Ignored),
        _ => None,
    }
}
