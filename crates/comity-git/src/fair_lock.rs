//! First come, first served: a queue among the threads of this process, and a locked file among processes.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::umask::{as_user, share};

/// Threads of this process that have or await a turn at one file.
const WAITING_MAX: usize = 1_024;
/// How often a lock is retried; nothing tells when a file lock becomes free.
const LOCK_POLL: Duration = Duration::from_millis(2);

/// What has to be true of a thread that waits for a turn or for a program.
#[cfg(debug_assertions)]
static CHECK: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();

/// In debug builds: makes every thread that is about to wait, for a turn or for git, check that nobody waits for it meanwhile.
pub fn before_each_wait(_check: fn()) {
    #[cfg(debug_assertions)]
    let _is_set_already = CHECK.set(_check);
}

/// In debug builds: this thread may wait.
pub(crate) fn assert_may_wait() {
    #[cfg(debug_assertions)]
    CHECK.get().iter().for_each(|check| check());
}

/// The queues of this process, by the file that is locked.
static QUEUES: Queues = Queues { lines: Mutex::new(WaitingLines::new()), moved: Condvar::new() };

/// The turn at a file, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct FairLock {
    // Dropped in this order: other processes may go on before the next thread of this one.
    file: File,
    _ticket: QueueTicket,
}

#[derive(Debug)]
pub(crate) enum FairLockError {
    /// The others take too long, or are too many.
    Busy,
    Disk(io::Error),
}

impl FairLock {
    /// Waits for all who came earlier, here and in other processes.
    pub(crate) fn wait(path: &Path, deadline: Instant) -> Result<FairLock, FairLockError> {
        assert_may_wait();
        let ticket = QUEUES.wait(path, deadline).ok_or(FairLockError::Busy)?;
        let file = open(path).map_err(FairLockError::Disk)?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(FairLock { file, _ticket: ticket }),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(error) => return Err(FairLockError::Disk(error.into())),
            }
            if Instant::now() >= deadline {
                return Err(FairLockError::Busy);
            }
            std::thread::sleep(LOCK_POLL);
        }
    }

    /// The locked file. While anybody has it open, the turn lasts for other processes, whatever becomes of us.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Neither a symlink nor a pipe in its place misleads us.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).custom_flags(flags);
    as_user(|| how.open(path)).inspect(|_| share(path))
}

struct Queues {
    lines: Mutex<WaitingLines>,
    moved: Condvar,
}

/// Who waits for which file, in order. The first in each line may go on.
struct WaitingLines {
    next: u64,
    waiting: BTreeMap<PathBuf, VecDeque<u64>>,
}

#[derive(Debug)]
struct QueueTicket {
    path: PathBuf,
    number: u64,
}

impl WaitingLines {
    const fn new() -> WaitingLines {
        WaitingLines { next: 0, waiting: BTreeMap::new() }
    }
}

impl Queues {
    /// Waits until the ticket is first; `None` if that takes too long.
    fn wait(&self, path: &Path, deadline: Instant) -> Option<QueueTicket> {
        let mut lines = self.lines();
        let number = lines.next;
        lines.next += 1;
        let line = lines.waiting.entry(path.to_owned()).or_default();
        if line.len() >= WAITING_MAX {
            return None;
        }
        line.push_back(number);
        // From here on, dropping the ticket leaves the line; the lines must not be locked then.
        let ticket = QueueTicket { path: path.to_owned(), number };
        let is_waiting =
            |lines: &mut WaitingLines| lines.waiting.get(path).and_then(VecDeque::front) != Some(&number);
        let left = deadline.saturating_duration_since(Instant::now());
        let (lines, waited) =
            self.moved.wait_timeout_while(lines, left, is_waiting).unwrap_or_else(PoisonError::into_inner);
        drop(lines);
        (!waited.timed_out()).then_some(ticket)
    }

    fn lines(&self) -> MutexGuard<'_, WaitingLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        let mut lines = QUEUES.lines();
        if let Some(line) = lines.waiting.get_mut(&self.path) {
            line.retain(|number| *number != self.number);
            if line.is_empty() {
                lines.waiting.remove(&self.path);
            }
        }
        QUEUES.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn turns_come_in_order_and_who_gives_up_holds_up_nobody() {
        let dir = tempfile::tempdir().expect("a directory");
        let (path, other) = (dir.path().join("lock"), dir.path().join("other"));
        let deadline = Instant::now() + Duration::from_secs(60);
        let first = FairLock::wait(&path, deadline).expect("nobody else");
        drop(FairLock::wait(&other, deadline).expect("another file is free"));
        assert!(matches!(FairLock::wait(&path, Instant::now()), Err(FairLockError::Busy)));
        let length = || QUEUES.lines().waiting.get(&path).map_or(0, VecDeque::len);
        let (done, order) = mpsc::channel();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (path, done) = (&path, done.clone());
                scope.spawn(move || {
                    let turn = FairLock::wait(path, deadline).expect("a turn");
                    done.send(number).expect("a listener");
                    drop(turn);
                });
                while length() < number + 2 {
                    std::thread::yield_now();
                }
            }
            assert!(order.try_recv().is_err(), "nobody goes before the first is done");
            drop(first);
            assert_eq!(
                (0..8).map(|_| order.recv().expect("done")).collect::<Vec<_>>(),
                (0..8).collect::<Vec<_>>()
            );
        });
        assert_eq!(length(), 0);
    }

    #[test]
    fn other_processes_count() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("lock");
        let elsewhere = open(&path).expect("made");
        flock(&elsewhere, FlockOperation::NonBlockingLockExclusive).expect("free");
        assert!(matches!(FairLock::wait(&path, Instant::now()), Err(FairLockError::Busy)));
        drop(elsewhere);
        let turn = FairLock::wait(&path, Instant::now()).expect("free again");
        let kept = turn.file().try_clone().expect("cloned");
        drop(turn);
        assert!(matches!(FairLock::wait(&path, Instant::now()), Err(FairLockError::Busy)));
        drop(kept);
        FairLock::wait(&path, Instant::now()).expect("nobody has it open");
    }
}
