//! The worktrees of a project, read from its common git directory.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::dot_git::{self, DotGit, found, pointer};
use crate::main_worktree::{MainWorktree, main_worktree};

/// How often worktrees are looked at again that come and go in the meantime.
const LOOKS_MAX: usize = 10;

/// The roots of all existing worktrees of a project, symlinks resolved: the main one and the linked ones.
///
/// Without a main worktree that the common directory does not tell about (`git init --separate-git-dir`).
pub fn worktrees(common_dir: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(list(common_dir)?.worktrees.into_iter().map(|worktree| worktree.root).collect())
}

/// The worktrees of a project, as far as they can be found.
#[derive(Default, Debug)]
pub(crate) struct AllWorktrees {
    pub(crate) worktrees: Vec<WorktreeDirs>,
    /// Whether there may be a main worktree somewhere else.
    pub(crate) main_is_unknown: bool,
}

/// A worktree, with its own git directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WorktreeDirs {
    pub(crate) root: PathBuf,
    pub(crate) git_dir: PathBuf,
}

impl WorktreeDirs {
    /// Whether it was removed or moved since it was listed: one from the pool moves when it is handed out.
    pub(crate) fn has_gone(&self) -> bool {
        matches!(confirmed(&self.root, &self.git_dir), Ok(None))
    }
}

/// A worktree that the project knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum KnownWorktree {
    There(WorktreeDirs),
    /// Its directory is missing, such as on an unmounted disk; its git directory is there.
    Away {
        git_dir: PathBuf,
    },
}

/// The worktree with this root, if the project knows it; an error if that cannot be told.
pub(crate) fn known(common_dir: &Path, root: &Path) -> io::Result<Option<KnownWorktree>> {
    if let Some(root) = found(root.canonicalize())?
        && let DotGit::Leads(dirs) = dot_git::look(&root)?
        && dirs.common_dir == common_dir.canonicalize()?
    {
        return Ok(Some(KnownWorktree::There(WorktreeDirs { root, git_dir: dirs.git_dir })));
    }
    let Some(entries) = found(fs::read_dir(common_dir.join("worktrees")))? else { return Ok(None) };
    for entry in entries {
        let git_dir = entry?.path();
        let Some(target) = pointer(&git_dir.join("gitdir"))? else { continue };
        if git_dir.join(OsStr::from_bytes(&target)).parent() == Some(root) {
            return Ok(Some(KnownWorktree::Away { git_dir }));
        }
    }
    Ok(None)
}

/// The main worktree of a project, if it can be found.
pub(crate) fn main(common_dir: &Path) -> io::Result<Option<WorktreeDirs>> {
    match main_worktree(common_dir)? {
        MainWorktree::At(root) => confirmed(&root, common_dir),
        MainWorktree::None | MainWorktree::Unknown => Ok(None),
    }
}

/// Visits all worktrees, and starts over if one went away during a visit that failed.
pub(crate) fn look_at_all<T, E>(
    common_dir: &Path,
    mut look: impl FnMut(&AllWorktrees) -> Result<T, E>,
) -> io::Result<Result<T, E>> {
    let mut looks = 1;
    loop {
        let all = list(common_dir)?;
        let seen = look(&all);
        if seen.is_ok() || looks == LOOKS_MAX || !all.worktrees.iter().any(WorktreeDirs::has_gone) {
            return Ok(seen);
        }
        looks += 1;
    }
}

pub(crate) fn list(common_dir: &Path) -> io::Result<AllWorktrees> {
    let Some(common_dir) = found(common_dir.canonicalize())? else { return Ok(AllWorktrees::default()) };
    let mut all = AllWorktrees::default();
    match main_worktree(&common_dir)? {
        MainWorktree::None => {}
        MainWorktree::At(root) => all.worktrees.extend(confirmed(&root, &common_dir)?),
        MainWorktree::Unknown => all.main_is_unknown = true,
    }
    let Some(entries) = found(fs::read_dir(common_dir.join("worktrees")))? else { return Ok(all) };
    for entry in entries {
        let git_dir = entry?.path();
        let Some(target) = pointer(&git_dir.join("gitdir"))? else { continue };
        let marker = git_dir.join(OsStr::from_bytes(&target));
        let Some(root) = marker.parent() else { continue };
        all.worktrees.extend(confirmed(root, &git_dir)?);
    }
    all.worktrees.sort_by(|a, b| a.root.cmp(&b.root));
    Ok(all)
}

/// The worktree at `root`, if its `.git` leads back to the git directory that named it.
fn confirmed(root: &Path, git_dir: &Path) -> io::Result<Option<WorktreeDirs>> {
    let Some(root) = found(root.canonicalize())? else { return Ok(None) };
    match dot_git::look(&root)? {
        DotGit::Leads(dirs) if dirs.git_dir == git_dir => {
            Ok(Some(WorktreeDirs { root, git_dir: dirs.git_dir }))
        }
        DotGit::Leads(_) | DotGit::Broken | DotGit::None => Ok(None),
    }
}
