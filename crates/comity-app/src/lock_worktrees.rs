//! In which worktrees the work under a lock may be.
//!
//! A worktree that somebody asked Comity for is its owner's alone. Whoever has one is expected to work there from
//! then on; others, where they took the lock.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use comity_core::World;
use comity_core::locks::Lock;
use comity_git::WorktreeFilter;

/// Where the holder may have written: nothing that it could have left there is given to the next one.
pub(crate) fn may_be_in(world: &World, lock: &Lock) -> WorktreeFilter {
    let (_, mut others) = worktrees(world, lock);
    if let Some(root) = taken_in(lock) {
        others.remove(&root);
    }
    WorktreeFilter::AllBut(others)
}

/// Where work is certainly the holder's: nobody else's is put aside.
pub(crate) fn is_in(world: &World, lock: &Lock) -> WorktreeFilter {
    let (mut own, others) = worktrees(world, lock);
    own.extend(taken_in(lock).filter(|root| !others.contains(root)));
    match own.is_empty() {
        true => WorktreeFilter::AllBut(others),
        false => WorktreeFilter::Only(own),
    }
}

/// The worktree in which the lock was taken.
fn taken_in(lock: &Lock) -> Option<PathBuf> {
    lock.wanted.worktree.as_deref().map(real)
}

/// The real path of a worktree, if it exists.
pub(crate) fn real(root: &str) -> PathBuf {
    let root = Path::new(root);
    root.canonicalize().unwrap_or_else(|_| root.to_owned())
}

/// The holder's worktrees when it took the lock, and those of others.
fn worktrees(world: &World, lock: &Lock) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let who = lock.rescue.as_ref().map_or(lock.holder, |rescue| rescue.of);
    let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
    for worktree in world.worktrees.of(lock.wanted.project) {
        let root = real(&worktree.tree.path);
        match worktree.owner == who {
            true if worktree.since <= lock.since => drop(own.insert(root)),
            true => {}
            false => drop(others.insert(root)),
        }
    }
    (own, others)
}
