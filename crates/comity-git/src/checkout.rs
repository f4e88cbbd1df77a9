//! One checkout, as a watcher of its files sees it: what git ignores in it, and what differs from what git has.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::git::{Git, UnknownState};
use crate::marker::{self, Marker};
use crate::worktrees::Worktree;

/// Paths that git is asked about one by one; of more, all changes are listed and compared here.
const ASKED_MAX: usize = 200;

/// A worktree with its own git directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkout {
    worktree: Worktree,
    common_dir: PathBuf,
}

/// A path that is not as git has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Changed {
    /// From the top.
    pub path: PathBuf,
    /// Whether git knows it.
    pub is_tracked: bool,
}

impl Checkout {
    /// The checkout whose top is `root`, symlinks resolved; nothing if there is none.
    pub fn at(root: &Path) -> io::Result<Option<Checkout>> {
        match marker::look(root)? {
            Marker::Leads(dirs) => {
                let worktree = Worktree { root: root.to_owned(), git_dir: dirs.git_dir };
                Ok(Some(Checkout { worktree, common_dir: dirs.common_dir }))
            }
            Marker::Broken | Marker::None => Ok(None),
        }
    }

    /// Its top.
    pub fn root(&self) -> &Path {
        &self.worktree.root
    }

    /// Its own git directory, where its index and its head are.
    pub fn git_dir(&self) -> &Path {
        &self.worktree.git_dir
    }

    /// The git directory that all worktrees of its project share, where the branches are.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn worktree(&self) -> &Worktree {
        &self.worktree
    }

    /// Which of these directories, from the top, git ignores; one with a tracked file in it is not ignored.
    pub fn ignored(&self, dirs: &[PathBuf], patience: Duration) -> Result<BTreeSet<PathBuf>, UnknownState> {
        let deadline = Instant::now() + patience;
        // First by the rules alone, which is quick; the index is only looked at for the few that they name.
        let by_rules = self.check_ignore(&["--no-index"], dirs, deadline)?;
        let found = self.check_ignore(&[], &by_rules, deadline)?;
        Ok(found.into_iter().collect())
    }

    fn check_ignore(
        &self,
        options: &[&str],
        dirs: &[PathBuf],
        deadline: Instant,
    ) -> Result<Vec<PathBuf>, UnknownState> {
        if dirs.is_empty() {
            return Ok(vec![]);
        }
        let mut input = Vec::new();
        for dir in dirs {
            input.extend_from_slice(dir.as_os_str().as_bytes());
            input.push(0);
        }
        let git = Git::on_refs(&self.worktree, deadline);
        let mut call = git.call("check-ignore").args(["--stdin", "-z"]).args(options).input(input);
        let said = call.said()?;
        match said.status.code() {
            Some(0 | 1) => Ok(split(&said.stdout).map(|path| OsStr::from_bytes(path).into()).collect()),
            _ => Err(call.failure(&said)),
        }
    }

    /// Which of these paths, or of what is below them, are not as in the last commit; ignored ones are left out.
    pub fn changed(&self, paths: &[PathBuf], patience: Duration) -> Result<Vec<Changed>, UnknownState> {
        if paths.is_empty() {
            return Ok(vec![]);
        }
        let asked: BTreeSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let spec = |path: &&Path| -> OsString {
            let mut spec = OsString::from(":(top,literal)");
            spec.push(path);
            spec
        };
        let specs: Vec<OsString> = match asked.len() <= ASKED_MAX {
            true => asked.iter().map(spec).collect(),
            false => vec![],
        };
        let git = Git::on(&self.worktree, Instant::now() + patience)?;
        let options =
            ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
        // Warnings are no failure here: what was asked about may be gone again.
        let said = git.call("status").args(options).arg("--").args(specs).done()?;
        let changed = split(&said).filter_map(|entry| match entry {
            [x, _, b' ', path @ ..] if !path.ends_with(b"/") => {
                Some(Changed { path: OsStr::from_bytes(path).into(), is_tracked: *x != b'?' })
            }
            _ => None,
        });
        let is_asked = |path: &Path| path.ancestors().any(|above| asked.contains(above));
        Ok(changed.filter(|changed| is_asked(&changed.path)).collect())
    }
}

pub(crate) fn split(said: &[u8]) -> impl Iterator<Item = &[u8]> {
    said.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}
