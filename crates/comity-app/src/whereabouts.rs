//! In which worktrees the work under a lock may be.
//!
//! A worktree that somebody asked Comity for is theirs alone. Whoever has one is expected to work there from then on.

use std::collections::BTreeSet;
use std::path::PathBuf;

use comity_core::World;
use comity_core::locks::Lock;
use comity_git::Among;

/// Where the holder may have written: nothing that it could have left is given to the next one.
pub(crate) fn may_be_in(world: &World, lock: &Lock) -> Among {
    Among::AllBut(worktrees(world, lock).1)
}

/// Where what is found is the holder's: nobody else's work is put aside.
pub(crate) fn is_in(world: &World, lock: &Lock) -> Among {
    match worktrees(world, lock) {
        (own, others) if own.is_empty() => Among::AllBut(others),
        (own, _) => Among::Only(own),
    }
}

/// The worktrees that were the holder's when it took the lock, and those of others.
fn worktrees(world: &World, lock: &Lock) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let who = lock.rescue.as_ref().map_or(lock.holder, |rescue| rescue.of);
    let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
    for worktree in world.worktrees.of(lock.wanted.project) {
        let root = PathBuf::from(&*worktree.tree.path);
        let root = root.canonicalize().unwrap_or(root);
        match worktree.owner == who {
            true if worktree.since <= lock.since => drop(own.insert(root)),
            true => {}
            false => drop(others.insert(root)),
        }
    }
    (own, others)
}
