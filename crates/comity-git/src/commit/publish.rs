//! Moves the branch to a commit, and updates the shared index at the same time.

use std::path::Path;
use std::time::{Duration, Instant};

use super::answer::SharedIndex;
use super::build::UnpublishedCommit;
use super::change::FileChange;
use super::commit_dir::CommitDir;
use super::index_lock::IndexLock;
use super::journal::Journal;
use super::look::CommitCandidates;
use super::merging::OngoingMerge;
use super::not_committed::NotCommitted;
use super::private_index::{PrivateIndex, no_hash, versions};
use crate::fair_lock::FairLock;
use crate::git::{Git, UnknownState};
use crate::unfinished::Unfinished;

/// How long the last steps may take: once begun, they are not given up halfway.
const FINISH_MAX: Duration = Duration::from_secs(30);
/// Characters of the message that go into the reflog.
const SUBJECT_CHARS_MAX: usize = 100;

/// The result of trying to publish.
pub(super) enum Published {
    Done(SharedIndex),
    /// Somebody else was faster, or is moving the branch right now.
    Overtaken {
        problem: String,
    },
}

/// A commit, and everything needed to publish it.
pub(super) struct Publication<'a> {
    pub(super) git: &'a Git<'a>,
    pub(super) commit_dir: &'a CommitDir,
    pub(super) turn: &'a FairLock,
    pub(super) common_dir: &'a Path,
    pub(super) found: &'a CommitCandidates,
    pub(super) built: UnpublishedCommit,
    /// What git has begun, and this finishes.
    pub(super) finishes: Option<Unfinished>,
    /// Where the shared index differs from the commit, at paths that the commit leaves unchanged: mostly conflicts.
    pub(super) left_as_before: &'a [FileChange],
    pub(super) message: &'a str,
    pub(super) deadline: Instant,
}

impl Publication<'_> {
    /// Publishes. From writing the journal to removing it, a kill leaves what [`super::heal()`] can finish.
    ///
    /// The index is locked before the branch moves, and until it is updated: in between, a plain `git commit` would
    /// revert the commit.
    pub(super) fn publish(mut self, lock: Option<IndexLock>) -> Result<Published, NotCommitted> {
        let (git, commit_dir) = (self.git, self.commit_dir);
        let mut next = match self.built.next.take() {
            Some(next) => next,
            None => self.next_index()?,
        };
        let lock = match lock {
            Some(lock) => lock,
            None => IndexLock::take(&git.worktree().git_dir, commit_dir, self.deadline)?,
        };
        let begun = Unfinished::before_commit(git, self.common_dir)?;
        if let Some(unfinished) = begun.filter(|begun| Some(*begun) != self.finishes) {
            return Err(NotCommitted::Unfinished(unfinished));
        }
        if !next.is_current() {
            // Somebody has staged something in the meantime; now nobody can.
            next = self.next_index()?;
        }
        let git = &git.until(Instant::now() + FINISH_MAX);
        self.journal().write(commit_dir)?;
        if let Err(unknown) = self.move_branch(git) {
            // Without an answer the journal stays, for whoever gets one.
            if !self.has_moved(git)? {
                Journal::remove(commit_dir)?;
                return Ok(Published::Overtaken { problem: unknown.to_string() });
            }
        }
        if let Err(error) = next.install(git) {
            let problem = format!("the index could not be replaced: {error}");
            return Ok(Published::Done(SharedIndex::Stale { problem }));
        }
        // Like the index: in between, a plain `git commit` would merge the same again.
        if self.finishes == Some(Unfinished::Merge) {
            OngoingMerge::clear(git);
        }
        drop(lock);
        let _nothing_left_to_heal = Journal::remove(commit_dir);
        Ok(Published::Done(SharedIndex::Refreshed))
    }

    /// The shared index with exactly the changes of the commit.
    fn next_index(&self) -> Result<PrivateIndex, NotCommitted> {
        let next = PrivateIndex::copy_of_shared(self.git, self.commit_dir, Some(&self.built.commit))?;
        let as_before = self.left_as_before.iter().map(|change| (change.path.as_path(), change.old.as_ref()));
        next.set(self.git, versions(&self.built.changes).chain(as_before))?;
        Ok(next)
    }

    fn journal(&self) -> Journal {
        let had = |path| self.found.candidates.get(path).and_then(|candidate| candidate.indexed.clone());
        let committed = self.built.changes.iter().map(|change| (change.path.clone(), had(&change.path)));
        let as_before = self.left_as_before.iter().map(|change| (change.path.clone(), change.new.clone()));
        let paths = committed.chain(as_before);
        Journal { commit: self.built.commit.clone(), paths: paths.collect() }
    }

    /// Moves whatever is checked out, if it is still where we found it.
    fn move_branch(&self, git: &Git<'_>) -> Result<(), UnknownState> {
        let (commit, old) = (&self.built.commit, self.found.head.as_deref());
        let subject = self.message.trim_start().lines().next().unwrap_or_default();
        let subject: String = subject.chars().filter(|c| !c.is_control()).take(SUBJECT_CHARS_MAX).collect();
        let kind = if old.is_some() { "commit" } else { "commit (initial)" };
        let none = no_hash(Some(commit));
        // If we are killed now and git is not, the next one has to wait until the branch has moved.
        let lock =
            self.turn.file().try_clone().map_err(|error| UnknownState::new(format!("no lock: {error}")))?;
        let call = git.call("update-ref").arg("-m").arg(format!("{kind}: {subject}")).holding(lock);
        call.args(["HEAD", commit, old.unwrap_or(&none)]).done().map(drop)
    }

    fn has_moved(&self, git: &Git<'_>) -> Result<bool, UnknownState> {
        let mut call = git.call("rev-parse").args(["--quiet", "--verify", "HEAD"]);
        let output = call.output()?;
        match output.status.code() {
            Some(0) => Ok(output.stdout.trim_ascii() == self.built.commit.as_bytes()),
            // A branch without commits.
            Some(1) => Ok(false),
            _ => Err(call.failure(&output)),
        }
    }
}
