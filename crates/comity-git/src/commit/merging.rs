//! Finishes a merge that git has begun in a worktree and could not complete.
//!
//! Git's automatic merge of both sides needs no lock: others have committed it. Resolved conflicts, and other
//! changes, have to be within the scope like in any commit.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use comity_core::Refusal;

use super::attempts::{Committing, NextCommit, PublishedCommit, branch};
use super::build::{UnpublishedCommit, beyond_scope, commit_tree};
use super::change::{FileChange, changes_between, read_raw};
use super::filters::filtered;
use super::hooks::{commit_msg, pre_commit};
use super::look::{Candidate, CommitCandidates, OnDisk};
use super::merged::MergedByGit;
use super::not_committed::NotCommitted;
use super::presence::{Presence, PresenceCache};
use super::private_index::PrivateIndex;
use super::publish::{Publication, Published};
use super::request::Hooks;
use crate::dot_git::open_plain;
use crate::git::{Git, UnknownState};
use crate::parse::to_path;
use crate::status::{PathState, StatusEntry, StatusQuery, WorktreeStatus};
use crate::unfinished::Unfinished;
use crate::worktree::CommitId;

/// Bytes of the file that names the other side.
const HEAD_BYTES_MAX: u64 = 4_096;
/// Bytes of a file that are searched for conflict markers.
const MARKED_BYTES_MAX: u64 = 64 << 20;

/// An ongoing merge of one commit.
pub(super) struct OngoingMerge {
    theirs: String,
}

impl OngoingMerge {
    /// The merge that has to be finished, if it is a merge and nothing else.
    pub(super) fn begun(git: &Git<'_>) -> Option<OngoingMerge> {
        let dir = &git.worktree().git_dir;
        if !Unfinished::Merge.is_alone(dir) {
            return None;
        }
        let mut text = String::new();
        let file = open_plain(&dir.join("MERGE_HEAD")).ok()??;
        file.take(HEAD_BYTES_MAX).read_to_string(&mut text).ok()?;
        let mut commits = text.lines();
        let theirs = CommitId::parse(commits.next()?.trim()).ok()?;
        commits.next().is_none().then(|| OngoingMerge { theirs: theirs.as_str().to_owned() })
    }

    /// Whether it is already committed, by somebody who did not live to say so.
    pub(super) fn is_made(&self, git: &Git<'_>) -> Result<bool, NotCommitted> {
        Ok(git.call("merge-base").args(["--is-ancestor", self.theirs.as_str(), "HEAD"]).agrees()?)
    }

    /// Clears git's merge state if this commit finished it.
    pub(super) fn clear_if_made_by(git: &Git<'_>, commit: &str) -> Result<(), UnknownState> {
        let Some(merge) = OngoingMerge::begun(git) else { return Ok(()) };
        let parents = git.call("rev-parse").arg(format!("{commit}^@")).done()?;
        if parents.split(|byte| *byte == b'\n').any(|parent| parent == merge.theirs.as_bytes()) {
            OngoingMerge::clear(git);
        }
        Ok(())
    }

    /// Clears git's merge state.
    pub(super) fn clear(git: &Git<'_>) {
        for name in Unfinished::Merge.files() {
            // What stays is found by the next one.
            let _ = std::fs::remove_file(git.worktree().git_dir.join(name));
        }
    }
}

/// Git's automatic merge of both sides, and its conflicts.
struct AutoMerge {
    tree: String,
    conflicts: BTreeSet<PathBuf>,
}

impl Committing<'_> {
    /// Makes the commit with both parents, and clears git's merge state.
    pub(super) fn finish_merge(
        &self,
        merge: &OngoingMerge,
        before_publish: &mut dyn FnMut(&NextCommit<'_>) -> Result<(), Refusal>,
    ) -> Result<(CommitCandidates, Option<PublishedCommit>), NotCommitted> {
        let git = self.git;
        let head = git.call("rev-parse").args(["--verify", "HEAD^{commit}"]).word()?;
        let auto = auto_merge(git, &head, &merge.theirs)?;
        let query = StatusQuery { submodules: true, ..StatusQuery::default() };
        let status = WorktreeStatus::ask(git, query)?.entries;
        let found = self.resolved(&head, &auto, &status)?;
        let index = PrivateIndex::of_commit(git, self.commit_dir, Some(&auto.tree))?;
        index.take(git, found.candidates.iter())?;
        let mut tree = index.tree(git)?;
        let mut own = changes_between(git, Some(&auto.tree), &tree)?;
        if let Some(foreign) = self.foreign(&own).next() {
            return Err(unlocked(&foreign.path));
        }
        let mut message = Cow::Borrowed(self.request.message);
        if let Hooks::Run(confiner) = self.request.hooks {
            pre_commit(git, confiner, index.path())?;
            message = commit_msg(git, confiner, self.commit_dir, index.path(), &message)?.into();
            tree = index.tree(git)?;
            let found = own;
            own = changes_between(git, Some(&auto.tree), &tree)?;
            let submodules = own.iter().filter(|change| change.is_submodule() && !found.contains(change));
            let foreign: Vec<FileChange> = self.foreign(&own).chain(submodules).cloned().collect();
            if !foreign.is_empty() {
                return Err(beyond_scope(foreign));
            }
        }
        let commit = commit_tree(git, self.request.author, &[&head, &merge.theirs], &tree, &message)?;
        let branch = branch(git)?;
        let changes: Vec<FileChange> = changes_between(git, Some(&head), &tree)?;
        let is_own = |change: &&FileChange| own.iter().any(|own| own.path == change.path);
        let merged: Vec<FileChange> = changes.iter().filter(|change| !is_own(change)).cloned().collect();
        let merged = MergedByGit { changes: &merged, git, head: &head, theirs: &merge.theirs };
        let next = NextCommit {
            commit: &commit,
            parent: Some(&head),
            branch: branch.as_deref(),
            changes: &own,
            merged: Some(merged),
        };
        before_publish(&next).map_err(NotCommitted::Refused)?;
        let left_as_before = left_as_before(git, &head, &changes, &found, &status)?;
        let built = UnpublishedCommit { commit: commit.clone(), changes: changes.clone(), next: None };
        let publication = Publication {
            git,
            commit_dir: self.commit_dir,
            turn: self.turn,
            common_dir: self.repository.common_dir(),
            found: &found,
            built,
            finishes: Some(Unfinished::Merge),
            left_as_before: &left_as_before,
            message: self.request.message,
            deadline: self.deadline,
        };
        match publication.publish(None)? {
            Published::Overtaken { problem } => Err(NotCommitted::Overtaken { attempts: 1, problem }),
            Published::Done(index) => {
                let made = PublishedCommit { commit, branch, changes, overtaken: Ok(Vec::new()), index };
                Ok((found, Some(made)))
            }
        }
    }

    /// Changes beyond the automatic merge that are not covered.
    fn foreign<'c>(&self, changes: &'c [FileChange]) -> impl Iterator<Item = &'c FileChange> {
        changes.iter().filter(|change| !self.request.scope.covers(&change.path))
    }

    /// What the working tree has for everything that is covered and may differ from the automatic merge.
    fn resolved(
        &self,
        head: &str,
        auto: &AutoMerge,
        status: &[StatusEntry],
    ) -> Result<CommitCandidates, NotCommitted> {
        let git = self.git;
        let scope = self.request.scope;
        if let Some(path) = auto.conflicts.iter().find(|path| !scope.covers(path)) {
            return Err(unlocked(path));
        }
        let mut paths: BTreeMap<PathBuf, Option<_>> =
            auto.conflicts.iter().map(|path| (path.clone(), None)).collect();
        for change in changes_between(git, Some(head), &auto.tree)? {
            paths.entry(change.path).or_insert(None);
        }
        for entry in status {
            let indexed = match &entry.state {
                PathState::Tracked { indexed, .. } if !entry.is_submodule => indexed.clone(),
                PathState::Unmerged => None,
                PathState::Untracked if !entry.is_dir() => None,
                PathState::Tracked { .. } | PathState::Untracked | PathState::Ignored => continue,
            };
            paths.insert(entry.to_path(), indexed);
        }
        paths.retain(|path, _| scope.covers(path));
        let mut found = CommitCandidates { head: Some(head.to_owned()), ..CommitCandidates::default() };
        let root = &git.worktree().root;
        let mut tree = PresenceCache::at(root);
        for (path, indexed) in paths {
            let now = match tree.presence(&path) {
                Presence::File => OnDisk::File,
                Presence::Link => OnDisk::Link,
                Presence::Gone => OnDisk::Gone,
                Presence::Directory | Presence::BehindLink => OnDisk::Replaced,
                Presence::Other | Presence::Unreadable(_) => {
                    return Err(unresolved(&path, "can't be read"));
                }
            };
            if auto.conflicts.contains(&path) && now == OnDisk::File && has_marks(&root.join(&path)) {
                return Err(unresolved(&path, "still has the marks of a conflict (<<<<<<<)"));
            }
            found.candidates.insert(path, Candidate { indexed, now });
        }
        let files = found.candidates.iter().filter(|(_, candidate)| candidate.now == OnDisk::File);
        if let Some((path, _)) = filtered(git, files.map(|(path, _)| path.as_path()))?.into_iter().next() {
            return Err(unresolved(&path, "goes through a filter of git's; finish this merge with git"));
        }
        Ok(found)
    }
}

/// Merges in memory.
fn auto_merge(git: &Git<'_>, head: &str, theirs: &str) -> Result<AutoMerge, NotCommitted> {
    let output =
        git.run(&["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", head, theirs], b"")?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(NotCommitted::fault(format!("git merge-tree: {complaint} ({})", output.status)));
    }
    let mut fields = output.stdout.split(|byte| *byte == 0);
    let tree = String::from_utf8_lossy(fields.next().unwrap_or_default()).trim().to_owned();
    let conflicts = fields.take_while(|field| !field.is_empty()).map(to_path).collect();
    Ok(AutoMerge { tree, conflicts })
}

/// Where the index still differs from `head` at paths that are settled unchanged: conflicts resolved to our side, and
/// what was staged there. Otherwise git would show them as unmerged after the merge.
fn left_as_before(
    git: &Git<'_>,
    head: &str,
    changes: &[FileChange],
    found: &CommitCandidates,
    status: &[StatusEntry],
) -> Result<Vec<FileChange>, NotCommitted> {
    let unmerged: BTreeSet<PathBuf> =
        status.iter().filter(|entry| entry.state == PathState::Unmerged).map(StatusEntry::to_path).collect();
    let options = ["--cached", "-z", "--raw", "--no-abbrev", "--no-renames"];
    let mut staged = read_raw(&git.call("diff-index").args(options).arg(head).done()?)?;
    staged.retain(|staged| {
        let is_settled = found.candidates.contains_key(&staged.path) || unmerged.contains(&staged.path);
        is_settled && !changes.iter().any(|change| change.path == staged.path)
    });
    Ok(staged)
}

/// Whether a file has conflict markers.
fn has_marks(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = match open_plain(path) {
        Ok(Some(file)) => file.take(MARKED_BYTES_MAX).read_to_end(&mut bytes).is_ok(),
        Ok(None) | Err(_) => false,
    };
    let begins = |mark: &[u8]| bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(mark));
    !read || (begins(b"<<<<<<< ") && begins(b">>>>>>> "))
}

fn unlocked(path: &Path) -> NotCommitted {
    unresolved(path, "is part of what you made of the merge, and you have not locked it")
}

fn unresolved(path: &Path, what: &str) -> NotCommitted {
    let name = String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned();
    NotCommitted::Unresolved { path: name, what: what.to_owned() }
}
