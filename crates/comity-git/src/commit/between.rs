//! The time between two commits of ours, in which others of us run git commands that lock the index.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::commit_dir::CommitDir;
use super::heal::settle;
use super::index_lock::{POLL, WAIT_MAX};
use super::not_committed::NotCommitted;
use super::turn_to_commit;
use crate::fair_lock::FairLock;
use crate::git::{Git, UnknownState};
use crate::worktrees::WorktreeDirs;

/// The repository's turn to commit, held without committing.
pub(crate) struct BetweenCommits {
    turn: FairLock,
    deadline: Instant,
}

impl BetweenCommits {
    /// Waits for all earlier commits.
    pub(crate) fn begin(common_dir: &Path, deadline: Instant) -> Result<BetweenCommits, UnknownState> {
        Ok(BetweenCommits { turn: turn_to_commit(common_dir, deadline).map_err(unknown)?, deadline })
    }

    /// Git in a worktree, after finishing what a killed commit has left. If we are killed while it runs, the turn
    /// lasts until it exits.
    pub(crate) fn git<'a>(&'a self, worktree: &'a WorktreeDirs) -> Result<Git<'a>, UnknownState> {
        let git = Git::on(worktree, self.deadline)?;
        let commit_dir = CommitDir::open(&worktree.git_dir).map_err(unknown)?;
        settle(&git, &commit_dir, self.deadline).map_err(unknown)?;
        Ok(git.holding(self.turn.file()))
    }

    /// Runs git on these paths, each ended by NUL, while no other git has the index. If one locks it in between, this
    /// is retried, unless something `is_begun`.
    pub(crate) fn change(
        &self,
        git: &Git<'_>,
        (verb, arguments): (&str, &[&str]),
        paths: &[u8],
        is_begun: impl Fn() -> Result<bool, UnknownState>,
    ) -> Result<(), UnknownState> {
        let git_dir = &git.worktree().git_dir;
        let mut file = CommitDir::open(git_dir).and_then(|dir| dir.passing("paths")).map_err(unknown)?;
        let written = file.file.write_all(paths);
        written.map_err(|error| UnknownState::new(format!("{}: {error}", file.path().display())))?;
        let mut from_file = std::ffi::OsString::from("--pathspec-from-file=");
        from_file.push(file.path());
        let lock = git_dir.join("index.lock");
        let until = self.deadline.min(Instant::now() + WAIT_MAX);
        loop {
            while lock.symlink_metadata().is_ok() {
                if Instant::now() >= until {
                    return Err(unknown(NotCommitted::IndexLocked { lock }));
                }
                std::thread::sleep(POLL);
            }
            let call = git.call(verb).env("GIT_LITERAL_PATHSPECS", "1").args(arguments);
            match call.arg(&from_file).arg("--pathspec-file-nul").done() {
                Err(no) if is_about_index(&no.to_string()) && Instant::now() < until && !is_begun()? => {}
                done => return done.map(drop),
            }
        }
    }
}

/// Whether git gave up because another one has locked the index.
fn is_about_index(complaint: &str) -> bool {
    complaint.contains("index.lock") || complaint.contains("could not write index")
}

fn unknown(not: NotCommitted) -> UnknownState {
    UnknownState::new(not.to_string())
}
