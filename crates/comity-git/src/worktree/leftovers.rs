//! What crashes left: found at start, told apart, and never deleted.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use comity_core::calls;
use comity_core::next_call::NextCall;

use super::Driver;
use super::create::MAKING;
use super::failure::WorktreeError;
use super::pool::READY;
use super::record::WorktreeRecord;
use super::reserve::ReservationState;
use super::slug::Slug;
use super::trash::{FILES, GIT_ENTRY, PURGING};
use crate::worktrees::WorktreeDirs;

/// Something left by a crash.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Leftover {
    /// A worktree that was begun and never handed out, or was on its way from the pool.
    HalfMade {
        path: PathBuf,
        /// What it was to be called, if that was recorded.
        slug: Option<String>,
    },
    /// A directory without an entry in git.
    NoGitEntry { path: PathBuf },
    /// An entry in git for a worktree that does not exist.
    NoFiles { path: PathBuf, git_entry: PathBuf },
    /// A worktree that is only partly in the trash: restoring it puts the parts together.
    HalfRemoved {
        /// Its name in the trash.
        id: String,
        path: PathBuf,
    },
    /// Something in our places that we did not make.
    Unknown { path: PathBuf },
}

impl Leftover {
    /// Where it is, or was.
    pub fn path(&self) -> &Path {
        match self {
            Leftover::HalfMade { path, .. }
            | Leftover::NoGitEntry { path }
            | Leftover::NoFiles { path, .. }
            | Leftover::HalfRemoved { path, .. }
            | Leftover::Unknown { path } => path,
        }
    }
}

impl Leftover {
    pub fn next_step(&self) -> String {
        match self {
            Leftover::HalfMade { slug: Some(slug), .. } => {
                let add = NextCall::of(calls::WORKTREE_ADD, [("slug", slug.to_string().into())]);
                format!("make it again with: {add} (what there is of it goes to the trash)")
            }
            Leftover::HalfRemoved { id, .. } => {
                let restore = NextCall::of(calls::WORKTREE_RESTORE, [("slug", id.as_str().into())]);
                format!("bring it back with: {restore}")
            }
            Leftover::NoFiles { .. } => "let git forget it with: git worktree prune".into(),
            Leftover::HalfMade { slug: None, .. }
            | Leftover::NoGitEntry { .. }
            | Leftover::Unknown { .. } => "look at it, and move it away by hand".into(),
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leftover::HalfMade { path, slug: None } => write!(f, "{} was never finished", path.display()),
            Leftover::HalfMade { path, slug: Some(slug) } => {
                write!(f, "{} was to be the worktree {slug} and was never finished", path.display())
            }
            Leftover::NoGitEntry { path } => {
                write!(f, "git knows nothing of a worktree in {}", path.display())
            }
            Leftover::NoFiles { path, git_entry } => {
                write!(
                    f,
                    "git has the entry {} for {}, which is not there",
                    git_entry.display(),
                    path.display()
                )
            }
            Leftover::HalfRemoved { id, path } => {
                write!(f, "{} is in the trash only in part, as {id}", path.display())
            }
            Leftover::Unknown { path } => write!(f, "{} is not ours", path.display()),
        }
    }
}

impl Driver {
    /// Finds what crashes left in our places. Complete worktrees are not included.
    pub fn leftovers(&self) -> Result<Vec<Leftover>, WorktreeError> {
        let mut found = self.left_in_trash()?;
        for place in [&self.places.worktrees, &self.places.pool] {
            for path in visible(place)? {
                found.extend(self.left_at(&path, place == &self.places.pool));
            }
        }
        found.extend(self.left_without_files(&found)?);
        found.sort();
        Ok(found)
    }

    /// Git's entries for worktrees in our places that do not exist, except those known to be half removed.
    pub(super) fn left_without_files(&self, known: &[Leftover]) -> Result<Vec<Leftover>, WorktreeError> {
        let is_ours = |path: &Path| {
            path.parent().is_some_and(|it| it == self.places.worktrees || it == self.places.pool)
        };
        let mut found = Vec::new();
        for (git_entry, marker) in self.git_entries()? {
            let Some(path) = marker.parent().filter(|path| is_ours(path)).map(Path::to_owned) else {
                continue;
            };
            let is_half_removed =
                known.iter().any(|it| matches!(it, Leftover::HalfRemoved { path: was, .. } if *was == path));
            // One that has moved is reported by where it is now.
            if !is_half_removed && !path.exists() && !self.is_elsewhere(&git_entry)? {
                found.push(Leftover::NoFiles { path, git_entry });
            }
        }
        Ok(found)
    }

    /// What is wrong with something in the directory of worktrees or of the pool, if anything is.
    fn left_at(&self, path: &Path, is_pool: bool) -> Option<Leftover> {
        let folder = path.file_name().and_then(|name| name.to_str()).filter(|_| !is_pool);
        match folder.map_or(ReservationState::No, |folder| self.making(folder)) {
            ReservationState::No => {}
            ReservationState::Now => return None,
            ReservationState::Left(slug) => {
                return Some(Leftover::HalfMade { path: path.to_owned(), slug: Some(slug.to_string()) });
            }
        }
        self.left_there(path, is_pool)
    }

    /// What a crash of an older server left of a worktree, if it is half made.
    pub(super) fn left_half_made(&self, slug: &Slug) -> Option<Leftover> {
        let path = self.places.worktrees.join(slug.folder());
        let left = path.symlink_metadata().ok().and_then(|_| self.left_there(&path, false));
        left.filter(|left| matches!(left, Leftover::HalfMade { .. }))
    }

    pub(super) fn left_there(&self, path: &Path, is_pool: bool) -> Option<Leftover> {
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Some(Leftover::Unknown { path: path.to_owned() });
        }
        let Some(worktree) = self.linked(path).filter(|worktree| self.has_moved_here(worktree)) else {
            return Some(Leftover::NoGitEntry { path: path.to_owned() });
        };
        let half_made = |slug| Some(Leftover::HalfMade { path: path.to_owned(), slug });
        match WorktreeRecord::read(&worktree.git_dir) {
            Ok(Some(WorktreeRecord::Ready(_)))
                if !is_pool && is_settled(&worktree) && !is_held(&worktree) =>
            {
                None
            }
            Ok(Some(WorktreeRecord::Pooled(_))) if is_pool && is_settled(&worktree) => None,
            Ok(Some(WorktreeRecord::Making { slug, .. })) => half_made(Some(slug.to_string())),
            Ok(Some(WorktreeRecord::Ready(ready))) => half_made(Some(ready.slug.to_string())),
            Ok(Some(WorktreeRecord::Pooled(_)) | None) | Err(_) => half_made(None),
        }
    }

    /// Whether some directory in our places leads to this entry of git.
    pub(super) fn is_elsewhere(&self, git_entry: &Path) -> Result<bool, WorktreeError> {
        for place in [&self.places.worktrees, &self.places.pool] {
            let leads_there = |path: &PathBuf| self.linked(path).is_some_and(|it| it.git_dir == git_entry);
            if visible(place)?.iter().any(leads_there) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn left_in_trash(&self) -> Result<Vec<Leftover>, WorktreeError> {
        let mut found = Vec::new();
        for id in self.trash_names()?.into_iter().filter(|id| !id.ends_with(PURGING)) {
            let Ok((dir, entry)) = self.trash_entry(&id) else {
                found.push(Leftover::Unknown { path: self.places.trash.join(id) });
                continue;
            };
            let is_in_trash = |name: &str| dir.kind(Path::new(name)).is_ok_and(|kind| kind.is_some());
            let is_in_place = entry.git_entry.as_ref().is_some_and(|name| {
                let git_entry = self.common_dir.join("worktrees").join(name);
                self.entries_for(&entry.path).is_ok_and(|entries| entries.contains(&git_entry))
            });
            // Everything is in the trash, or somebody has put it all back.
            let is_whole = is_in_trash(GIT_ENTRY) || (is_in_trash(FILES) && !is_in_place);
            if !is_whole {
                found.push(Leftover::HalfRemoved { id, path: entry.path });
            }
        }
        Ok(found)
    }
}

/// Whether a worktree is where git thinks it is.
fn is_settled(worktree: &WorktreeDirs) -> bool {
    let says = crate::dot_git::pointer(&worktree.git_dir.join("gitdir"));
    let marker = worktree.root.join(".git");
    says.is_ok_and(|says| says.as_deref() == Some(marker.as_os_str().as_encoded_bytes()))
}

/// Whether we still have it locked, as all are until they are handed out.
fn is_held(worktree: &WorktreeDirs) -> bool {
    let reason = crate::dot_git::pointer(&worktree.git_dir.join("locked"));
    reason.is_ok_and(|reason| {
        reason.is_some_and(|reason| [MAKING, READY].map(str::as_bytes).contains(&reason.as_slice()))
    })
}

/// What is in a place, without names that begin with a dot.
pub(super) fn visible(place: &Path) -> Result<Vec<PathBuf>, WorktreeError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(place).map_err(WorktreeError::disk(place))? {
        let entry = entry.map_err(WorktreeError::disk(place))?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}
