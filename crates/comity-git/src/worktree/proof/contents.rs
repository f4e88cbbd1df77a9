//! Uncommitted files of a worktree, however git is told to hide them.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::kept::{KeepCause, KeepReason};
use crate::git::{Git, UnknownState};
use crate::parse::{behind_tab, parts, unreadable};
use crate::status::{PathState, WorktreeStatus};
use crate::worktree::disk::Root;
use crate::worktree::names::InnerPath;
use crate::worktree::record::{Ready, SharedLink};
use crate::worktree::setup::hash_of;
use crate::worktree::survey::Survey;

/// What is uncommitted in a worktree, apart from what we put there ourselves.
pub(super) fn work(
    git: &Git<'_>,
    status: &WorktreeStatus,
    files: &Survey,
    ready: &Ready,
    build_dirs: &[InnerPath],
) -> Vec<KeepReason> {
    let copied = ready.copied.iter().map(|copied| (copied.path.as_path(), copied.hash.as_str())).collect();
    let ours = OwnFiles { root: &git.worktree().root, files, links: &ready.links, copied, build_dirs };
    let (mut changed, mut untracked, mut ignored, mut repositories) = (vec![], vec![], vec![], vec![]);
    for entry in &status.entries {
        let path = &entry.to_path();
        match entry.state {
            PathState::Tracked { .. } | PathState::Unmerged if entry.is_submodule => {
                repositories.push(shown(path));
            }
            PathState::Tracked { .. } | PathState::Unmerged => changed.push(shown(path)),
            PathState::Untracked | PathState::Ignored if ours.is_put_there(path) => {}
            PathState::Untracked => untracked.push(shown(path)),
            PathState::Ignored if ours.is_build_dir(path) => {}
            PathState::Ignored => ignored.push(shown(path)),
        }
    }
    let kept = [
        KeepReason::if_any(KeepCause::Modified, changed),
        KeepReason::if_any(KeepCause::Untracked, untracked),
        KeepReason::if_any(KeepCause::Ignored, ignored),
        KeepReason::if_any(KeepCause::Repository, repositories),
    ];
    kept.into_iter().flatten().collect()
}

/// What git does not look at: other repositories, sockets and the like, other file systems.
pub(super) fn odd_contents(files: &Survey) -> Vec<KeepReason> {
    let nested = KeepReason::if_any(KeepCause::Repository, files.nested.iter().map(|path| shown(path)));
    let odd = KeepReason::if_any(KeepCause::Untracked, files.odd.iter().map(|path| shown(path)));
    [nested, odd].into_iter().flatten().collect()
}

/// Files that an index flag hides from git; and submodules with files.
pub(super) fn hidden(git: &Git<'_>, files: &Survey) -> Result<Vec<KeepReason>, UnknownState> {
    let output = git.ask("ls-files", &["-v", "-s", "-z"], &[])?;
    let (mut hidden, mut submodules) = (Vec::new(), Vec::new());
    for line in parts(&output) {
        // <flag> SP <mode> SP <object> SP <stage> TAB <path>
        let Some(([flag, b' ', mode @ ..], path)) = behind_tab(line) else {
            return Err(unreadable("git ls-files", line));
        };
        if mode.starts_with(b"160000 ") && files.has_below(path) {
            submodules.push(shown(path));
        }
        let is_there = || git.worktree().root.join(path).symlink_metadata().is_ok();
        // Files left out of a sparse checkout are flagged, too; nothing of them could be lost.
        if flag.is_ascii_lowercase() || (*flag == b'S' && is_there()) {
            hidden.push(shown(path));
        }
    }
    let kept = [
        KeepReason::if_any(KeepCause::Hidden, hidden),
        KeepReason::if_any(KeepCause::Repository, submodules),
    ];
    Ok(kept.into_iter().flatten().collect())
}

/// What we put into a worktree ourselves.
struct OwnFiles<'a> {
    root: &'a Path,
    files: &'a Survey,
    links: &'a [SharedLink],
    copied: HashMap<&'a Path, &'a str>,
    build_dirs: &'a [InnerPath],
}

impl OwnFiles<'_> {
    /// Whether a file is our unchanged copy or link, or a directory that contains nothing else.
    fn is_put_there(&self, path: &Path) -> bool {
        if self.is_link(path) || self.is_copy(path) {
            return true;
        }
        let is_dir = path.as_os_str().as_bytes().ends_with(b"/");
        is_dir && self.files.below(path).all(|file| self.is_copy(file)) && !self.has_odd_below(path)
    }

    fn is_build_dir(&self, path: &Path) -> bool {
        let is_dir = path.as_os_str().as_bytes().ends_with(b"/");
        is_dir && self.build_dirs.iter().any(|dir| dir.as_path() == path)
    }

    fn is_link(&self, path: &Path) -> bool {
        let link = self.links.iter().find(|link| link.path.as_path() == path);
        link.is_some_and(|link| crate::worktree::links::is_ours(self.root, link))
    }

    fn is_copy(&self, path: &Path) -> bool {
        let Some(known) = self.copied.get(path) else { return false };
        let hash = Root::open(self.root).and_then(|root| root.file(path)).and_then(hash_of);
        hash.is_ok_and(|hash| hash == *known)
    }

    fn has_odd_below(&self, dir: &Path) -> bool {
        self.files.odd.iter().chain(&self.files.nested).any(|path| path.starts_with(dir))
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
