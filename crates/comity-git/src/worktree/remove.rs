//! Removes a worktree: a rename into the trash, after a proof that it holds no work.

use std::path::Path;
use std::time::Instant;

use super::Driver;
use super::failure::WorktreeError;
use super::links;
use super::names::random_suffix;
use super::proof::{KeepCause, KeepReason, Removable};
use super::record::Maker;
use super::save::SAVED;
use super::step::WorktreeStep;
use super::trash::{FILES, GIT_ENTRY, PURGING, ProvenRemovable, Reason, TrashEntry, Trashed};
use crate::git::Git;
use crate::worktrees::WorktreeDirs;

impl Driver {
    /// Removes a worktree that was proven to hold no work; if it has changed since, it stays entirely.
    ///
    /// A ref keeps its commit. Its branch is deleted only because the proof says that another ref holds it all.
    pub fn remove(&self, proof: Removable<'_>) -> Result<Trashed, Vec<KeepReason>> {
        if proof.ready.made_by == Maker::Hook {
            return Err(vec![KeepReason::one(
                KeepCause::NotOurs,
                "a program of the user's has made it, and has to remove it",
            )]);
        }
        let failed = |failure: WorktreeError| vec![KeepReason::unknown(failure)];
        let deadline = self.deadline();
        let _turn = self.turn_at_trash(deadline).map_err(failed)?;
        let entry = self.entry_of(&proof).map_err(failed)?;
        let Reason::Proven(proven) = &entry.reason else {
            return Err(vec![KeepReason::unknown("it is not proven")]);
        };
        let dir = self.begin_entry(&entry).map_err(failed)?;
        self.done(WorktreeStep::RemovalRecorded);
        // Git keeps the commit while we look once more at every file.
        let (saved, kept) = std::thread::scope(|scope| {
            let saved = scope.spawn(|| self.save_head(proven, deadline));
            let kept = self.is_still(&proof, deadline);
            (
                saved.join().unwrap_or_else(|_| Err(WorktreeError::git("a thread that asked git has died"))),
                kept,
            )
        });
        let kept = match saved {
            Ok(()) if kept.is_empty() => None,
            Ok(()) => Some(kept),
            Err(failure) => Some(failed(failure)),
        };
        if let Some(kept) = kept {
            self.take_back_removal(&entry, proven, deadline).map_err(failed)?;
            return Err(kept);
        }
        self.done(WorktreeStep::CommitSaved);
        if let Err(failure) = self.move_all(&proof, &entry, &dir) {
            self.put_back(&entry).map_err(|error| failed(failure.clone().and(&error.to_string())))?;
            return Err(failed(failure));
        }
        let files = dir.path().join(FILES);
        for link in &proven.links {
            links::unlink(&files, link).map_err(failed)?;
        }
        self.done(WorktreeStep::LinksRemoved);
        self.drop_branch(proven, deadline).map_err(failed)?;
        self.done(WorktreeStep::BranchRemoved);
        Ok(entry.into())
    }

    /// Undoes a removal that a crash has interrupted, so that it can start over; a completed one stays.
    pub fn take_back_interrupted(&self, path: &Path) -> Result<(), WorktreeError> {
        let deadline = self.deadline();
        let _turn = self.turn_at_trash(deadline)?;
        let folder = path.file_name().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let is_of_it = |id: &String| id.starts_with(&format!("{folder}-")) && !id.ends_with(PURGING);
        for id in self.trash_names()?.into_iter().filter(is_of_it) {
            let Ok((dir, entry)) = self.trash_entry(&id) else { continue };
            let has = |name: &str| dir.kind(Path::new(name)).is_ok_and(|kind| kind.is_some());
            let Reason::Proven(proven) = &entry.reason else { continue };
            if entry.path != path || has(GIT_ENTRY) {
                continue;
            }
            let name = entry.git_entry.as_ref();
            let git_dir = name.map(|name| self.common_dir.join("worktrees").join(name));
            let known = self.entries_for(path)?;
            match (has(FILES), git_dir.filter(|git_dir| known.contains(git_dir))) {
                (true, Some(_)) if !path.exists() => self.put_back(&entry)?,
                (true, _) => {}
                // Nothing was moved, and somebody may have worked in it since: restoring would undo that.
                (false, git_dir) => {
                    git_dir.map_or(Ok(()), |git_dir| self.unlock_interrupted(&git_dir))?;
                    self.take_back_removal(&entry, proven, deadline)?;
                }
            }
        }
        Ok(())
    }

    fn entry_of(&self, proof: &Removable<'_>) -> Result<TrashEntry, WorktreeError> {
        let Removable { worktree, ready, head, branch, build_dirs, files, git, .. } = proof;
        let proven = ProvenRemovable {
            head: head.clone(),
            // The user's own branches stay, even if the worktree ended up on one.
            branch: branch.clone().filter(|branch| *branch == ready.branch),
            saved_as: format!("{SAVED}/{}-{}", ready.slug, random_suffix()?),
            links: ready.links.clone(),
            build_dirs: build_dirs.clone(),
            files: files.seal.clone(),
            git: git.clone(),
        };
        let reason = Reason::Proven(proven);
        self.new_entry(Some(&ready.slug), &worktree.root, Some(&worktree.git_dir), reason)
    }

    fn save_head(&self, proven: &ProvenRemovable, deadline: Instant) -> Result<(), WorktreeError> {
        let project = self.project();
        let head = proven.head.as_str();
        Git::on_refs(&project, deadline)
            .tell(&["update-ref", &proven.saved_as, head, &"0".repeat(head.len())], b"")?;
        Ok(())
    }

    fn move_all(
        &self,
        proof: &Removable<'_>,
        entry: &TrashEntry,
        dir: &super::disk::Root,
    ) -> Result<(), WorktreeError> {
        let WorktreeDirs { root, git_dir } = &proof.worktree;
        self.lock_git_entry(git_dir)?;
        self.done(WorktreeStep::Locked);
        self.move_files(dir, root)?;
        self.done(WorktreeStep::FilesMoved);
        if let Some(name) = &entry.git_entry {
            self.move_git_entry(dir, name)?;
        }
        self.done(WorktreeStep::EntryMoved);
        Ok(())
    }

    /// Nothing was moved yet: undoes only the preparations.
    fn take_back_removal(
        &self,
        entry: &TrashEntry,
        proven: &ProvenRemovable,
        deadline: Instant,
    ) -> Result<(), WorktreeError> {
        self.end_entry(entry)?;
        self.drop_saved(proven, deadline)
    }

    /// Removes the ref that keeps the commit of a restored worktree.
    pub(super) fn drop_saved(
        &self,
        proven: &ProvenRemovable,
        deadline: Instant,
    ) -> Result<(), WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        if !git.run(&["rev-parse", "--verify", "--quiet", &proven.saved_as], b"")?.status.success() {
            return Ok(());
        }
        git.tell(&["update-ref", "-d", &proven.saved_as, proven.head.as_str()], b"")?;
        Ok(())
    }

    /// Removes the branch, if it is still at the commit that was proven to be in another ref.
    fn drop_branch(&self, proven: &ProvenRemovable, deadline: Instant) -> Result<(), WorktreeError> {
        let Some(branch) = &proven.branch else { return Ok(()) };
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        git.tell(&["update-ref", "-d", &branch.full(), proven.head.as_str()], b"")?;
        Ok(())
    }
}
