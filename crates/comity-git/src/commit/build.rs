//! Builds a commit that is on no branch yet, and verifies what it changes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::answer::FirstOf;
use super::change::{FileChange, FileVersion, changes_between};
use super::commit_dir::CommitDir;
use super::hooks::{commit_msg, pre_commit};
use super::look::CommitCandidates;
use super::not_committed::NotCommitted;
use super::private_index::PrivateIndex;
use super::request::{Author, CommitRequest, Hooks};
use super::side_by_side::both;
use crate::git::{Git, UnknownState};

pub(super) struct UnpublishedCommit {
    pub(super) commit: String,
    /// Covered paths and nothing else.
    pub(super) changes: Vec<FileChange>,
    /// The shared index with these changes and no others, if the commit was made from that.
    pub(super) next: Option<PrivateIndex>,
}

/// Builds the commit of what was found; `None` if that is already committed.
pub(super) fn build(
    git: &Git<'_>,
    commit_dir: &CommitDir,
    request: &CommitRequest<'_>,
    found: &CommitCandidates,
) -> Result<Option<UnpublishedCommit>, NotCommitted> {
    if found.candidates.is_empty() {
        return Ok(None);
    }
    let builder = CommitBuilder { git, commit_dir, request, found };
    if !found.has_conflicts
        && let Some(tried) = builder.build_beside_staged()?
    {
        return Ok(tried);
    }
    // Slower, but right whatever is in the shared index.
    let quick = git.with("index.skipHash", "true");
    let index = PrivateIndex::of_commit(&quick, commit_dir, found.head.as_deref())?;
    index.take(git, found.candidates.iter())?;
    match builder.build_in(&index)? {
        Tried::Clean(built) => Ok(built),
        Tried::Foreign(changes) => Err(beyond_scope(changes)),
    }
}

pub(super) fn beyond_scope(foreign: Vec<FileChange>) -> NotCommitted {
    NotCommitted::BeyondScope { paths: FirstOf::of(foreign.into_iter().map(|change| change.path)) }
}

struct CommitBuilder<'a> {
    git: &'a Git<'a>,
    commit_dir: &'a CommitDir,
    request: &'a CommitRequest<'a>,
    found: &'a CommitCandidates,
}

enum Tried {
    /// Only covered paths are changed, or none.
    Clean(Option<UnpublishedCommit>),
    /// The tree would change these, too.
    Foreign(Vec<FileChange>),
}

impl CommitBuilder<'_> {
    /// Builds from the shared index with our paths added, which it will need anyway; staged changes of others are
    /// reverted in a copy. `None` if that does not work out.
    fn build_beside_staged(&self) -> Result<Option<Option<UnpublishedCommit>>, NotCommitted> {
        let ours = PrivateIndex::copy_of_shared(self.git, self.commit_dir, self.found.head.as_deref())?;
        ours.take(self.git, self.found.candidates.iter())?;
        let mut foreign = self.found.staged.clone();
        // What is staged elsewhere shows the first time, so there is no third.
        for _ in 0..2 {
            if self.clashes(&foreign) {
                return Ok(None);
            }
            let tried = if foreign.is_empty() {
                self.build_in(&ours)
            } else {
                let index = ours.copied(self.commit_dir)?;
                index.set(self.git, foreign.iter().map(|(path, old)| (path.as_path(), old.as_ref())))?;
                self.build_in(&index)
            };
            match tried {
                Ok(Tried::Clean(None)) => return Ok(Some(None)),
                Ok(Tried::Clean(Some(built))) => {
                    // For a path that is not in the commit after all, the shared index keeps what it has.
                    let is_all = built.changes.len() == self.found.candidates.len();
                    let is_next = is_all && self.request.hooks == Hooks::Skip;
                    return Ok(Some(Some(UnpublishedCommit { next: is_next.then_some(ours), ..built })));
                }
                Ok(Tried::Foreign(changes)) => {
                    foreign.extend(changes.into_iter().map(|change| (change.path, change.old)));
                }
                // Such as a conflict.
                Err(NotCommitted::Fault { .. }) => return Ok(None),
                Err(not) => return Err(not),
            }
        }
        Ok(None)
    }

    /// Whether one of our paths is above or below a foreign one: an index cannot contain both.
    fn clashes(&self, foreign: &BTreeMap<PathBuf, Option<FileVersion>>) -> bool {
        let ours = &self.found.candidates;
        ours.keys().any(|path| path.ancestors().any(|above| foreign.contains_key(above)))
            || foreign.keys().any(|path| path.ancestors().any(|above| ours.contains_key(above)))
    }

    fn build_in(&self, index: &PrivateIndex) -> Result<Tried, NotCommitted> {
        let git = self.git;
        let mut tree = index.tree(git)?;
        let mut message = Cow::Borrowed(self.request.message);
        if let Hooks::Run(confiner) = self.request.hooks {
            // Hooks see nothing but what is committed.
            let changes = self.changes(&tree)?;
            if changes.iter().any(|change| !self.is_ours(change)) {
                return Ok(Tried::Foreign(self.foreign(changes)));
            }
            if changes.is_empty() {
                return Ok(Tried::Clean(None));
            }
            pre_commit(git, confiner, index.path())?;
            message = commit_msg(git, confiner, self.commit_dir, index.path(), &message)?.into();
            tree = index.tree(git)?;
        }
        let (changes, commit) = both(|| self.changes(&tree), || self.commit(&tree, &message));
        let (changes, commit) = (changes?, commit?);
        if changes.iter().any(|change| !self.is_ours(change)) {
            let foreign = self.foreign(changes);
            return match self.request.hooks {
                Hooks::Skip => Ok(Tried::Foreign(foreign)),
                Hooks::Run(_) => Err(beyond_scope(foreign)),
            };
        }
        let built = (!changes.is_empty()).then_some(UnpublishedCommit { commit, changes, next: None });
        Ok(Tried::Clean(built))
    }

    /// What a tree changes in the current commit.
    fn changes(&self, tree: &str) -> Result<Vec<FileChange>, UnknownState> {
        changes_between(self.git, self.found.head.as_deref(), tree)
    }

    fn is_ours(&self, change: &FileChange) -> bool {
        self.found.candidates.contains_key(&change.path)
            && self.request.scope.covers(&change.path)
            && !change.is_submodule()
    }

    fn foreign(&self, mut changes: Vec<FileChange>) -> Vec<FileChange> {
        changes.retain(|change| !self.is_ours(change));
        changes
    }

    fn commit(&self, tree: &str, message: &str) -> Result<String, UnknownState> {
        let parents: Vec<&str> = self.found.head.as_deref().into_iter().collect();
        commit_tree(self.git, self.request.author, &parents, tree, message)
    }
}

pub(super) fn commit_tree(
    git: &Git<'_>,
    author: Option<Author<'_>>,
    parents: &[&str],
    tree: &str,
    message: &str,
) -> Result<String, UnknownState> {
    let end = if message.ends_with('\n') { "" } else { "\n" };
    let message = [message, end].concat();
    let mut call = git.call("commit-tree").args(["--no-gpg-sign", "-F", "-"]).input(message);
    for parent in parents {
        call = call.args(["-p", parent]);
    }
    if let Some(Author { name, email }) = author {
        call = call.env("GIT_AUTHOR_NAME", name).env("GIT_AUTHOR_EMAIL", email);
        if !knows_committer(git) {
            call = call.env("GIT_COMMITTER_NAME", name).env("GIT_COMMITTER_EMAIL", email);
        }
    }
    call.arg(tree).word()
}

/// Whether git's settings name a committer.
fn knows_committer(git: &Git<'_>) -> bool {
    let says = |part: &str| ["user", "committer"].iter().any(|who| git.has_setting(&format!("{who}.{part}")));
    says("name") && says("email")
}
