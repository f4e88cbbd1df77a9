//! Builds and publishes a commit, over and over while others move the branch.

use std::path::PathBuf;
use std::time::Instant;

use comity_core::Refusal;

use super::answer::SharedIndex;
use super::build::{UnpublishedCommit, build};
use super::change::{FileChange, changes_between};
use super::commit_dir::CommitDir;
use super::index_lock::IndexLock;
use super::look::{CommitCandidates, look};
use super::merged::MergedByGit;
use super::not_committed::NotCommitted;
use super::publish::{Publication, Published};
use super::request::CommitRequest;
use crate::Repository;
use crate::dot_git::pointer;
use crate::fair_lock::FairLock;
use crate::git::{Git, UnknownState};
use crate::unfinished::Unfinished;

/// How often a commit is rebuilt because somebody else was faster.
const ATTEMPTS_MAX: usize = 12;
/// After this many attempts the index stays locked while the commit is built, so that nobody can be faster.
const POLITE_ATTEMPTS: usize = 2;

/// A commit whose turn it is.
pub(super) struct Committing<'a> {
    pub(super) git: &'a Git<'a>,
    pub(super) commit_dir: &'a CommitDir,
    pub(super) turn: &'a FairLock,
    pub(super) repository: &'a Repository,
    pub(super) request: &'a CommitRequest<'a>,
    pub(super) deadline: Instant,
}

/// A commit about to be put on its branch.
#[derive(Clone, Copy, Debug)]
pub struct NextCommit<'a> {
    pub commit: &'a str,
    /// `None` for the first commit of a branch.
    pub parent: Option<&'a str>,
    /// Its full name; `None` if no branch is checked out.
    pub branch: Option<&'a str>,
    /// By path.
    pub changes: &'a [FileChange],
    /// What git has merged into it besides, and from where, if it finishes a merge.
    pub merged: Option<MergedByGit<'a>>,
}

/// A commit that is on its branch.
pub(super) struct PublishedCommit {
    pub(super) commit: String,
    pub(super) branch: Option<String>,
    pub(super) changes: Vec<FileChange>,
    /// Covered paths that others committed in the meantime.
    pub(super) overtaken: Result<Vec<PathBuf>, UnknownState>,
    pub(super) index: SharedIndex,
}

impl Committing<'_> {
    /// Commits on whatever is checked out at the time, if there is anything to commit.
    pub(super) fn attempts(
        &self,
        before_publish: &mut dyn FnMut(&NextCommit<'_>) -> Result<(), Refusal>,
    ) -> Result<(CommitCandidates, Option<PublishedCommit>), NotCommitted> {
        let mut first_head = None;
        let mut problem = String::new();
        for attempt in 0..ATTEMPTS_MAX {
            let lock = if attempt < POLITE_ATTEMPTS { None } else { Some(self.lock()?) };
            let found = self.look()?;
            let first_head = first_head.get_or_insert_with(|| found.head.clone()).as_deref();
            let Some(built) = build(self.git, self.commit_dir, self.request, &found)? else {
                return Ok((found, None));
            };
            let branch = branch(self.git)?;
            let next = NextCommit {
                commit: &built.commit,
                parent: found.head.as_deref(),
                branch: branch.as_deref(),
                changes: &built.changes,
                merged: None,
            };
            before_publish(&next).map_err(NotCommitted::Refused)?;
            let (commit, changes) = (built.commit.clone(), built.changes.clone());
            match self.publication(&found, built).publish(lock)? {
                Published::Overtaken { problem: output } => problem = output,
                Published::Done(index) => {
                    let overtaken = self.overtaken(first_head, found.head.as_deref());
                    let made = PublishedCommit { commit, branch, changes, overtaken, index };
                    return Ok((found, Some(made)));
                }
            }
        }
        Err(NotCommitted::Overtaken { attempts: ATTEMPTS_MAX, problem })
    }

    fn lock(&self) -> Result<IndexLock, NotCommitted> {
        IndexLock::take(&self.git.worktree().git_dir, self.commit_dir, self.deadline)
    }

    fn look(&self) -> Result<CommitCandidates, NotCommitted> {
        match Unfinished::before_commit(self.git, self.repository.common_dir())? {
            Some(unfinished) => Err(NotCommitted::Unfinished(unfinished)),
            None => look(self.git, self.request.scope, self.repository.case()),
        }
    }

    fn publication<'p>(&'p self, found: &'p CommitCandidates, built: UnpublishedCommit) -> Publication<'p> {
        Publication {
            git: self.git,
            commit_dir: self.commit_dir,
            turn: self.turn,
            common_dir: self.repository.common_dir(),
            found,
            built,
            finishes: None,
            left_as_before: &[],
            message: self.request.message,
            deadline: self.deadline,
        }
    }

    /// Covered paths that others committed between the first and the last attempt.
    fn overtaken(&self, first: Option<&str>, last: Option<&str>) -> Result<Vec<PathBuf>, UnknownState> {
        let Some(last) = last.filter(|last| Some(*last) != first) else { return Ok(Vec::new()) };
        let changes = changes_between(self.git, first, last)?;
        let paths = changes.into_iter().map(|change| change.path);
        Ok(paths.filter(|path| self.request.scope.covers(path)).collect())
    }
}

/// The branch that is checked out, if one is.
pub(super) fn branch(git: &Git<'_>) -> Result<Option<String>, UnknownState> {
    let head = git.worktree().git_dir.join("HEAD");
    let text = pointer(&head).ok().flatten().unwrap_or_default();
    // Where refs are stored in tables, the file is a dummy.
    let named = text.strip_prefix(b"ref: ").filter(|name| *name != b"refs/heads/.invalid");
    if let Some(name) = named.filter(|_| !head.is_symlink()) {
        return Ok(Some(String::from_utf8_lossy(name).into_owned()));
    }
    let mut call = git.call("symbolic-ref").args(["--quiet", "HEAD"]);
    let output = call.output()?;
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8_lossy(output.stdout.trim_ascii()).into_owned())),
        Some(1) => Ok(None),
        _ => Err(call.failure(&output)),
    }
}
