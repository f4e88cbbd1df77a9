//! Makes a worktree from scratch, or leaves nothing behind.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::commit::BaseCommit;
use super::disk::Root;
use super::failure::{FailureKind, WorktreeError};
use super::names::{Branch, InnerPath};
use super::record::{Maker, Ready, WorktreeRecord};
use super::reserve::Reserved;
use super::setup::{Preparation, Setup, SetupDone};
use super::slug::Slug;
use super::step::WorktreeStep;
use super::{Driver, links, seconds};
use crate::git::Git;
use crate::parse::parts;
use crate::worktrees::WorktreeDirs;

/// Settings for commands that change the list of worktrees: both sides refer to each other by absolute paths, so that
/// either can be moved.
pub(super) const ADD_SETTINGS: &[(&str, &str)] = &[("worktree.useRelativePaths", "false")];
/// Why git must not prune an unfinished worktree.
pub(super) const MAKING: &str = "it is being made";

/// A worktree that somebody asks for.
#[derive(Clone, Debug)]
pub struct NewWorktree<'a> {
    pub slug: &'a Slug,
    /// `comity/<slug>` if `None`. It must not exist.
    pub branch: Option<&'a Branch>,
    pub base: &'a str,
    pub setup: &'a Setup,
    /// Its name, if it was reserved before; otherwise it is reserved while it is made.
    pub reserved: Option<&'a Reserved>,
}

/// A worktree that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MadeWorktree {
    pub slug: Slug,
    pub path: PathBuf,
    /// `None` if a hook made the worktree without one.
    pub branch: Option<Branch>,
    pub base: BaseCommit,
    pub setup: SetupDone,
    /// Files that a filter of the repository would have changed (as for Git LFS): they are as committed.
    pub unfiltered: usize,
    pub warnings: Vec<String>,
}

impl NewWorktree<'_> {
    pub(super) fn branch(&self) -> Result<Branch, WorktreeError> {
        self.branch.map_or_else(|| Branch::parse(&self.slug.branch()), |branch| Ok(branch.clone()))
    }
}

/// What was begun, and has to be undone if it fails.
pub(super) struct BegunWorktree {
    pub(super) slug: Slug,
    pub(super) path: PathBuf,
    pub(super) branch: Branch,
    pub(super) base: BaseCommit,
    pub(super) has_branch: bool,
}

/// What there is to know about a new worktree's files.
pub(super) struct CheckedOut {
    /// Files that a filter would have changed.
    pub(super) unfiltered: usize,
    /// The directory with the hooks of the user's checkout, which it may need.
    pub(super) hooks: Option<InnerPath>,
    pub(super) warnings: Vec<String>,
}

impl Driver {
    /// Makes a worktree with a branch of its own. If anything fails, neither is left.
    pub fn create(&self, new: &NewWorktree<'_>) -> Result<MadeWorktree, WorktreeError> {
        let deadline = self.deadline();
        let branch = new.branch()?;
        let own;
        let reserved = match new.reserved {
            Some(reserved) => reserved,
            None => {
                own = self.reserve(new.slug)?;
                &own
            }
        };
        self.check_folder(new.slug)?;
        self.check_room()?;
        let project = self.project();
        let held = reserved.file();
        let git = Git::on_refs(&project, deadline).with_settings(ADD_SETTINGS).holding(held);
        let base = self.base_for(&git, new.base, &branch)?;
        reserved.note(new.slug, &branch, &base)?;
        let place = self.place(&self.places.worktrees)?;
        match place.make_dir(&new.slug.folder()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let message = format!("there is a worktree {} already", new.slug);
                return Err(WorktreeError::new(FailureKind::Taken, message, "take another name"));
            }
            made => made.map_err(WorktreeError::disk(place.path()))?,
        }
        self.done(WorktreeStep::Reserved);
        let path = self.places.worktrees.join(new.slug.folder());
        let mut begun = BegunWorktree { slug: new.slug.clone(), path, branch, base, has_branch: false };
        self.make(&git, &mut begun, new.setup, held, deadline)
            .map_err(|failure| self.take_back(&begun, failure))
    }

    fn make(
        &self,
        git: &Git<'_>,
        begun: &mut BegunWorktree,
        setup: &Setup,
        held: &File,
        deadline: Instant,
    ) -> Result<MadeWorktree, WorktreeError> {
        // The branch is created first and by itself: if this succeeds it is ours, otherwise not.
        let (branch, commit) = (begun.branch.full(), begun.base.commit.as_str());
        let reason = format!("branch: Created from {}", begun.base.name);
        let zero = "0".repeat(commit.len());
        git.tell(&["update-ref", "--create-reflog", "-m", &reason, &branch, commit, &zero], b"")?;
        begun.has_branch = true;
        self.done(WorktreeStep::BranchMade);

        let path = begun.path.to_str().unwrap_or_default();
        let add = ["worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", MAKING];
        let output = git.tell(&[&add[..], &["--", path, begun.branch.as_str()]].concat(), b"")?;
        let warnings = complaints(&output.stderr);
        self.done(WorktreeStep::Added);

        let worktree = self.linked(&begun.path).ok_or_else(|| {
            WorktreeError::git(format!("git made {} and it is not a worktree", begun.path.display()))
        })?;
        let BegunWorktree { slug, branch, base, .. } = &*begun;
        WorktreeRecord::Making { slug: slug.clone(), branch: branch.clone(), base: base.clone() }
            .write(&worktree.git_dir)?;
        self.done(WorktreeStep::Recorded);

        let mut files = self.check_out(&worktree, held, deadline)?;
        files.warnings.splice(..0, warnings);
        let head = self.resolve(&Git::on_refs(&worktree, deadline), "HEAD")?;
        if head != begun.base.commit {
            return Err(WorktreeError::git(format!(
                "the new worktree is at {head}, not at {}",
                begun.base.commit
            )));
        }
        self.done(WorktreeStep::CheckedOut);

        let preparation = self.prepare(setup, deadline)?;
        self.hand_over(&worktree, begun, preparation, files, deadline)
    }

    /// Fills a worktree without files.
    ///
    /// Git could do it while adding the worktree, but there may be filters that exist only in the new worktree: they
    /// can be found once it exists.
    pub(super) fn check_out(
        &self,
        worktree: &WorktreeDirs,
        held: &File,
        deadline: Instant,
    ) -> Result<CheckedOut, WorktreeError> {
        let git = Git::on(worktree, deadline)?.holding(held);
        let output = git.tell(&["reset", "--hard", "--quiet", "--no-recurse-submodules"], b"")?;
        let hooks = match self.main()? {
            Some(main) => links::hooks_dir(&Git::on_refs(&main, deadline))?,
            None => None,
        };
        Ok(CheckedOut { unfiltered: unfiltered(&git)?, hooks, warnings: complaints(&output.stderr) })
    }

    /// What a new worktree will get from the main worktree, if there is one.
    pub(super) fn prepare(&self, setup: &Setup, deadline: Instant) -> Result<Preparation, WorktreeError> {
        match self.main()? {
            Some(main) => Preparation::of(&Git::on_refs(&main, deadline), setup),
            None => Ok(Preparation::without_main(setup)),
        }
    }

    /// The last steps: setup, and that it is somebody's from now on.
    pub(super) fn hand_over(
        &self,
        worktree: &WorktreeDirs,
        begun: &BegunWorktree,
        preparation: Preparation,
        files: CheckedOut,
        deadline: Instant,
    ) -> Result<MadeWorktree, WorktreeError> {
        let CheckedOut { unfiltered, hooks, warnings } = files;
        let done = preparation.apply(&Git::on_refs(worktree, deadline), hooks)?;
        self.done(WorktreeStep::SetUp);
        let BegunWorktree { slug, path, branch, base, .. } = begun;
        let (slug, branch, base) = (slug.clone(), branch.clone(), base.clone());
        let ready = Ready {
            slug: slug.clone(),
            branch: branch.clone(),
            base: base.clone(),
            made_at: seconds(SystemTime::now()),
            copied: done.copied.clone(),
            links: done.links(),
            made_by: Maker::Us,
        };
        WorktreeRecord::Ready(ready).write(&worktree.git_dir)?;
        let git_dir = Root::open(&worktree.git_dir).map_err(WorktreeError::disk(&worktree.git_dir))?;
        git_dir.unlink("locked").map_err(WorktreeError::disk(&worktree.git_dir))?;
        self.done(WorktreeStep::Made);
        Ok(MadeWorktree {
            slug,
            path: path.clone(),
            branch: Some(branch),
            base,
            setup: done,
            unfiltered,
            warnings,
        })
    }

    /// Undoes what was begun, and reports that. What has files goes to the trash, and stays there.
    pub(super) fn take_back(&self, begun: &BegunWorktree, failure: WorktreeError) -> WorktreeError {
        let why = format!("it could not be made: {failure}");
        let failure = match self.set_aside_path(Some(&begun.slug), &begun.path, &why) {
            Ok(None) => failure,
            Ok(Some(id)) => failure.and(&format!("what there was of it is in the trash as {id}")),
            Err(error) => {
                failure.and(&format!("what there is of it stays in {}: {error}", begun.path.display()))
            }
        };
        if !begun.has_branch {
            return failure;
        }
        let project = self.project();
        let git = Git::on_refs(&project, self.deadline());
        // Nothing can be lost: the branch is deleted only if it is still at its base.
        match git.tell(&["update-ref", "-d", &begun.branch.full(), begun.base.commit.as_str()], b"") {
            Ok(_) => failure,
            Err(error) => failure.and(&format!("the branch {} stays: {error}", begun.branch)),
        }
    }

    /// One of the places, held open.
    pub(super) fn place(&self, place: &Path) -> Result<Root, WorktreeError> {
        Root::open(place).map_err(WorktreeError::disk(place))
    }
}

/// How many files a filter would have changed.
fn unfiltered(git: &Git<'_>) -> Result<usize, WorktreeError> {
    let is_plain =
        |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let specs = git.filters().filter(is_plain).map(|name| format!(":(top,attr:filter={name})").into());
    let specs: Vec<std::ffi::OsString> = specs.collect();
    if specs.is_empty() {
        return Ok(0);
    }
    let output = git.ask("ls-files", &["-z"], &specs)?;
    Ok(parts(&output).count())
}

fn complaints(stderr: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(stderr)
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.trim().is_empty())
        .collect()
}
