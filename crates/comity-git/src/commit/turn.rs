//! One commit at a time per repository: first come, first served, also among processes.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::desk::Desk;
use super::not_committed::NotCommitted;
use crate::umask::{as_user, share};

/// The file in the common git directory whose lock means that a process of ours commits.
const LOCK_FILE: &str = "commit.lock";
/// How often another process is asked whether it is done; nothing tells when a file lock is free.
const LOCK_POLL: Duration = Duration::from_millis(2);

/// The queues of this process, by common git directory.
static QUEUES: Mutex<BTreeMap<PathBuf, Weak<Queue>>> = Mutex::new(BTreeMap::new());

/// The right to commit in a repository, until it is dropped.
pub(super) struct Turn {
    // Fields are dropped in this order: other processes may go on before the next one of this process does.
    lock: File,
    _place: Place,
}

impl Turn {
    /// Waits until all who came earlier are done.
    pub(super) fn wait(common_dir: &Path, deadline: Instant) -> Result<Turn, NotCommitted> {
        let place = Place::wait(queue(common_dir), deadline).ok_or(NotCommitted::Busy)?;
        let desk = Desk::open(common_dir)?;
        let path = desk.path(LOCK_FILE);
        let file = open(&path).map_err(|error| desk.fault(LOCK_FILE, &error))?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Turn { lock: file, _place: place }),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(error) => return Err(desk.fault(LOCK_FILE, &error.into())),
            }
            if Instant::now() >= deadline {
                return Err(NotCommitted::Busy);
            }
            std::thread::sleep(LOCK_POLL);
        }
    }

    /// The locked file. While anybody has it open, the turn lasts for other processes, whatever becomes of us.
    pub(super) fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Neither a symlink nor a pipe in its place leads us astray.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false).custom_flags(flags);
    as_user(|| how.open(path)).inspect(|_| share(path))
}

fn queue(common_dir: &Path) -> Arc<Queue> {
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(queue) = queues.get(common_dir).and_then(Weak::upgrade) {
        return queue;
    }
    queues.retain(|_, queue| queue.strong_count() > 0);
    let queue = Arc::<Queue>::default();
    queues.insert(common_dir.to_owned(), Arc::downgrade(&queue));
    queue
}

/// Those who want to commit in one repository, in the order in which they came. The first one may.
#[derive(Default)]
struct Queue {
    line: Mutex<Line>,
    moved: Condvar,
}

#[derive(Default)]
struct Line {
    next_number: u64,
    waiting: VecDeque<u64>,
}

/// A place in a queue.
struct Place {
    queue: Arc<Queue>,
    number: u64,
}

impl Place {
    /// Waits until the place is the first one; nothing if that takes too long.
    fn wait(queue: Arc<Queue>, deadline: Instant) -> Option<Place> {
        let number = queue.join();
        let place = Place { queue, number };
        let mut line = place.queue.line();
        while line.waiting.front() != Some(&number) {
            let left = deadline.checked_duration_since(Instant::now())?;
            let waited = place.queue.moved.wait_timeout(line, left);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(line);
        Some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.queue.line().waiting.retain(|number| *number != self.number);
        self.queue.moved.notify_all();
    }
}

impl Queue {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self) -> u64 {
        let mut line = self.line();
        let number = line.next_number;
        line.next_number += 1;
        line.waiting.push_back(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_order_of_coming_is_the_order_of_going() {
        let queue = Arc::<Queue>::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        let first = Place::wait(queue.clone(), deadline).expect("nobody else");
        let (done, order) = mpsc::channel();
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let (queue, done) = (queue.clone(), done.clone());
                let before = queue.line().waiting.len();
                let thread = std::thread::spawn({
                    let queue = queue.clone();
                    move || {
                        let place = Place::wait(queue, deadline).expect("a turn");
                        done.send(number).expect("a listener");
                        drop(place);
                    }
                });
                while queue.line().waiting.len() == before {
                    std::thread::yield_now();
                }
                thread
            })
            .collect();
        drop(first);
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!(order.try_iter().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn who_gives_up_leaves_the_line() {
        let queue = Arc::<Queue>::default();
        let first = Place::wait(queue.clone(), Instant::now()).expect("nobody else");
        assert!(Place::wait(queue.clone(), Instant::now()).is_none());
        drop(first);
        assert!(Place::wait(queue.clone(), Instant::now()).is_some());
        assert!(queue.line().waiting.is_empty());
    }
}
