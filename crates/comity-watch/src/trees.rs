//! All watched worktrees: which directory a watch stands for, and how directories come and go.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_git::Checkout;
use rustix::io::Errno;

use crate::kernel::{Kernel, WatchId};
use crate::refs::Refs;
use crate::state::{WatchState, WatchTrouble};
use crate::tree::{NewDirectory, WatchedTree};
use crate::watcher::Bounds;

/// How long git may take to say what it ignores.
const GIT_PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WatchTarget {
    Dir {
        root: PathBuf,
        dir: PathBuf,
    },
    /// A worktree's own git directory.
    Git {
        root: PathBuf,
    },
    /// A directory with refs of a project.
    Refs {
        common_dir: PathBuf,
        dir: PathBuf,
    },
}

pub(crate) struct WatchedTrees {
    pub(crate) kernel: Kernel,
    pub(crate) trees: BTreeMap<PathBuf, WatchedTree>,
    /// By the common git directory.
    pub(crate) refs: BTreeMap<PathBuf, Refs>,
    pub(crate) bounds: Bounds,
    spots: HashMap<WatchId, WatchTarget>,
    troubles: Vec<WatchTrouble>,
}

impl WatchedTrees {
    pub(crate) fn new(bounds: Bounds) -> io::Result<WatchedTrees> {
        let kernel = Kernel::open()?;
        let (trees, refs) = (BTreeMap::new(), BTreeMap::new());
        Ok(WatchedTrees { kernel, trees, refs, bounds, spots: HashMap::new(), troubles: Vec::new() })
    }

    pub(crate) fn spot(&self, watch: WatchId) -> Option<&WatchTarget> {
        self.spots.get(&watch)
    }

    /// Records what a watch stands for.
    pub(crate) fn place(&mut self, watch: WatchId, spot: WatchTarget) {
        self.spots.insert(watch, spot);
    }

    pub(crate) fn forget(&mut self, watch: WatchId) {
        self.spots.remove(&watch);
        self.kernel.unwatch(watch);
    }

    pub(crate) fn state(&self) -> WatchState {
        let directories = self.trees.values().map(|tree| tree.dirs.len()).sum();
        WatchState { trees: self.trees.len(), directories, troubles: self.troubles.clone() }
    }

    /// Records what went wrong, once for each tree.
    pub(crate) fn note(&mut self, trouble: WatchTrouble) {
        match (&trouble, self.troubles.iter_mut().find(|known| is_same_kind(known, &trouble))) {
            (WatchTrouble::Overrun { .. }, Some(WatchTrouble::Overrun { times })) => *times += 1,
            (_, Some(known)) => *known = trouble,
            (_, None) => self.troubles.push(trouble),
        }
    }

    /// Watches exactly these worktrees.
    pub(crate) fn set(&mut self, wanted: &BTreeSet<PathBuf>, now: Instant) {
        let gone: Vec<PathBuf> = self.trees.keys().filter(|root| !wanted.contains(*root)).cloned().collect();
        for root in gone {
            self.end(&root);
        }
        for root in wanted {
            if !self.trees.contains_key(root) {
                self.begin(root, now);
            }
        }
    }

    fn begin(&mut self, root: &Path, now: Instant) {
        let checkout = match Checkout::at(root) {
            Ok(Some(checkout)) => checkout,
            // It is gone again, as whoever wanted it will find out.
            Ok(None) => return,
            Err(error) => return self.note(unreadable(root, &error)),
        };
        let mut tree = WatchedTree::new(checkout);
        if let Ok(watch) = self.kernel.watch(tree.checkout.git_dir()) {
            self.spots.insert(watch, WatchTarget::Git { root: root.to_owned() });
            tree.git = Some(watch);
        }
        tree.look_for_git(now);
        self.trees.insert(root.to_owned(), tree);
        self.walk(root, vec![PathBuf::new()], |_| {});
    }

    /// Stops watching a worktree.
    pub(crate) fn end(&mut self, root: &Path) {
        let Some(mut tree) = self.trees.remove(root) else { return };
        let watches = tree.take_below(Path::new(""));
        for watch in watches.into_iter().chain(tree.git) {
            self.spots.remove(&watch);
            self.kernel.unwatch(watch);
        }
        self.troubles.retain(|trouble| trouble.root().is_none_or(|of| of != root));
    }

    /// A watch has ended by itself: its directory is gone.
    pub(crate) fn ended(&mut self, watch: WatchId) {
        let Some(spot) = self.spots.remove(&watch) else { return };
        match spot {
            WatchTarget::Git { root } => self.end(&root),
            WatchTarget::Refs { common_dir, dir } => self.refs_dir_ended(&common_dir, &dir),
            WatchTarget::Dir { root, dir } if dir.as_os_str().is_empty() => self.end(&root),
            WatchTarget::Dir { root, dir } => {
                let Some(tree) = self.trees.get_mut(&root) else { return };
                // The same path may be another directory by now, with a watch of its own.
                if tree.dirs.get(&dir) == Some(&watch) {
                    tree.dirs.remove(&dir);
                }
            }
        }
    }

    /// A directory is no longer part of its worktree, with everything below it.
    pub(crate) fn drop_below(&mut self, root: &Path, dir: &Path) {
        let Some(tree) = self.trees.get_mut(root) else { return };
        tree.burst.forget_below(dir);
        tree.came.retain(|came| !came.dir.starts_with(dir));
        for watch in tree.take_below(dir) {
            self.spots.remove(&watch);
            self.kernel.unwatch(watch);
        }
    }

    /// Watches new directories; returns the files that were in them before.
    pub(crate) fn take_in(&mut self, root: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let Some(tree) = self.trees.get_mut(root) else { return found };
        let came: Vec<NewDirectory> = std::mem::take(&mut tree.came).into_iter().collect();
        let (by_git, by_others): (Vec<NewDirectory>, Vec<NewDirectory>) =
            came.into_iter().partition(|came| came.by_git);
        self.walk(root, by_git.into_iter().map(|came| came.dir).collect(), |_| {});
        self.walk(root, by_others.into_iter().map(|came| came.dir).collect(), |file| found.push(file));
        found
    }

    /// Walks a whole worktree again: watches what is new, and stops watching what is now ignored.
    pub(crate) fn walk_again(&mut self, root: &Path, now: Instant) {
        let Some(tree) = self.trees.get_mut(root) else { return };
        tree.is_stale = false;
        tree.look_for_git(now);
        let before = std::mem::take(&mut tree.dirs);
        self.troubles.retain(|trouble| trouble.root().is_none_or(|of| of != root));
        self.walk(root, vec![PathBuf::new()], |_| {});
        let Some(tree) = self.trees.get(root) else { return };
        let kept: HashSet<WatchId> = tree.dirs.values().copied().collect();
        for watch in before.into_values().filter(|watch| !kept.contains(watch)) {
            self.spots.remove(&watch);
            self.kernel.unwatch(watch);
        }
    }

    /// Watches directories and everything below them, level by level: git is asked once per level what it ignores,
    /// and that is not entered.
    fn walk(&mut self, root: &Path, mut level: Vec<PathBuf>, mut found: impl FnMut(PathBuf)) {
        while !level.is_empty() {
            let Some(tree) = self.trees.get(root) else { return };
            match tree.checkout.ignored(&below_top(&level), GIT_PATIENCE) {
                Ok(ignored) => level.retain(|dir| !ignored.contains(dir)),
                // Watching nothing of it is better than walking through what should be ignored.
                Err(error) => return self.note(unreadable(root, &error)),
            }
            let mut below = Vec::new();
            for dir in level {
                if !self.watch(root, &dir) {
                    return;
                }
                // Read after the watch exists: what came before is found here, what comes later is reported.
                let Ok(entries) = fs::read_dir(root.join(&dir)) else { continue };
                for entry in entries.flatten().filter(|entry| entry.file_name() != OsStr::new(".git")) {
                    let path = dir.join(entry.file_name());
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => below.push(path),
                        Ok(_) => found(path),
                        Err(_) => {}
                    }
                }
            }
            level = below;
        }
    }

    /// Watches one directory; returns whether there is room for more.
    fn watch(&mut self, root: &Path, dir: &Path) -> bool {
        let at = root.join(dir);
        let is_top = dir.as_os_str().is_empty();
        // Another repository, or a worktree of this one: it is not this worktree's.
        if !is_top && at.join(".git").symlink_metadata().is_ok() {
            return true;
        }
        let total: usize = self.trees.values().map(|tree| tree.dirs.len()).sum();
        if total >= self.bounds.directories_max {
            let directories_max = self.bounds.directories_max;
            self.note(WatchTrouble::TooManyDirectories { root: root.to_owned(), directories_max });
            return false;
        }
        match self.kernel.watch(&at) {
            Ok(watch) => {
                let (root, dir) = (root.to_owned(), dir.to_owned());
                if let Some(tree) = self.trees.get_mut(&root) {
                    tree.dirs.insert(dir.clone(), watch);
                }
                self.spots.insert(watch, WatchTarget::Dir { root, dir });
                true
            }
            Err(Errno::NOSPC) => {
                self.note(WatchTrouble::SystemLimit { root: root.to_owned() });
                false
            }
            // It is gone again, or is something else by now.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => true,
            Err(error) => {
                let problem = format!("{}: {error}", dir.display());
                self.note(WatchTrouble::Unreadable { root: root.to_owned(), problem });
                true
            }
        }
    }
}

fn below_top(level: &[PathBuf]) -> Vec<PathBuf> {
    level.iter().filter(|dir| !dir.as_os_str().is_empty()).cloned().collect()
}

fn unreadable(root: &Path, error: &dyn std::fmt::Display) -> WatchTrouble {
    WatchTrouble::Unreadable { root: root.to_owned(), problem: error.to_string() }
}

fn is_same_kind(a: &WatchTrouble, b: &WatchTrouble) -> bool {
    match (a, b) {
        (WatchTrouble::Refs { common_dir: a, .. }, WatchTrouble::Refs { common_dir: b, .. }) => a == b,
        (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b) && a.root() == b.root(),
    }
}
