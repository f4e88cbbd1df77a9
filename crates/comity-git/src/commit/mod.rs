//! Commits exactly those changed files that a scope covers, next to whatever else is staged or changed.
//!
//! The commit is built in an index of its own, checked, and only then published: by compare-and-swap of the branch,
//! and under git's own lock on the index that the worktree's users share, which learns of the commit in the same
//! moment. So a plain `git commit` takes nothing of it back, and nothing that others have staged gets into it.

mod answer;
mod attempts;
mod build;
mod change;
mod desk;
mod filters;
mod heal;
mod hooks;
mod index_flags;
mod index_lock;
mod journal;
mod look;
mod not_committed;
mod presence;
mod private_index;
mod publish;
mod recover;
mod report;
mod request;
mod scope;
mod side_by_side;
mod status;
mod turn;
mod unfinished;
mod verify;

use std::time::{Duration, Instant};

use comity_core::Refusal;

use crate::Repository;
use crate::git::Git;
use crate::marker::{self, Marker};
use crate::worktrees::Worktree;
use attempts::Committing;
use desk::Desk;
use heal::settle;
use turn::Turn;

pub use answer::{
    Committed, Dirty, LISTED_MAX, Listed, Missing, MissingReason, Outcome, Report, SharedIndex, SkipReason,
    Skipped, Verified,
};
pub use attempts::Next;
pub use change::{Change, ChangeKind, Mode, Version};
pub(crate) use desk::NAME as DESK;
pub use heal::Healed;
pub use not_committed::NotCommitted;
pub use recover::{Begun, Recalled, came_about, recall};
pub use request::{AUTHOR_BYTES_MAX, Author, Hooks, MESSAGE_BYTES_MAX, Request};
pub use scope::{Look, Patterns, Scope};
pub use unfinished::Unfinished;

/// Commits what is changed within a scope in the working tree of `repository`, and nothing else.
///
/// `before_publish` gets the commit and exactly what it changes, while no other commit of ours is under way in this
/// repository, and may refuse; then nothing has happened. It is asked again whenever somebody else moved the branch in
/// between and the commit had to be built anew.
pub fn commit(
    repository: &Repository,
    request: &Request<'_>,
    before_publish: &mut dyn FnMut(&Next<'_>) -> Result<(), Refusal>,
) -> Result<Outcome, NotCommitted> {
    request.check()?;
    let deadline = Instant::now() + request.patience;
    let worktree = worktree(repository)?;
    let turn = Turn::wait(repository.common_dir(), deadline)?;
    let git = &Git::on(&worktree, deadline)?;
    let desk = &Desk::open(&worktree.git_dir)?;
    settle(git, desk, deadline)?;
    let committing = Committing { git, desk, turn: &turn, repository, request, deadline };
    let (found, made) = committing.attempts(before_publish)?;
    // Nobody has to wait for us to look back.
    drop(turn);
    Ok(report::answer(git, request, &found, made))
}

/// Finishes what a killed commit has begun in the worktree of `repository`. Each commit there does so, too.
pub fn heal(repository: &Repository, patience: Duration) -> Result<Healed, NotCommitted> {
    let deadline = Instant::now() + patience;
    let worktree = worktree(repository)?;
    let _turn = Turn::wait(repository.common_dir(), deadline)?;
    settle(&Git::on(&worktree, deadline)?, &Desk::open(&worktree.git_dir)?, deadline)
}

fn worktree(repository: &Repository) -> Result<Worktree, NotCommitted> {
    let root = repository.root();
    let gone = || NotCommitted::fault(format!("{} is not a worktree any more", root.display()));
    match marker::look(root) {
        Ok(Marker::Leads(dirs)) if repository.is_same_project(&dirs.common_dir) => {
            Ok(Worktree { root: root.to_owned(), git_dir: dirs.git_dir })
        }
        Ok(Marker::Leads(_) | Marker::Broken | Marker::None) => Err(gone()),
        Err(error) => Err(NotCommitted::fault(format!("cannot look at {}: {error}", root.display()))),
    }
}
