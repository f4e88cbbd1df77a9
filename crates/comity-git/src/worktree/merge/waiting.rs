//! Merges that are made, and wait to be taken where their branch is checked out.

use std::path::PathBuf;
use std::time::Instant;

use super::MERGED;
use super::plan::{MergePlan, is_before};
use super::recover::take_command;
use crate::git::{Git, is_there};
use crate::worktree::Driver;
use crate::worktree::failure::WorktreeError;
use crate::worktree::names::Branch;

/// A merge that waits to be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingMerge {
    /// The branch that it is for.
    pub target: Branch,
    /// What takes it, run anywhere.
    pub command: String,
}

/// Whether an earlier merge is still not in its branch.
pub(super) enum StillWaits {
    /// The branch has it.
    No,
    For {
        checked_out: Vec<PathBuf>,
    },
    ForNobody,
}

impl Driver {
    pub(super) fn still_waits(
        &self,
        plan: &MergePlan,
        deadline: Instant,
    ) -> Result<StillWaits, WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        if plan.waiting_commit.is_none() || is_before(&git, &plan.source_commit, &plan.branch_commit)? {
            return Ok(StillWaits::No);
        }
        let checked_out = self.checkouts_of(&git, &plan.target)?;
        Ok(if checked_out.is_empty() { StillWaits::ForNobody } else { StillWaits::For { checked_out } })
    }

    /// All waiting merges. If there are none, git is not started. Removes the refs of those that were taken.
    pub fn waiting_merges(&self) -> Result<Vec<WaitingMerge>, WorktreeError> {
        if !self.may_have_waiting_merges() {
            return Ok(Vec::new());
        }
        let project = self.project();
        let git = Git::on_refs(&project, self.deadline());
        let listed = git.tell(&["for-each-ref", "--format=%(refname)", MERGED], b"")?;
        let mut waiting = Vec::new();
        for name in String::from_utf8_lossy(&listed.stdout).lines() {
            let target = name.strip_prefix(MERGED).and_then(|rest| rest.strip_prefix('/'));
            let Some(Ok(target)) = target.map(Branch::parse) else { continue };
            if !is_there(&git, &target.full())? {
                continue;
            }
            let (branch, Some(commit)) = self.refs_of(&git, &target)? else { continue };
            if is_before(&git, &commit, &branch)? {
                // Whoever has just put another merge there keeps it.
                let _ = git.tell(&["update-ref", "-d", name, commit.as_str()], b"");
                continue;
            }
            let command = take_command(&target, &self.checkouts_of(&git, &target)?);
            waiting.push(WaitingMerge { target, command });
        }
        Ok(waiting)
    }

    fn may_have_waiting_merges(&self) -> bool {
        let is_packed = || {
            let packed = std::fs::read(self.common_dir.join("packed-refs")).unwrap_or_default();
            packed.windows(MERGED.len()).any(|text| text == MERGED.as_bytes())
        };
        let has_entries = || {
            std::fs::read_dir(self.common_dir.join(MERGED)).is_ok_and(|mut entries| entries.next().is_some())
        };
        self.common_dir.join("reftable").is_dir() || has_entries() || is_packed()
    }
}
