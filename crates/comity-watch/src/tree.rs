//! One watched worktree: its directories, and whether git itself writes to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use comity_git::Checkout;

use crate::burst::Burst;
use crate::kernel::WatchId;
use crate::watcher::Bounds;

/// Exists while git changes the index, and with it the checkout.
pub(crate) const INDEX_LOCK: &str = "index.lock";

/// A new directory that is not watched yet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct NewDirectory {
    pub(crate) dir: PathBuf,
    /// Whether git created it: then its contents are not reported.
    pub(crate) by_git: bool,
}

#[derive(Debug)]
pub(crate) struct WatchedTree {
    pub(crate) checkout: Checkout,
    /// By path from the top.
    pub(crate) dirs: BTreeMap<PathBuf, WatchId>,
    /// The watch of git's directory.
    pub(crate) git: Option<WatchId>,
    pub(crate) burst: Burst,
    pub(crate) came: BTreeSet<NewDirectory>,
    /// Whether it has to be walked again: ignore rules have changed, or events were lost.
    pub(crate) is_stale: bool,
    /// Since when git has its index locked.
    git_since: Option<Instant>,
}

impl WatchedTree {
    pub(crate) fn new(checkout: Checkout) -> WatchedTree {
        WatchedTree {
            checkout,
            dirs: BTreeMap::new(),
            git: None,
            burst: Burst::default(),
            came: BTreeSet::new(),
            is_stale: false,
            git_since: None,
        }
    }

    /// Checks whether git is running.
    pub(crate) fn look_for_git(&mut self, now: Instant) {
        let is_locked = self.checkout.git_dir().join(INDEX_LOCK).symlink_metadata().is_ok();
        self.git_since = is_locked.then(|| self.git_since.unwrap_or(now));
    }

    pub(crate) fn git_began(&mut self, now: Instant) {
        self.git_since = Some(now);
    }

    pub(crate) fn git_ended(&mut self) {
        self.git_since = None;
    }

    /// Whether what is written now is git's.
    pub(crate) fn is_gits(&self, now: Instant, bounds: &Bounds) -> bool {
        self.git_since.is_some_and(|since| now.duration_since(since) < bounds.git_max)
    }

    /// Removes the watches of a directory and everything below it.
    pub(crate) fn take_below(&mut self, dir: &Path) -> Vec<WatchId> {
        let below: Vec<PathBuf> = self
            .dirs
            .range(dir.to_owned()..)
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(dir))
            .cloned()
            .collect();
        below.iter().filter_map(|path| self.dirs.remove(path)).collect()
    }
}
