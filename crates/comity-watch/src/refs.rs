//! The refs of projects whose worktrees are watched: reports a branch that moves, whoever moved it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_git::Checkout;
use rustix::io::Errno;

use crate::kernel::WatchId;
use crate::state::WatchTrouble;
use crate::trees::{WatchTarget, WatchedTrees};
use crate::watcher::Bounds;

#[derive(Debug, Default)]
pub(crate) struct Refs {
    /// The watches of the directories with refs.
    watches: BTreeMap<PathBuf, WatchId>,
    first: Option<Instant>,
    last: Option<Instant>,
    /// When to retry what could not be read, and how long after the last try that is.
    again: Option<(Instant, Duration)>,
}

impl Refs {
    pub(crate) fn touch(&mut self, now: Instant) {
        self.first = self.first.or(Some(now));
        self.last = Some(now);
    }

    /// Schedules another look, if nothing moves before; each time twice as late.
    pub(crate) fn look_later(&mut self, now: Instant, bounds: &Bounds) {
        let pause = self.again.map_or(bounds.again_min, |(_, pause)| (pause * 2).min(bounds.again_max));
        self.again = Some((now + pause, pause));
    }

    pub(crate) fn is_read(&mut self) {
        self.again = None;
    }

    /// When it may have settled; `None` if nothing moved.
    pub(crate) fn next(&self, bounds: &Bounds) -> Option<Instant> {
        let moved = || Some((self.last? + bounds.settle).min(self.first? + bounds.burst_max));
        moved().into_iter().chain(self.again.map(|(at, _)| at)).min()
    }

    /// Whether it has settled; true only once.
    pub(crate) fn has_settled(&mut self, now: Instant, bounds: &Bounds) -> bool {
        let has_settled = self.next(bounds).is_some_and(|next| now >= next);
        if has_settled {
            (self.first, self.last) = (None, None);
            // Until it is scheduled again.
            self.again = self.again.map(|(_, pause)| (now + bounds.again_max, pause));
        }
        has_settled
    }
}

impl WatchedTrees {
    /// Watches the refs of exactly the projects whose worktrees are watched; returns the new projects.
    pub(crate) fn set_refs(&mut self) -> Vec<Checkout> {
        let wanted: BTreeSet<PathBuf> =
            self.trees.values().map(|tree| tree.checkout.common_dir().to_owned()).collect();
        let gone: Vec<PathBuf> = self.refs.keys().filter(|dir| !wanted.contains(*dir)).cloned().collect();
        for common_dir in gone {
            for watch in self.refs.remove(&common_dir).into_iter().flat_map(|refs| refs.watches.into_values())
            {
                self.forget(watch);
            }
        }
        let new: Vec<PathBuf> = wanted.iter().filter(|dir| !self.refs.contains_key(*dir)).cloned().collect();
        for common_dir in &wanted {
            self.watch_refs(common_dir);
        }
        new.iter().filter_map(|common_dir| self.checkout_of(common_dir).cloned()).collect()
    }

    /// A checkout of a project, the main one if it is watched.
    pub(crate) fn checkout_of(&self, common_dir: &Path) -> Option<&Checkout> {
        let of =
            || self.trees.values().map(|tree| &tree.checkout).filter(|tree| tree.common_dir() == common_dir);
        of().find(|tree| tree.git_dir() == common_dir).or_else(|| of().next())
    }

    /// Watches the directories in which git keeps refs: files, or tables; and those of worktrees. A branch may be a
    /// symbolic ref to any of them.
    pub(crate) fn watch_refs(&mut self, common_dir: &Path) {
        let of =
            self.trees.values().map(|tree| &tree.checkout).filter(|tree| tree.common_dir() == common_dir);
        let of = of.flat_map(|tree| ["reftable", "refs"].map(|dir| tree.git_dir().join(dir)));
        let mut dirs: Vec<PathBuf> = of.collect();
        dirs.extend([common_dir.join("refs"), common_dir.join("reftable")]);
        dirs.sort();
        dirs.dedup();
        self.refs.entry(common_dir.to_owned()).or_default();
        let mut watched = 0;
        while let Some(dir) = dirs.pop() {
            let known = self.refs.get(common_dir).is_some_and(|refs| refs.watches.contains_key(&dir));
            match self.kernel.watch(&dir) {
                Ok(watch) if !known => {
                    self.place(
                        watch,
                        WatchTarget::Refs { common_dir: common_dir.to_owned(), dir: dir.clone() },
                    );
                    self.refs.entry(common_dir.to_owned()).or_default().watches.insert(dir.clone(), watch);
                }
                Ok(_) => {}
                // Git stores them differently here, or has just removed an empty one.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(error) => {
                    let problem = format!("{}: {error}", dir.display());
                    self.note(WatchTrouble::Refs { common_dir: common_dir.to_owned(), problem });
                    continue;
                }
            }
            watched += 1;
            let below = fs::read_dir(&dir).into_iter().flatten().flatten();
            let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            dirs.extend(below.map(|entry| entry.path()));
        }
        if watched == 0 {
            let problem = "git keeps its branches where nobody can watch them".to_owned();
            self.note(WatchTrouble::Refs { common_dir: common_dir.to_owned(), problem });
        }
    }

    /// A directory of refs is gone.
    pub(crate) fn refs_dir_ended(&mut self, common_dir: &Path, dir: &Path) {
        if let Some(refs) = self.refs.get_mut(common_dir) {
            refs.watches.remove(dir);
        }
    }
}
