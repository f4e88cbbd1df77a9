//! Worktrees for agents: makes them, keeps some ready, and removes them only when no work can be lost.
//!
//! Nothing is ever deleted but what is proven to be committed, and only after a week in the trash. Callers pass
//! names, paths and closures; agents and locks are not known here.

mod base;
mod claim;
mod commit;
mod create;
mod disk;
mod failure;
mod git_entry;
mod hook;
mod include;
mod include_list;
mod leftovers;
mod links;
mod list;
mod main_branch;
mod merge;
mod mounts;
mod names;
mod pool;
mod proof;
mod purge;
mod record;
mod recover;
mod remove;
mod reserve;
mod restore;
mod save;
mod set_aside;
mod setup;
mod slug;
mod step;
mod survey;
mod translate;
mod trash;
mod watch;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::dot_git::{self, DotGit};
use crate::umask::{as_user, share_like};
use crate::worktrees::{self, WorktreeDirs};

pub use commit::{BaseCommit, CommitId};
pub use create::{MadeWorktree, NewWorktree};
pub use failure::{FailureKind, WorktreeError};
pub use hook::WorktreeHook;
pub use leftovers::Leftover;
pub use list::ListedWorktree;
pub use merge::{Conflict, MERGED, MergeChange, MergePlan, MergeTurn, Merged, Person, Side, WaitingMerge};
pub use names::{Branch, InnerPath};
pub use pool::Filled;
pub use proof::{KeepCause, KeepReason, Removable, RemovalRules};
pub use purge::{Purged, TRASH_KEPT_FOR};
pub use record::{Copied, SharedLink};
pub use reserve::Reserved;
pub use restore::RestoredWorktree;
pub use setup::{Linked, Setup, SetupDone, SkippedCopy};
pub use slug::{SLUG_CHARS_MAX, Slug};
pub use step::WorktreeStep;
pub use translate::translate;
pub use trash::Trashed;

use failure::FailureKind::BadPlace;

/// Where worktrees are kept: three directories on the repository's file system, none inside another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// Those that somebody works in.
    pub worktrees: PathBuf,
    /// Those that were removed, for a week.
    pub trash: PathBuf,
    /// Those that are ready to be handed out.
    pub pool: PathBuf,
}

impl Places {
    /// The three directories in one.
    pub fn within(dir: &Path) -> Places {
        Places { worktrees: dir.join("worktrees"), trash: dir.join("trash"), pool: dir.join("pool") }
    }

    fn all(&self) -> [&PathBuf; 3] {
        [&self.worktrees, &self.trash, &self.pool]
    }
}

/// The worktrees of one project.
pub struct Driver {
    common_dir: PathBuf,
    places: Places,
    patience: Duration,
    watch: Box<dyn Fn(WorktreeStep) + Send + Sync>,
    /// The watches over the worktrees of the pool, by name.
    watches: Mutex<HashMap<String, watch::ChangeWatch>>,
    /// Whether crash leftovers in the pool have been cleared.
    is_recovered: AtomicBool,
}

impl Driver {
    /// Manages the worktrees of a project, given its common git directory. Creates the places if need be.
    ///
    /// Nothing takes longer than `patience`; what would is given up.
    pub fn open(common_dir: &Path, places: &Places, patience: Duration) -> Result<Driver, WorktreeError> {
        let common_dir = common_dir.canonicalize().map_err(WorktreeError::disk(common_dir))?;
        let make = |place: &PathBuf| -> Result<PathBuf, WorktreeError> {
            let is_new = |dir: &&Path| !dir.exists();
            let new: Vec<&Path> = place.ancestors().take(2).filter(is_new).collect();
            as_user(|| fs::create_dir_all(place)).map_err(WorktreeError::disk(place))?;
            new.into_iter().for_each(|dir| share_like(&common_dir, dir));
            place.canonicalize().map_err(WorktreeError::disk(place))
        };
        let places = Places {
            worktrees: make(&places.worktrees)?,
            trash: make(&places.trash)?,
            pool: make(&places.pool)?,
        };
        check_places(&common_dir, &places)?;
        Ok(Driver {
            common_dir,
            places,
            patience,
            watch: Box::new(|_| {}),
            watches: Mutex::default(),
            is_recovered: AtomicBool::new(false),
        })
    }

    /// The same, reporting each finished step.
    pub fn watched(mut self, watch: impl Fn(WorktreeStep) + Send + Sync + 'static) -> Driver {
        self.watch = Box::new(watch);
        self
    }

    /// Symlinks resolved.
    pub fn places(&self) -> &Places {
        &self.places
    }

    fn done(&self, step: WorktreeStep) {
        (self.watch)(step);
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// The project itself, for questions about refs and commits.
    fn project(&self) -> WorktreeDirs {
        WorktreeDirs { root: self.common_dir.clone(), git_dir: self.common_dir.clone() }
    }

    /// The user's own checkout, if it can be found.
    fn main(&self) -> Result<Option<WorktreeDirs>, WorktreeError> {
        worktrees::main(&self.common_dir).map_err(WorktreeError::disk(&self.common_dir))
    }

    /// The worktree at a path, if it is one of this project and not the main one.
    fn linked(&self, path: &Path) -> Option<WorktreeDirs> {
        let dirs = match dot_git::look(path) {
            Ok(DotGit::Leads(dirs)) => dirs,
            Ok(DotGit::None | DotGit::Broken) | Err(_) => return None,
        };
        let is_ours = dirs.git_dir.parent() == Some(&self.common_dir.join("worktrees"));
        is_ours.then(|| WorktreeDirs { root: path.to_owned(), git_dir: dirs.git_dir })
    }
}

/// Seconds since 1970.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Checks that a worktree can be renamed between the places, and shows in nobody's `git status`.
fn check_places(common_dir: &Path, places: &Places) -> Result<(), WorktreeError> {
    let refuse = |message: String, hint| Err(WorktreeError::new(BadPlace, message, hint));
    let device = |path: &Path| rustix::fs::stat(path).map(|stat| stat.st_dev);
    let all = worktrees::list(common_dir).map_err(WorktreeError::disk(common_dir))?;
    for place in places.all() {
        let name = place.display();
        if place.to_str().is_none() {
            return refuse(format!("{name} is not UTF-8"), "choose another directory");
        }
        if places.all().iter().filter(|other| other.starts_with(place)).count() > 1 {
            return refuse(
                format!("{name} has another of the places in it"),
                "give each a directory of its own",
            );
        }
        if device(place).ok() != device(common_dir).ok() {
            let message = format!("{name} is on another file system than {}", common_dir.display());
            return refuse(message, "worktrees are moved by a rename: keep both on one");
        }
        let is_inside = |root: &Path| place.starts_with(root) && !place.starts_with(common_dir);
        if let Some(worktree) = all.worktrees.iter().find(|worktree| is_inside(&worktree.root)) {
            let message = format!("{name} is inside the checkout {}", worktree.root.display());
            return refuse(
                message,
                "it would show in its `git status`: keep it outside, or in git's directory",
            );
        }
    }
    Ok(())
}
