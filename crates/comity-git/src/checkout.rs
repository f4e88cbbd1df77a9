//! A checkout, as a watcher of its files sees it: what git ignores in it, and what differs from the last commit.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_core::CaseRule;

use crate::dot_git::{self, DotGit};
use crate::git::{Git, UnknownState};
use crate::parse::pathspec;
use crate::status::{PathState, StatusQuery, WorktreeStatus};
use crate::worktrees::WorktreeDirs;

/// Git is asked about up to this many paths by name; beyond that, all changes are listed and filtered here.
const ASKED_MAX: usize = 200;

/// A worktree with its own git directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkout {
    worktree: WorktreeDirs,
    common_dir: PathBuf,
}

/// A path that differs from the last commit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChangedPath {
    pub path: PathBuf,
    pub is_tracked: bool,
    /// Whether it is staged.
    pub is_staged: bool,
}

impl Checkout {
    /// The checkout with this root (symlinks resolved), if there is one.
    pub fn at(root: &Path) -> io::Result<Option<Checkout>> {
        match dot_git::look(root)? {
            DotGit::Leads(dirs) => {
                let worktree = WorktreeDirs { root: root.to_owned(), git_dir: dirs.git_dir };
                Ok(Some(Checkout { worktree, common_dir: dirs.common_dir }))
            }
            DotGit::Broken | DotGit::None => Ok(None),
        }
    }

    pub fn root(&self) -> &Path {
        &self.worktree.root
    }

    /// Its own git directory, with its index and HEAD.
    pub fn git_dir(&self) -> &Path {
        &self.worktree.git_dir
    }

    /// The git directory that all worktrees of its project share, with the branches.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn worktree(&self) -> &WorktreeDirs {
        &self.worktree
    }

    /// Which of these directories git ignores; one that contains a tracked file is not ignored.
    pub fn ignored(&self, dirs: &[PathBuf], patience: Duration) -> Result<BTreeSet<PathBuf>, UnknownState> {
        let git = Git::on_refs(&self.worktree, Instant::now() + patience);
        // First by the rules alone, which is quick; the index is only needed for the few that they match.
        let by_rules = git.ignored(&["--no-index"], dirs)?;
        Ok(git.ignored(&[], by_rules)?.into_iter().collect())
    }

    /// Changes since the last commit at or below these paths, without ignored files.
    pub fn changed(&self, paths: &[PathBuf], patience: Duration) -> Result<Vec<ChangedPath>, UnknownState> {
        if paths.is_empty() {
            return Ok(vec![]);
        }
        let asked: BTreeSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let specs: Vec<OsString> = match asked.len() <= ASKED_MAX {
            true => asked.iter().map(|path| pathspec(path, CaseRule::Exact)).collect(),
            false => vec![],
        };
        let git = Git::on(&self.worktree, Instant::now() + patience)?;
        // Warnings are no failure here: the paths may be gone again.
        let status = WorktreeStatus::ask(&git, StatusQuery { specs: &specs, ..StatusQuery::default() })?;
        let changed = changed_paths(&status);
        let is_asked = |path: &Path| path.ancestors().any(|above| asked.contains(above));
        Ok(changed.filter(|changed| is_asked(&changed.path)).collect())
    }

    /// All changes since the last commit, without ignored files.
    pub fn all_changed(&self, patience: Duration) -> Result<Vec<ChangedPath>, UnknownState> {
        let git = Git::on(&self.worktree, Instant::now() + patience)?;
        let status = WorktreeStatus::ask(&git, StatusQuery::default())?;
        Ok(changed_paths(&status).collect())
    }

    /// A file as git has it, by a name such as `HEAD:src/a.rs`, if it exists.
    pub fn version(&self, name: &str, patience: Duration) -> Option<Vec<u8>> {
        if name.starts_with('-') {
            return None;
        }
        let git = Git::on_refs(&self.worktree, Instant::now() + patience);
        git.call("cat-file").args(["blob", name]).done().ok()
    }
}

/// The changed files, as a watcher sees them.
fn changed_paths(status: &WorktreeStatus) -> impl Iterator<Item = ChangedPath> {
    let files = status.entries.iter().filter(|entry| !entry.is_dir());
    files.map(|entry| ChangedPath {
        path: entry.to_path(),
        is_tracked: entry.state != PathState::Untracked,
        is_staged: match &entry.state {
            PathState::Tracked { committed, indexed } => committed != indexed,
            PathState::Unmerged => true,
            PathState::Untracked | PathState::Ignored => false,
        },
    })
}
