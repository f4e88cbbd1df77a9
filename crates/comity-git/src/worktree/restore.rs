//! Brings a worktree back from the trash, with everything that it had.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::claim::tell_git_where;
use super::disk::Root;
use super::failure::{FailureKind, WorktreeError};
use super::names::Branch;
use super::step::WorktreeStep;
use super::trash::{FILES, GIT_ENTRY, ProvenRemovable, Reason, TrashEntry};
use super::{Driver, links};
use crate::git::Git;
use crate::umask::{as_user, share};
use crate::worktrees::WorktreeDirs;

/// Names that are tried for git's entry if its own is taken.
const NAMES_MAX: usize = 1_000;

/// A worktree restored from the trash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RestoredWorktree {
    pub path: PathBuf,
    /// `None` if somebody else has it checked out by now; then its commit is checked out instead.
    pub branch: Option<Branch>,
}

impl Driver {
    /// Restores something from the trash for good.
    pub fn restore(&self, id: &str) -> Result<RestoredWorktree, WorktreeError> {
        let restored = self.bring_back(id)?;
        self.end_restore(id)?;
        Ok(restored)
    }

    /// Restores something that can be asked for again until [`Driver::end_restore`]: the trash remembers it until its
    /// owner is recorded.
    pub fn bring_back(&self, id: &str) -> Result<RestoredWorktree, WorktreeError> {
        let _turn = self.turn_at_trash(self.deadline())?;
        let (_, entry) = self.trash_entry(id)?;
        if entry.id != id {
            let message = format!("{id} is being deleted");
            return Err(WorktreeError::new(
                FailureKind::Changed,
                message,
                "its commit may still be kept by a ref",
            ));
        }
        if entry.is_back {
            // Somebody may work in it by now: it is as they have it.
            let branch = self.linked(&entry.path).map(|it| checked_out(&it, self.deadline())).transpose()?;
            return Ok(RestoredWorktree { path: entry.path, branch: branch.flatten() });
        }
        let (mut entry, branch) = self.undo(&entry)?;
        entry.is_back = true;
        self.write_entry(&self.trash_entry(id)?.0, &entry)?;
        self.done(WorktreeStep::BroughtBack);
        Ok(RestoredWorktree { path: entry.path, branch })
    }

    /// Forgets something that is restored.
    pub fn end_restore(&self, id: &str) -> Result<(), WorktreeError> {
        let _turn = self.turn_at_trash(self.deadline())?;
        let (_, entry) = self.trash_entry(id)?;
        if entry.is_back { self.end_entry(&entry) } else { Ok(()) }
    }

    /// Undoes every finished step of a removal, and forgets it.
    pub(super) fn put_back(&self, entry: &TrashEntry) -> Result<(), WorktreeError> {
        let (entry, _) = self.undo(entry)?;
        self.end_entry(&entry)
    }

    fn undo(&self, entry: &TrashEntry) -> Result<(TrashEntry, Option<Branch>), WorktreeError> {
        let deadline = self.deadline();
        let (dir, _) = self.trash_entry(&entry.id)?;
        let has = |name: &str| dir.kind(Path::new(name)).is_ok_and(|kind| kind.is_some());
        let (place, name) = self.place_of(&entry.path)?;
        let is_taken = place.kind(Path::new(&name)).map_err(WorktreeError::disk(&entry.path))?.is_some();
        if has(FILES) && is_taken {
            let message = format!("{} is there already", entry.path.display());
            return Err(WorktreeError::new(FailureKind::Taken, message, "move it away first"));
        }
        let mut entry = entry.clone();
        if has(GIT_ENTRY) {
            self.put_back_git_entry(&dir, &mut entry)?;
            self.done(WorktreeStep::EntryBack);
        }
        if has(FILES) {
            dir.rename(FILES, &place, &name).map_err(WorktreeError::disk(&entry.path))?;
            self.done(WorktreeStep::FilesBack);
        }
        let git_dir = entry.git_entry.as_ref().map(|name| self.common_dir.join("worktrees").join(name));
        let worktree = git_dir.map(|git_dir| WorktreeDirs { root: entry.path.clone(), git_dir });
        if let Some(worktree) = worktree.as_ref().filter(|worktree| worktree.root.is_dir()) {
            tell_git_where(worktree)?;
            point_at(worktree)?;
        }
        let branch = match (&entry.reason, &worktree) {
            (Reason::Proven(proven), Some(worktree)) => self.put_back_refs(proven, worktree, deadline)?,
            (Reason::Proven(_) | Reason::SetAside { .. }, _) => None,
        };
        self.done(WorktreeStep::RefsBack);
        if let Some(worktree) = &worktree {
            self.unlock_git_entry(&worktree.git_dir)?;
        }
        Ok((entry, branch))
    }

    /// Moves git's entry back, under another name if its own is taken by now.
    fn put_back_git_entry(&self, dir: &Root, entry: &mut TrashEntry) -> Result<(), WorktreeError> {
        let all = self.common_dir.join("worktrees");
        as_user(|| std::fs::create_dir_all(&all)).map_err(WorktreeError::disk(&all))?;
        share(&all);
        let all = self.place(&all)?;
        let own = entry.git_entry.clone().unwrap_or_else(|| "worktree".to_owned());
        let other = |number: usize| if number == 0 { own.clone() } else { format!("{own}{number}") };
        let is_free = |name: &String| all.kind(Path::new(name)).is_ok_and(|kind| kind.is_none());
        let name = (0..NAMES_MAX).map(other).find(is_free);
        let name =
            name.ok_or_else(|| WorktreeError::git(format!("git has entries of all names like {own}")))?;
        // Recorded first: an interrupted restoration has to find it again.
        entry.git_entry = Some(name.clone());
        self.write_entry(dir, entry)?;
        dir.rename(GIT_ENTRY, &all, &name).map_err(WorktreeError::disk(&all.path().join(&name)))
    }

    /// Restores the branch and the links.
    fn put_back_refs(
        &self,
        proven: &ProvenRemovable,
        worktree: &WorktreeDirs,
        deadline: Instant,
    ) -> Result<Option<Branch>, WorktreeError> {
        let git = Git::on_refs(worktree, deadline);
        let head = proven.head.as_str();
        let mut branch = proven.branch.clone();
        if let Some(full) = branch.as_ref().map(Branch::full) {
            let now = git.run(&["rev-parse", "--verify", "--quiet", &full], b"")?;
            let is_elsewhere = match &branch {
                Some(branch) => self.checkouts_of(&git, branch)?.iter().any(|path| *path != worktree.root),
                None => false,
            };
            match now.status.success() {
                true if !is_elsewhere && String::from_utf8_lossy(&now.stdout).trim_end() == head => {}
                true => {
                    git.tell(&["update-ref", "--no-deref", "-m", "restored", "HEAD", head], b"")?;
                    branch = None;
                }
                false => {
                    // Asked of the project: asked of the worktree, git would note it in its HEAD's reflog.
                    let project = self.project();
                    let git = Git::on_refs(&project, deadline);
                    let arguments = [
                        "update-ref",
                        "--create-reflog",
                        "-m",
                        "restored",
                        &full,
                        head,
                        &"0".repeat(head.len()),
                    ];
                    git.tell(&arguments, b"")?;
                }
            }
        }
        for link in &proven.links {
            links::link_again(&worktree.root, link)?;
        }
        self.drop_saved(proven, deadline)?;
        Ok(branch)
    }
}

/// The branch that is checked out, if one is.
fn checked_out(worktree: &WorktreeDirs, deadline: Instant) -> Result<Option<Branch>, WorktreeError> {
    let head = Git::on_refs(worktree, deadline).run(&["symbolic-ref", "--quiet", "--short", "HEAD"], b"")?;
    Ok(Branch::parse(String::from_utf8_lossy(&head.stdout).trim_end()).ok())
}

/// Points a worktree's `.git` at git's entry for it, if that has another name now.
fn point_at(worktree: &WorktreeDirs) -> Result<(), WorktreeError> {
    let marker = worktree.root.join(".git");
    let line = [b"gitdir: ", worktree.git_dir.as_os_str().as_encoded_bytes(), b"\n"].concat();
    let write = || -> std::io::Result<()> {
        let root = Root::open(&worktree.root)?;
        let is_there = root.read(Path::new(".git"), line.len() as u64 * 2)?;
        if is_there.is_some_and(|text| text == line) { Ok(()) } else { root.write(".git", &line) }
    };
    write().map_err(WorktreeError::disk(&marker))
}
