//! Finds out afterwards what became of a merge.

use comity_core::display::shell_word;
use std::path::PathBuf;

use super::plan::{changes, is_before};
use super::{MERGED, Merged};
use crate::git::{Git, is_there};
use crate::worktree::Driver;
use crate::worktree::commit::CommitId;
use crate::worktree::failure::WorktreeError;
use crate::worktree::names::Branch;

impl Driver {
    /// Where a merge is, if it was made: in its branch, or waiting to be taken there.
    ///
    /// Waits for merges into the branch that are under way, and for a git that outlived its server.
    pub fn merged(&self, target: &Branch, commit: &CommitId) -> Result<Option<Merged>, WorktreeError> {
        let deadline = self.deadline();
        let _turn = self.turn_to_merge(target)?;
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        // A power cut may have lost the commit; somebody may have deleted the branch.
        if !is_there(&git, commit.as_str())? {
            return Ok(None);
        }
        if is_there(&git, &target.full())? && is_before(&git, commit, &self.resolve(&git, &target.full())?)? {
            return Ok(Some(Merged::Done { commit: commit.clone() }));
        }
        match self.waiting_at(&git, target)? {
            Some(waiting) if is_before(&git, commit, &waiting)? => {
                let checked_out = self.checkouts_of(&git, target)?;
                Ok(Some(Merged::waiting(commit.clone(), target, checked_out)))
            }
            _ => Ok(None),
        }
    }

    /// The paths that a merge has changed in its target.
    pub fn changed_between(&self, was: &CommitId, commit: &CommitId) -> Result<Vec<PathBuf>, WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, self.deadline());
        let all = changes(&git, was, commit.as_str())?;
        Ok(all.iter().map(|change| change.path().clone()).collect())
    }
}

/// The command with which the user takes what waits for a branch, from anywhere.
pub(super) fn take_command(target: &Branch, checked_out: &[PathBuf]) -> String {
    let name = format!("{MERGED}/{target}");
    let at = checked_out.first().map(|path| path.to_string_lossy());
    let at = at.map(|path| format!("-C {} ", shell_word(&path))).unwrap_or_default();
    format!("git {at}merge {}", shell_word(&name))
}

impl Merged {
    pub(super) fn waiting(commit: CommitId, target: &Branch, checked_out: Vec<PathBuf>) -> Merged {
        let name = format!("{MERGED}/{target}");
        let command = take_command(target, &checked_out);
        Merged::Waiting { commit, name, checked_out, command }
    }
}
