//! The lock of a box: the kernel's own lock on a file that is never removed.
//!
//! The kernel releases it when its holder dies, so there is no stale lock to find and break. The note in the file is
//! for those who wait: who has the lock, and that it makes progress.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::Deserialize;

use crate::failure::MailboxError;
use crate::mailbox_dir::{FileEntry, MailboxDir, is_file};

/// The size of the note in a lock file.
const NOTE_BYTES: usize = 96;
/// Tries in all, even if the lock goes from hand to hand; at the longest pause that is four minutes.
const TRIES_IN_ALL_MAX: u32 = 2_400;
/// How often the lock file is opened again because somebody removed it.
const OPENS_MAX: u32 = 10;

/// How long to wait for a box that somebody else has locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockTimeout {
    /// Tries during which the holder makes no progress; while others come and go they are not counted.
    pub tries: u32,
    /// The pause after the first try; doubled each time.
    pub pause_min: Duration,
    pub pause_max: Duration,
}

impl Default for LockTimeout {
    fn default() -> LockTimeout {
        LockTimeout { tries: 10, pause_min: Duration::from_millis(5), pause_max: Duration::from_millis(100) }
    }
}

/// The right to change a box, until it is dropped.
#[derive(Debug)]
pub(crate) struct BoxLock {
    file: File,
    turn: u64,
}

#[derive(Deserialize)]
struct LockNote {
    pid: u32,
}

impl BoxLock {
    /// Takes the lock with this name, or says who has it.
    pub(crate) fn take(
        place: &MailboxDir,
        name: &str,
        patience: LockTimeout,
    ) -> Result<BoxLock, MailboxError> {
        for _ in 0..OPENS_MAX {
            let FileEntry::File(file) = place.find(name, OFlags::RDWR | OFlags::CREATE)? else {
                clear_way(place, name, patience)?;
                continue;
            };
            wait(&file, patience, || note(&file)).map_err(|not| not.at(place, name))?;
            let ours = file.metadata().map_err(place.failed(name))?;
            let named = place.look(name)?;
            if named.is_some_and(|named| (named.st_dev, named.st_ino) == (ours.dev(), ours.ino())) {
                let lock = BoxLock { file, turn: random() };
                lock.moves_on(0);
                return Ok(lock);
            }
            // Somebody removed the file while we waited: those who come now lock another one.
        }
        Err(MailboxError::Busy { holder: None, tries: OPENS_MAX })
    }

    /// Shows those who wait that there is progress.
    pub(crate) fn moves_on(&self, step: usize) {
        let pid = std::process::id();
        let note = format!(r#"{{"pid":{pid},"turn":"{:016x}","step":{step}}}"#, self.turn);
        // On a full disk the mail matters, not the note: without it others only give up sooner.
        drop(self.file.write_all_at(format!("{note:<NOTE_BYTES$}").as_bytes(), 0));
    }
}

impl Drop for BoxLock {
    fn drop(&mut self) {
        // A child that is just being started may have the file for a moment longer than we do.
        let _closing_frees_it_too = flock(&self.file, FlockOperation::Unlock);
    }
}

enum NotLocked {
    Busy { holder: Option<u32>, tries: u32 },
    Failed(Errno),
}

impl NotLocked {
    fn at(self, place: &MailboxDir, name: &str) -> MailboxError {
        match self {
            NotLocked::Busy { holder, tries } => MailboxError::Busy { holder, tries },
            NotLocked::Failed(error) => place.failed(name)(error),
        }
    }
}

/// Retries until the lock is there, or the timeout.
fn wait(file: impl AsFd, patience: LockTimeout, look: impl Fn() -> Vec<u8>) -> Result<(), NotLocked> {
    let (mut pause, mut in_vain, mut seen) = (patience.pause_min, 0, Vec::new());
    for tries in 1..=TRIES_IN_ALL_MAX {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(NotLocked::Failed(error)),
        }
        let note = look();
        in_vain = if note == seen { in_vain + 1 } else { 1 };
        seen = note;
        if in_vain >= patience.tries {
            return Err(NotLocked::Busy { holder: holder(&seen), tries });
        }
        thread::sleep(jittered(pause));
        pause = (pause * 2).min(patience.pause_max);
    }
    Err(NotLocked::Busy { holder: holder(&seen), tries: TRIES_IN_ALL_MAX })
}

/// Moves what is not a file out of the lock file's way.
///
/// Those who do so take turns, by a lock on the directory: so each moves what it has found, and never a lock file
/// that another one has just put there.
fn clear_way(place: &MailboxDir, name: &str, patience: LockTimeout) -> Result<(), MailboxError> {
    wait(&place.dir, patience, Vec::new).map_err(|not| not.at(place, name))?;
    let cleared = match place.look(name) {
        Ok(Some(stat)) if !is_file(&stat) => place.move_aside(name).map(drop),
        other => other.map(drop),
    };
    let unlocked = flock(&place.dir, FlockOperation::Unlock).map_err(place.failed(name));
    cleared.and(unlocked)
}

fn note(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; NOTE_BYTES];
    let read = file.read_at(&mut bytes, 0).unwrap_or_default();
    bytes.truncate(read);
    bytes
}

fn holder(note: &[u8]) -> Option<u32> {
    serde_json::from_slice::<LockNote>(note).ok().map(|note| note.pid)
}

/// Between half of the pause and all of it, so that those who wait do not all try at the same moment.
fn jittered(pause: Duration) -> Duration {
    let half = pause / 2;
    let spread = u64::try_from(half.as_micros()).unwrap_or(u64::MAX).saturating_add(1);
    half + Duration::from_micros(random() % spread)
}

/// Differs between threads, processes and calls; not a secret.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
