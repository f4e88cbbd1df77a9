//! Moves what is in the way into the trash without a proof. It is never deleted there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::commit::BaseCommit;
use super::failure::{FailureKind, WorktreeError};
use super::leftovers::Leftover;
use super::names::Branch;
use super::proof::not_kept;
use super::record::WorktreeRecord;
use super::slug::Slug;
use super::step::WorktreeStep;
use super::trash::Reason;
use super::{Driver, save};
use crate::dot_git::pointer;
use crate::git::Git;
use crate::worktrees::WorktreeDirs;

impl Driver {
    /// Moves a crash leftover into the trash, where it stays until somebody restores or deletes it by hand.
    ///
    /// Returns its name there; `None` if it was an empty directory, which is removed. Commits and staged contents
    /// that only git's entry keeps get refs first.
    pub fn set_aside(&self, leftover: &Leftover) -> Result<Option<String>, WorktreeError> {
        let still = self.leftovers()?.contains(leftover);
        let gone = || WorktreeError::new(FailureKind::Changed, "it is not as it was", "look again");
        let (path, git_dir) = match leftover {
            _ if !still => return Err(gone()),
            Leftover::HalfMade { path, .. }
            | Leftover::NoGitEntry { path }
            | Leftover::NoFiles { path, .. } => (path, self.git_dir_of(path)?),
            Leftover::HalfRemoved { id, .. } => {
                let message = format!("{id} is in the trash already, in part");
                return Err(WorktreeError::new(FailureKind::BadPlace, message, "restore it"));
            }
            Leftover::Unknown { path } => {
                let message = format!("{} is not ours", path.display());
                return Err(WorktreeError::new(
                    FailureKind::BadPlace,
                    message,
                    "look at it, and move it away by hand",
                ));
            }
        };
        let begun = match &git_dir {
            Some(git_dir) => {
                save::keep_everything(self, path, git_dir)?;
                WorktreeRecord::read(git_dir).ok().flatten()
            }
            None => None,
        };
        let id = self.set_aside_path(None, path, &leftover.to_string())?;
        if let Some(WorktreeRecord::Making { branch, base, .. }) = begun {
            self.drop_unused(&branch, &base)?;
        }
        Ok(id)
    }

    /// Removes the branch of a worktree that was not handed out, if it is still at its base and other refs keep that.
    pub(super) fn drop_unused(&self, branch: &Branch, base: &BaseCommit) -> Result<(), WorktreeError> {
        let (project, full, commit) = (self.project(), branch.full(), base.commit.as_str());
        let git = Git::on_refs(&project, self.deadline());
        let now = git.run(&["rev-parse", "--verify", "--quiet", &full], b"")?;
        let is_at_base = String::from_utf8_lossy(&now.stdout).trim_end() == commit;
        let lost = not_kept(&project, &[commit.to_owned()], std::slice::from_ref(&full), self.deadline())?;
        if is_at_base && lost.is_empty() {
            git.tell(&["update-ref", "-d", &full, commit], b"")?;
        }
        Ok(())
    }

    /// Moves a worktree, or what there is of one, into the trash; returns its name there, or `None` if nothing is
    /// there.
    pub(super) fn set_aside_path(
        &self,
        slug: Option<&Slug>,
        path: &Path,
        why: &str,
    ) -> Result<Option<String>, WorktreeError> {
        let _turn = self.turn_at_trash(self.deadline())?;
        let (place, name) = self.place_of(path)?;
        let git_dir = self.git_dir_of(path)?;
        let has_files = match place.kind(Path::new(&name)).map_err(WorktreeError::disk(path))? {
            None => false,
            // Removes it only if it is empty.
            Some(FileType::Directory) => place.remove_empty(&name).is_err(),
            Some(_) => {
                let message = format!("{} isn't a directory", path.display());
                return Err(WorktreeError::new(
                    FailureKind::BadPlace,
                    message,
                    "look at it, and move it away by hand",
                ));
            }
        };
        // One that was just handed out has left only its name in git's entry.
        let is_elsewhere = |git_dir: &PathBuf| self.is_elsewhere(git_dir).unwrap_or(true);
        if !has_files && git_dir.as_ref().is_none_or(is_elsewhere) {
            return Ok(None);
        }
        let reason = Reason::SetAside { message: why.to_owned() };
        let entry = self.new_entry(slug, path, git_dir.as_deref(), reason)?;
        let dir = self.begin_entry(&entry)?;
        self.done(WorktreeStep::RemovalRecorded);
        if let Some(git_dir) = git_dir.filter(|git_dir| !git_dir.join("locked").exists()) {
            self.lock_git_entry(&git_dir)?;
        }
        if has_files {
            self.move_files(&dir, path)?;
            self.done(WorktreeStep::FilesMoved);
        }
        if let Some(name) = &entry.git_entry {
            self.move_git_entry(&dir, name)?;
        }
        Ok(Some(entry.id))
    }

    /// Whether a worktree is the one that git's entry means, or was moved from there; a copy is not.
    pub(super) fn has_moved_here(&self, worktree: &WorktreeDirs) -> bool {
        let Ok(Some(says)) = pointer(&worktree.git_dir.join("gitdir")) else { return false };
        let says = worktree.git_dir.join(OsStr::from_bytes(&says));
        let Some(other) = says.parent().filter(|other| *other != worktree.root) else { return true };
        self.linked(other).is_none_or(|other| other.git_dir != worktree.git_dir)
    }

    /// Git's entry for a worktree: where its `.git` leads, or the one that says it is there.
    pub(super) fn git_dir_of(&self, path: &Path) -> Result<Option<PathBuf>, WorktreeError> {
        if let Some(worktree) = self.linked(path).filter(|worktree| self.has_moved_here(worktree)) {
            return Ok(Some(worktree.git_dir));
        }
        let entries = self.entries_for(path)?;
        match entries.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            [_, _, ..] => Err(WorktreeError::git(format!("git has several entries for {}", path.display()))),
        }
    }
}
