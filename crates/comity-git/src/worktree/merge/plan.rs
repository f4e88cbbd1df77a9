//! What a merge would change, found out without making it.

use comity_core::display::shell_word;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::conflicts::{Conflict, MergeSide};
use super::{MERGED, Person};
use crate::git::{Git, is_there};
use crate::worktree::Driver;
use crate::worktree::commit::CommitId;
use crate::worktree::failure::{FailureKind, WorktreeError};
use crate::worktree::names::Branch;

/// A merge that was planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergePlan {
    pub source: Branch,
    pub target: Branch,
    pub source_commit: CommitId,
    /// What it is merged into: the target's commit, with the merges that wait to be taken there.
    pub target_commit: CommitId,
    /// Every path that the merge changes in the target, to check whether all of them are meant.
    pub changes: Vec<MergeChange>,
    /// With conflicts, there is no merge.
    pub conflicts: Vec<Conflict>,
    pub(super) branch_commit: CommitId,
    pub(super) waiting_commit: Option<CommitId>,
    pub(super) outcome: MergeOutcome,
}

/// A path that a merge changes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MergeChange {
    Added(PathBuf),
    /// Its contents, mode or type change.
    Modified(PathBuf),
    Deleted(PathBuf),
}

impl MergeChange {
    pub fn path(&self) -> &PathBuf {
        match self {
            MergeChange::Added(path) | MergeChange::Modified(path) | MergeChange::Deleted(path) => path,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum MergeOutcome {
    /// The target has all of the source.
    Nothing,
    /// The source has all of the target.
    FastForward,
    /// Each has something of its own; this is the merged tree.
    Merge { tree: String },
}

impl MergePlan {
    /// What is merged into: the target, or the ref at which merges wait for it.
    pub fn onto(&self) -> String {
        match self.target_commit == self.branch_commit {
            true => self.target.to_string(),
            false => format!("{MERGED}/{}", self.target),
        }
    }
}

impl Driver {
    /// Finds out what merging a branch into another one would change, and what prevents it.
    pub fn plan_merge(&self, source: &Branch, target: &Branch) -> Result<MergePlan, WorktreeError> {
        let deadline = self.deadline();
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let source_commit = self.resolve(&git, &source.full())?;
        let (branch_commit, waiting_commit) = self.refs_of(&git, target)?;
        let target_commit = self.tip_of(target, &branch_commit, waiting_commit.as_ref(), deadline)?;
        let mut plan = MergePlan {
            source: source.clone(),
            target: target.clone(),
            source_commit,
            target_commit,
            changes: Vec::new(),
            conflicts: Vec::new(),
            branch_commit,
            waiting_commit,
            outcome: MergeOutcome::Nothing,
        };
        if is_before(&git, &plan.source_commit, &plan.target_commit)? {
            return Ok(plan);
        }
        let tree = if is_before(&git, &plan.target_commit, &plan.source_commit)? {
            plan.outcome = MergeOutcome::FastForward;
            plan.source_commit.to_string()
        } else {
            let (tree, conflicts) = {
                let target = MergeSide { commit: &plan.target_commit, branch: target.as_str() };
                self.try_out(
                    target,
                    MergeSide { commit: &plan.source_commit, branch: source.as_str() },
                    deadline,
                )?
            };
            plan.conflicts = conflicts;
            plan.outcome = MergeOutcome::Merge { tree: tree.clone() };
            tree
        };
        plan.changes = changes(&git, &plan.target_commit, &tree)?;
        Ok(plan)
    }

    /// The commits by which a planned merge changes a path, without merges.
    pub fn commits_to(&self, plan: &MergePlan, path: &Path) -> Result<Vec<String>, WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, self.deadline()).with_variable("GIT_LITERAL_PATHSPECS", "1");
        let range = format!("{}..{}", plan.target_commit, plan.source_commit);
        let mut call = git.call("log").args(["--no-merges", "--full-history", "--format=%H", &range, "--"]);
        call = call.arg(path.as_os_str());
        let listed = call.done()?;
        Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
    }

    /// Merges in memory; returns the tree and the conflicts.
    fn try_out(
        &self,
        target: MergeSide<'_>,
        source: MergeSide<'_>,
        deadline: Instant,
    ) -> Result<(String, Vec<Conflict>), WorktreeError> {
        let project = self.project();
        // Attributes are the target's; the merge drivers that they name are switched off.
        let git = Git::on(&project, deadline)?.with_variable("GIT_ATTR_SOURCE", target.commit.as_str());
        let options = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages"];
        let output =
            git.run(&[&options[..], &[target.commit.as_str(), source.commit.as_str()]].concat(), b"")?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            let complaint = String::from_utf8_lossy(&output.stderr);
            return Err(WorktreeError::git(format!(
                "git merge-tree: {} ({})",
                complaint.trim(),
                output.status
            )));
        }
        let (tree, found) = super::conflicts::parse(&output.stdout)?;
        if (output.status.code() == Some(1)) == found.is_empty() {
            return Err(WorktreeError::git("git merge-tree did not say clearly whether there are conflicts"));
        }
        let conflicts = super::conflicts::describe(&git, &tree, found, target, source)?;
        Ok((tree, conflicts))
    }

    /// Where a branch is, and where the merges are that wait for it.
    pub(super) fn refs_of(
        &self,
        git: &Git<'_>,
        target: &Branch,
    ) -> Result<(CommitId, Option<CommitId>), WorktreeError> {
        Ok((self.resolve(git, &target.full())?, self.waiting_at(git, target)?))
    }

    /// Where a branch will be once the user has taken the waiting merges. If it has moved on without them, they are
    /// merged first, in a commit that nothing names before the merge is made.
    fn tip_of(
        &self,
        target: &Branch,
        branch: &CommitId,
        waiting: Option<&CommitId>,
        deadline: Instant,
    ) -> Result<CommitId, WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let Some(waiting) = waiting else { return Ok(branch.clone()) };
        if is_before(&git, waiting, branch)? {
            return Ok(branch.clone());
        }
        if is_before(&git, branch, waiting)? {
            return Ok(waiting.clone());
        }
        let waits_at = format!("{MERGED}/{target}");
        let on_branch = MergeSide { commit: branch, branch: target.as_str() };
        let (tree, conflicts) =
            self.try_out(on_branch, MergeSide { commit: waiting, branch: &waits_at }, deadline)?;
        if let Some(conflict) = conflicts.first() {
            let message = format!(
                "{target} has moved on, and conflicts with the merges that wait at {waits_at}: {conflict}; in its \
                 checkout, run: git merge {}",
                shell_word(&waits_at)
            );
            return Err(WorktreeError::new(FailureKind::Changed, message, "then merge again"));
        }
        let message = format!("Merge {target} and what waits for it");
        self.commit_tree(&tree, [branch, waiting], &Person::comity(), &message, deadline)
    }

    /// Where merges wait for a branch, if any do.
    pub(super) fn waiting_at(
        &self,
        git: &Git<'_>,
        target: &Branch,
    ) -> Result<Option<CommitId>, WorktreeError> {
        let name = format!("{MERGED}/{target}");
        if is_there(git, &name)? { self.resolve(git, &name).map(Some) } else { Ok(None) }
    }
}

/// Whether a commit is another one or its ancestor.
pub(super) fn is_before(git: &Git<'_>, earlier: &CommitId, later: &CommitId) -> Result<bool, WorktreeError> {
    let output = git.run(&["merge-base", "--is-ancestor", earlier.as_str(), later.as_str()], b"")?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(WorktreeError::git(format!(
            "git merge-base: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

/// The paths in which two trees differ; a rename is a removal and an addition.
pub(super) fn changes(git: &Git<'_>, from: &CommitId, to: &str) -> Result<Vec<MergeChange>, WorktreeError> {
    let options =
        ["diff-tree", "-r", "-z", "--name-status", "--no-renames", "--no-ext-diff", from.as_str(), to];
    let output = git.tell(&options, b"")?;
    let mut fields = output.stdout.split(|byte| *byte == 0);
    let mut changes = Vec::new();
    while let Some(letter) = fields.next().filter(|letter| !letter.is_empty()) {
        let path = fields.next().map(|path| PathBuf::from(OsString::from_vec(path.to_owned())));
        changes.push(match (letter, path) {
            (b"A", Some(path)) => MergeChange::Added(path),
            (b"M" | b"T", Some(path)) => MergeChange::Modified(path),
            (b"D", Some(path)) => MergeChange::Deleted(path),
            _ => return Err(WorktreeError::git("git diff-tree printed what Comity can't read")),
        });
    }
    Ok(changes)
}
