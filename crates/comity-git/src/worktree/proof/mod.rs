//! Proves that a worktree holds no work: that everything in it is in a commit that stays, and nobody is working.
//!
//! Every doubt keeps it: an error, a timeout, an answer that is not understood.

mod build_dirs;
mod commits;
mod contents;
mod kept;
mod ownership;
mod processes;
mod stash;
mod unfinished;

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::commit::CommitId;
use super::disk::Root;
use super::failure::WorktreeError;
use super::names::{Branch, InnerPath};
use super::record::{RECORD_FILE, Ready, SharedLink};
use super::survey::{Except, Seal, Survey};
use super::trash::{FILES, GIT_ENTRY, ProvenRemovable};
use super::watch::ChangeWatch;
use super::{Driver, mounts};
use crate::git::{Git, UnknownState};
use crate::parse::unreadable;
use crate::status::{StatusQuery, WorktreeStatus};
use crate::worktrees::WorktreeDirs;

pub(crate) use commits::{BranchHistory, not_kept};
pub use kept::{KeepCause, KeepReason};
pub(crate) use processes::processes_in;

/// Settings under which git hides nothing that it could see.
const HIDE_NOTHING: &[(&str, &str)] = &[
    ("core.fileMode", "true"),
    ("core.symlinks", "true"),
    ("core.ignoreCase", "false"),
    ("core.trustctime", "true"),
    ("core.checkStat", "default"),
    ("status.showUntrackedFiles", "all"),
];

/// What the caller knows about worktrees.
#[derive(Clone, Copy)]
pub struct RemovalRules<'a> {
    /// Directories whose ignored contents a build recreates.
    pub build_dirs: &'a [InnerPath],
    /// Whether somebody alive uses the worktree at a path, or will.
    pub in_use: &'a (dyn Fn(&Path) -> bool + Sync),
}

/// The proof that a worktree can go, for as long as nothing in it changes.
pub struct Removable<'a> {
    pub(super) worktree: WorktreeDirs,
    pub(super) ready: Ready,
    pub(super) head: CommitId,
    pub(super) branch: Option<Branch>,
    /// Directories that a build recreates, and that git ignores as a whole.
    pub(super) build_dirs: Vec<InnerPath>,
    pub(super) files: Survey,
    pub(super) git: Seal,
    pub(super) rules: RemovalRules<'a>,
    watch: Option<ChangeWatch>,
}

impl Removable<'_> {
    pub fn path(&self) -> &Path {
        &self.worktree.root
    }
}

impl std::fmt::Debug for Removable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Removable").field("path", &self.worktree.root).field("head", &self.head).finish()
    }
}

impl Driver {
    /// Proves that a worktree of ours holds no work, or returns every reason to keep it.
    pub fn prove_removable<'a>(
        &self,
        path: &Path,
        rules: RemovalRules<'a>,
    ) -> Result<Removable<'a>, Vec<KeepReason>> {
        let deadline = self.deadline();
        let (worktree, ready) = self.owned(path).map_err(|kept| vec![kept])?;
        let doubt = |error: &dyn std::fmt::Display| vec![KeepReason::unknown(error)];
        let git = Git::on(&worktree, deadline).map_err(|error| doubt(&error))?.with_settings(HIDE_NOTHING);
        let build_dirs = build_dirs::ignored_dirs(&git, rules.build_dirs).map_err(|error| doubt(&error))?;
        let (files, git_files) =
            look(&worktree, &ready.links, &build_dirs, deadline).map_err(|error| doubt(&error))?;
        // From here on a change shows in the file's times; an earlier one is seen by git, which looks later.
        files.settle();
        let watch = files.watch(&worktree.root);
        let mut kept = Vec::new();
        if (rules.in_use)(path) {
            kept.push(KeepReason::one(KeepCause::InUse, path.display().to_string()));
        }
        match mounts::below(&worktree.root) {
            Ok(points) => {
                kept.extend(points.iter().map(|point| {
                    KeepReason::unknown(format!("something is mounted at {}", point.display()))
                }));
            }
            Err(error) => kept.push(KeepReason::unknown(error)),
        }
        kept.extend(unfinished::unfinished(&worktree.git_dir));
        kept.extend(contents::odd_contents(&files));
        let head = match full_status(&git) {
            Ok((status, branch)) => {
                kept.extend(contents::work(&git, &status, &files, &ready, &build_dirs));
                Some((status.head, branch))
            }
            Err(error) => {
                kept.push(KeepReason::unknown(error));
                None
            }
        };
        kept.extend(contents::hidden(&git, &files).unwrap_or_else(|error| vec![KeepReason::unknown(error)]));
        let own = [head.as_ref().and_then(|(_, branch)| branch.clone()), Some(ready.branch.clone())];
        match BranchHistory::of(&worktree, own.into_iter().flatten().collect(), deadline) {
            Ok(history) => {
                let doubt = |unknown: UnknownState| Some(KeepReason::unknown(unknown));
                kept.extend(commits::work(&worktree, &history, deadline).unwrap_or_else(doubt));
                kept.extend(stash::work(&worktree, &history, deadline).unwrap_or_else(doubt));
            }
            Err(unknown) => kept.push(KeepReason::unknown(unknown)),
        }
        kept.extend(processes_in(&worktree.root, &files, ready.made_at));
        match look(&worktree, &ready.links, &build_dirs, deadline) {
            Ok((later, git_later)) if later.seal == files.seal && git_later.seal == git_files.seal => {}
            Ok(_) => kept.push(KeepReason::one(KeepCause::Changed, "somebody changed it meanwhile")),
            Err(error) => kept.push(KeepReason::unknown(error)),
        }
        match head {
            Some((Some(head), branch)) if kept.is_empty() => {
                let git = git_files.seal;
                Ok(Removable { worktree, ready, head, branch, build_dirs, files, git, rules, watch })
            }
            Some((None, _)) => {
                kept.push(KeepReason::unknown("it has no commit"));
                Err(kept)
            }
            Some((Some(_), _)) | None => Err(kept),
        }
    }

    /// Whether a worktree is still as it was proven, wherever it is now.
    pub(super) fn is_still(&self, proof: &Removable<'_>, deadline: Instant) -> Vec<KeepReason> {
        let Removable { worktree, ready, rules, .. } = proof;
        let mut kept = Vec::new();
        if (rules.in_use)(&worktree.root) {
            kept.push(KeepReason::one(KeepCause::InUse, worktree.root.display().to_string()));
        }
        // Our links are excluded from the seal only while they are ours.
        let is_silent = proof.watch.as_ref().is_some_and(ChangeWatch::is_silent);
        let is_same = || {
            is_silent
                || look_at_files(worktree, &ready.links, &proof.build_dirs, deadline)
                    .is_ok_and(|it| it.seal == proof.files.seal)
        };
        let is_git_same = || look_at_git(&worktree.git_dir, deadline).is_ok_and(|git| git.seal == proof.git);
        match is_git_same() && is_same() {
            true => kept.extend(processes_in(&worktree.root, &proof.files, ready.made_at)),
            false => kept.push(KeepReason::one(KeepCause::Changed, "it is not as it was when it was proven")),
        }
        kept
    }
}

/// Surveys all files of a worktree and of its git directory.
pub(super) fn look(
    worktree: &WorktreeDirs,
    links: &[SharedLink],
    build_dirs: &[InnerPath],
    deadline: Instant,
) -> std::io::Result<(Survey, Survey)> {
    Ok((look_at_files(worktree, links, build_dirs, deadline)?, look_at_git(&worktree.git_dir, deadline)?))
}

/// Without our unchanged links, and build directories.
fn look_at_files(
    worktree: &WorktreeDirs,
    links: &[SharedLink],
    build_dirs: &[InnerPath],
    deadline: Instant,
) -> std::io::Result<Survey> {
    let links = links.iter().filter(|link| super::links::is_ours(&worktree.root, link));
    let links = links.map(|link| link.path.as_path().to_owned());
    let build_dirs = build_dirs.iter().map(|dir| dir.as_path().to_owned());
    Survey::of(&Root::open(&worktree.root)?, &Except { paths: links.chain(build_dirs).collect() }, deadline)
}

/// Without what we write ourselves.
pub(super) fn look_at_git(git_dir: &Path, deadline: Instant) -> std::io::Result<Survey> {
    let except = Except { paths: ["gitdir", "locked", RECORD_FILE].map(PathBuf::from).into() };
    Survey::of(&Root::open(git_dir)?, &except, deadline)
}

/// Surveys a worktree in the trash in the same way. Our links are gone from there, or should be.
pub(super) fn look_in_trash(
    dir: &Root,
    proven: &ProvenRemovable,
    deadline: Instant,
) -> std::io::Result<(Survey, Survey)> {
    let (root, git_dir) = (dir.path().join(FILES), dir.path().join(GIT_ENTRY));
    look(&WorktreeDirs { root, git_dir }, &proven.links, &proven.build_dirs, deadline)
}

/// Everything that differs from the commit, including ignored files; and the branch that is checked out.
fn full_status(git: &Git<'_>) -> Result<(WorktreeStatus, Option<Branch>), UnknownState> {
    let query = StatusQuery { ignored: true, submodules: true, ..StatusQuery::default() };
    let status = WorktreeStatus::ask(git, query)?.without_complaints(git)?;
    let branch = |name: &Vec<u8>| {
        let unknown = || unreadable("git status", name);
        Branch::parse(str::from_utf8(name).map_err(|_| unknown())?).map_err(|_| unknown())
    };
    let branch = status.branch.as_ref().map(branch).transpose()?;
    Ok((status, branch))
}

/// Checks that an unused worktree is exactly its commit.
pub(super) fn check_pristine(
    worktree: &WorktreeDirs,
    commit: &CommitId,
    deadline: Instant,
) -> Result<(), WorktreeError> {
    let git = Git::on(worktree, deadline)?.with_settings(HIDE_NOTHING);
    let (status, _) = full_status(&git)?;
    match status.head.as_ref() == Some(commit) && status.entries.is_empty() {
        true => Ok(()),
        false => Err(WorktreeError::git(format!("{} is not as it was checked out", worktree.root.display()))),
    }
}
