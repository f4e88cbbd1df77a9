//! Empties the trash after a week, if its contents are still what was proven to hold no work.

use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode};

use super::disk::Root;
use super::failure::WorktreeError;
use super::proof::{look_in_trash, not_kept, processes_in};
use super::trash::{ENTRY_FILE, FILES, GIT_ENTRY, PURGING, ProvenRemovable, Reason, TrashEntry};
use super::{Driver, mounts, seconds};
use crate::git::Git;

pub const TRASH_KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DEPTH_MAX: usize = 400;

/// What became of something in the trash that is old enough to go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Purged {
    Gone {
        id: String,
    },
    Kept {
        id: String,
        /// What prevents deleting it.
        why: String,
    },
}

impl Driver {
    /// Deletes what has been in the trash for longer than `kept_for`, one by one.
    ///
    /// Only what we put there after a proof, what nobody has touched since, and whose commit is kept by its ref.
    pub fn purge(&self, now: SystemTime, kept_for: Duration) -> Result<Vec<Purged>, WorktreeError> {
        let deadline = self.deadline();
        let mut purged = Vec::new();
        for id in self.trash_names()? {
            if Instant::now() > deadline {
                break;
            }
            match self.condemn(&id, now, kept_for, deadline) {
                Ok(None) => {}
                Ok(Some((dir, entry))) => purged.push(match self.delete(&dir, &entry, deadline) {
                    Ok(()) => Purged::Gone { id: entry.id },
                    Err(failure) => Purged::Kept { id: entry.id, why: failure.to_string() },
                }),
                Err(why) => purged.push(Purged::Kept { id, why }),
            }
        }
        Ok(purged)
    }

    /// Decides for good that an entry is deleted: from then on nobody can restore it. `None` if it is too young.
    fn condemn(
        &self,
        id: &str,
        now: SystemTime,
        kept_for: Duration,
        deadline: Instant,
    ) -> Result<Option<(String, TrashEntry)>, String> {
        let _turn = self.turn_at_trash(deadline).map_err(|failure| failure.to_string())?;
        let (dir, entry) = self.trash_entry(id).map_err(|failure| failure.to_string())?;
        if id.ends_with(PURGING) {
            return Ok(Some((id.to_owned(), entry)));
        }
        if seconds(now).saturating_sub(entry.removed_at) < kept_for.as_secs() {
            return Ok(None);
        }
        let proven = match &entry.reason {
            Reason::Proven(proven) => proven,
            Reason::SetAside { message } => return Err(format!("it was set aside: {message}")),
        };
        self.check_saved(proven, deadline)?;
        self.check_untouched(&dir, proven, entry.removed_at, deadline)?;
        let name = format!("{id}{PURGING}");
        let place = self.place(&self.places.trash).map_err(|failure| failure.to_string())?;
        place.rename(id, &place, &name).map_err(|error| error.to_string())?;
        Ok(Some((name, entry)))
    }

    fn check_saved(&self, proven: &ProvenRemovable, deadline: Instant) -> Result<(), String> {
        let project = self.project();
        let name = format!("{}^{{commit}}", proven.saved_as);
        let output = Git::on_refs(&project, deadline).run(&["rev-parse", "--verify", "--quiet", &name], b"");
        let output = output.map_err(|unknown| unknown.to_string())?;
        match String::from_utf8_lossy(&output.stdout).trim_end() == proven.head.as_str() {
            true => Ok(()),
            false => Err(format!("{} no longer keeps its commit {}", proven.saved_as, proven.head)),
        }
    }

    fn check_untouched(
        &self,
        dir: &Root,
        proven: &ProvenRemovable,
        removed_at: u64,
        deadline: Instant,
    ) -> Result<(), String> {
        if let [point, ..] = &mounts::below(dir.path()).map_err(|error| error.to_string())?[..] {
            return Err(format!("something is mounted at {}", point.display()));
        }
        let (files, git) = look_in_trash(dir, proven, deadline).map_err(|error| error.to_string())?;
        if files.seal != proven.files || git.seal != proven.git {
            return Err("somebody changed it in the trash".to_owned());
        }
        let process = processes_in(&dir.path().join(FILES), &files, removed_at);
        process.map_or(Ok(()), |kept| Err(kept.to_string()))
    }

    /// Deletes a condemned entry. Its record goes last, so that a second try finds it.
    fn delete(&self, name: &str, entry: &TrashEntry, deadline: Instant) -> Result<(), WorktreeError> {
        let place = self.place(&self.places.trash)?;
        let dir = place.dir(Path::new(name)).map_err(WorktreeError::disk(place.path()))?;
        for part in [FILES, GIT_ENTRY] {
            if dir.kind(Path::new(part)).map_err(WorktreeError::disk(dir.path()))?.is_some() {
                delete_all(&dir, part, deadline).map_err(WorktreeError::disk(&dir.path().join(part)))?;
            }
        }
        dir.unlink(ENTRY_FILE).map_err(WorktreeError::disk(dir.path()))?;
        place.remove_empty(name).map_err(WorktreeError::disk(dir.path()))?;
        match &entry.reason {
            Reason::Proven(proven) => self.drop_saved_if_kept(proven, deadline),
            Reason::SetAside { .. } => Ok(()),
        }
    }

    /// Drops the ref if another one keeps the commit.
    fn drop_saved_if_kept(&self, proven: &ProvenRemovable, deadline: Instant) -> Result<(), WorktreeError> {
        let project = self.project();
        let lost =
            not_kept(&project, &[proven.head.to_string()], std::slice::from_ref(&proven.saved_as), deadline)?;
        if lost.is_empty() { self.drop_saved(proven, deadline) } else { Ok(()) }
    }
}

/// Deletes a directory with everything in it, without following links or crossing mounts.
fn delete_all(parent: &Root, name: &str, deadline: Instant) -> io::Result<()> {
    delete_dir(parent.fd(), &CString::new(name)?, deadline, 0)
}

fn delete_dir(parent: impl AsFd, name: &CString, deadline: Instant, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX || Instant::now() > deadline {
        return Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "it was not done in time; the next run continues",
        ));
    }
    let dir = mounts::open_on_same_mount(&parent, name)?;
    // Entries of a read-only directory cannot be removed.
    rustix::fs::fchmod(&dir, Mode::RWXU)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            names.push(entry.file_name().to_owned());
        }
    }
    for name in names {
        let stat = rustix::fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => delete_dir(&dir, &name, deadline, depth + 1)?,
            _ => rustix::fs::unlinkat(&dir, &name, AtFlags::empty())?,
        }
    }
    Ok(rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
}
