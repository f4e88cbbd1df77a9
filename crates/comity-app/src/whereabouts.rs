//! In which worktrees the work under a lock may be.
//!
//! A worktree that somebody asked Comity for is theirs alone. Whoever has one works there from then on; the others
//! work wherever nobody has a worktree of their own.

use std::collections::BTreeSet;
use std::path::PathBuf;

use comity_core::World;
use comity_core::locks::Lock;
use comity_git::Among;

pub(crate) fn worktrees_of(world: &World, lock: &Lock) -> Among {
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
    match own.is_empty() {
        true => Among::AllBut(others),
        false => Among::Only(own),
    }
}
