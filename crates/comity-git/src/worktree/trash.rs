//! The trash: removed worktrees, each with what is needed to restore it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::commit::CommitId;
use super::disk::Root;
use super::failure::{FailureKind, WorktreeError};
use super::names::{Branch, InnerPath, random_suffix};
use super::record::{SharedLink, decode, encode};
use super::reserve::INTERRUPTED;
use super::slug::Slug;
use super::step::WorktreeStep;
use super::survey::Seal;
use super::{Driver, seconds};
use crate::fair_lock::FairLock;

/// The record of an entry.
pub(super) const ENTRY_FILE: &str = "entry.json";
/// The files of the worktree.
pub(super) const FILES: &str = "files";
/// Git's entry for the worktree.
pub(super) const GIT_ENTRY: &str = "git";
/// Suffix of an entry that is being deleted.
pub(super) const PURGING: &str = ".purging";
const ENTRY_BYTES_MAX: u64 = 8 << 20;
/// Entries set aside without a proof; beyond that nothing new is made until somebody looks at them.
const SET_ASIDE_MAX: usize = 64;
/// The same for interrupted ones: each is the trace of a crash.
const INTERRUPTED_MAX: usize = 512;

/// Something in the trash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trashed {
    /// Its name in the trash.
    pub id: String,
    /// The worktree's name, if it had one.
    pub slug: Option<Slug>,
    pub path: PathBuf,
    pub removed_at: SystemTime,
    /// Why it was set aside without a proof that it holds no work; such an entry is never deleted.
    pub set_aside: Option<String>,
    /// The ref that keeps its commit, if it was proven.
    pub saved_as: Option<String>,
    /// Whether it is all back where it was, and only its owner is not recorded yet.
    pub is_back: bool,
}

/// The record of something in the trash.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrashEntry {
    pub(super) id: String,
    pub(super) slug: Option<Slug>,
    pub(super) path: PathBuf,
    /// The name of git's entry.
    pub(super) git_entry: Option<String>,
    /// In seconds since 1970.
    pub(super) removed_at: u64,
    /// And the part of a second: of two the later one is restored first.
    #[serde(default)]
    pub(super) removed_at_nanos: u32,
    pub(super) reason: Reason,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_back: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Reason {
    /// Every proof held: there is no work in it.
    Proven(ProvenRemovable),
    /// It was in the way; nobody knows what is in it.
    SetAside { message: String },
}

/// What was proven, and what brings it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProvenRemovable {
    pub(super) head: CommitId,
    /// The branch that goes with it.
    pub(super) branch: Option<Branch>,
    /// The ref that keeps its commit.
    pub(super) saved_as: String,
    pub(super) links: Vec<SharedLink>,
    pub(super) build_dirs: Vec<InnerPath>,
    pub(super) files: Seal,
    pub(super) git: Seal,
}

impl From<TrashEntry> for Trashed {
    fn from(entry: TrashEntry) -> Trashed {
        let (set_aside, saved_as) = match entry.reason {
            Reason::Proven(proven) => (None, Some(proven.saved_as)),
            Reason::SetAside { message } => (Some(message), None),
        };
        let removed_at = UNIX_EPOCH + Duration::new(entry.removed_at, entry.removed_at_nanos);
        let TrashEntry { id, slug, path, is_back, .. } = entry;
        Trashed { id, slug, path, removed_at, set_aside, saved_as, is_back }
    }
}

impl Driver {
    /// The trash, oldest first, without what is not ours.
    pub fn trashed(&self) -> Result<Vec<Trashed>, WorktreeError> {
        let mut all = Vec::new();
        for id in self.trash_names()? {
            let Ok((_, entry)) = self.trash_entry(&id) else { continue };
            all.push(Trashed::from(entry));
        }
        all.sort_by(|a, b| (a.removed_at, &a.id).cmp(&(b.removed_at, &b.id)));
        Ok(all)
    }

    /// The trash entry of a worktree of ours, if it went there and nothing is left where it was.
    pub fn trashed_from(&self, path: &Path) -> Result<Option<Trashed>, WorktreeError> {
        if path.symlink_metadata().is_ok() || !self.entries_for(path)?.is_empty() {
            return Ok(None);
        }
        let mut all = self.trashed()?;
        all.retain(|trashed| trashed.path == path && trashed.set_aside.is_none());
        Ok(all.pop())
    }

    /// Keeps the trash from filling up with what nobody looks at.
    pub(super) fn check_room(&self) -> Result<(), WorktreeError> {
        let reasons: Vec<String> =
            self.trashed()?.into_iter().filter_map(|trashed| trashed.set_aside).collect();
        let set_aside = reasons.len();
        let interrupted = reasons.iter().filter(|reason| *reason == INTERRUPTED).count();
        if set_aside - interrupted < SET_ASIDE_MAX && interrupted < INTERRUPTED_MAX {
            return Ok(());
        }
        let message = format!("{set_aside} things were set aside in {}", self.places.trash.display());
        Err(WorktreeError::new(FailureKind::Busy, message, "look at them, and delete what is not needed"))
    }

    /// The names in the trash, without those of ours that begin with a dot.
    pub(super) fn trash_names(&self) -> Result<Vec<String>, WorktreeError> {
        let trash = &self.places.trash;
        let mut names = Vec::new();
        for entry in fs::read_dir(trash).map_err(WorktreeError::disk(trash))? {
            names.extend(entry.map_err(WorktreeError::disk(trash))?.file_name().into_string());
        }
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        Ok(names)
    }

    /// Only one at a time changes the trash.
    pub(super) fn turn_at_trash(&self, deadline: Instant) -> Result<FairLock, WorktreeError> {
        let path = self.places.trash.join(".lock");
        FairLock::wait(&path, deadline).map_err(WorktreeError::no_turn(&path))
    }

    pub(super) fn trash_entry(&self, id: &str) -> Result<(Root, TrashEntry), WorktreeError> {
        let no = |problem: String| {
            WorktreeError::new(
                FailureKind::NotFound,
                format!("{id:?} in the trash: {problem}"),
                "look at what is there",
            )
        };
        let place = self.place(&self.places.trash)?;
        let dir = place.dir(Path::new(id)).map_err(|error| no(error.to_string()))?;
        let bytes =
            dir.read(Path::new(ENTRY_FILE), ENTRY_BYTES_MAX).map_err(|error| no(error.to_string()))?;
        let bytes = bytes.ok_or_else(|| no("nothing is written down about it".into()))?;
        let entry: TrashEntry = decode(&bytes).map_err(|error| no(error.to_string()))?;
        match entry.id == id.strip_suffix(PURGING).unwrap_or(id) {
            true => Ok((dir, entry)),
            false => Err(no(format!("it says that it is {:?}", entry.id))),
        }
    }

    /// A new entry, not recorded yet.
    pub(super) fn new_entry(
        &self,
        slug: Option<&Slug>,
        path: &Path,
        git_dir: Option<&Path>,
        reason: Reason,
    ) -> Result<TrashEntry, WorktreeError> {
        let folder = path.file_name().and_then(|name| name.to_str()).unwrap_or("worktree");
        let now = SystemTime::now();
        Ok(TrashEntry {
            id: format!("{folder}-{}", random_suffix()?),
            slug: slug.cloned(),
            path: path.to_owned(),
            git_entry: git_dir.and_then(|dir| Some(dir.file_name()?.to_str()?.to_owned())),
            removed_at: seconds(now),
            removed_at_nanos: now.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos()),
            reason,
            is_back: false,
        })
    }

    /// Creates an entry's directory and writes its record durably.
    pub(super) fn begin_entry(&self, entry: &TrashEntry) -> Result<Root, WorktreeError> {
        let place = self.place(&self.places.trash)?;
        let disk = || WorktreeError::disk(place.path());
        // Hidden until something is written down about it, so that a crash in between leaves nothing to wonder about.
        let unwritten = hidden(&entry.id);
        place.make_dir(&unwritten).map_err(disk())?;
        self.write_entry(&place.dir(Path::new(&unwritten)).map_err(disk())?, entry)?;
        place.rename(&unwritten, &place, &entry.id).map_err(disk())?;
        place.sync().map_err(disk())?;
        place.dir(Path::new(&entry.id)).map_err(disk())
    }

    pub(super) fn write_entry(&self, dir: &Root, entry: &TrashEntry) -> Result<(), WorktreeError> {
        let write = || dir.write(ENTRY_FILE, &encode(entry)?);
        write().map_err(WorktreeError::disk(&dir.path().join(ENTRY_FILE)))
    }

    /// Removes an entry that contains only its record.
    pub(super) fn end_entry(&self, entry: &TrashEntry) -> Result<(), WorktreeError> {
        let place = self.place(&self.places.trash)?;
        let unwritten = hidden(&entry.id);
        place.rename(&entry.id, &place, &unwritten).map_err(WorktreeError::disk(place.path()))?;
        self.done(WorktreeStep::Hidden);
        self.drop_unwritten(&unwritten)
    }

    /// Removes a hidden entry: nothing is written down about it yet, or it has ended.
    pub(super) fn drop_unwritten(&self, name: &str) -> Result<(), WorktreeError> {
        let place = self.place(&self.places.trash)?;
        let Ok(dir) = place.dir(Path::new(name)) else { return Ok(()) };
        for file in [ENTRY_FILE, &format!("{ENTRY_FILE}.new")] {
            dir.unlink(file).map_err(WorktreeError::disk(dir.path()))?;
            self.done(WorktreeStep::Unwritten);
        }
        place.remove_empty(name).map_err(WorktreeError::disk(dir.path()))
    }

    /// Moves the files of a worktree into an entry.
    pub(super) fn move_files(&self, dir: &Root, path: &Path) -> Result<(), WorktreeError> {
        let (place, name) = self.place_of(path)?;
        place.rename(&name, dir, FILES).map_err(WorktreeError::disk(path))
    }

    /// The place that contains a worktree, and its name there: always a direct child, never by a link.
    pub(super) fn place_of(&self, path: &Path) -> Result<(Root, String), WorktreeError> {
        let no = || {
            let message = format!("{} is not where our worktrees are", path.display());
            WorktreeError::new(FailureKind::BadPlace, message, "")
        };
        let (parent, name) = (path.parent().ok_or_else(no)?, path.file_name().ok_or_else(no)?);
        if ![&self.places.worktrees, &self.places.pool].iter().any(|place| place.as_path() == parent) {
            return Err(no());
        }
        Ok((self.place(parent)?, name.to_str().ok_or_else(no)?.to_owned()))
    }
}

/// The name of an entry about which nothing is written down yet, or no longer.
fn hidden(id: &str) -> String {
    format!(".{id}")
}
