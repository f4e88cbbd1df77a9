//! The threads for long operations, so that others need not wait for them.
//!
//! An idle thread waits a while for more work: a command to a tab takes about a millisecond, and starting a thread
//! would be a good part of that.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use comity_core::Refusal;

use crate::operation::Failure;

/// Long operations at a time; each has a thread, and most of them a git process.
const LONG_MAX: usize = 64;
/// How long a thread waits for more work.
const IDLE: Duration = Duration::from_secs(10);

/// Clones share the threads.
#[derive(Clone, Default)]
pub(crate) struct WorkerPool(Arc<PoolState>);

#[derive(Default)]
struct PoolState {
    threads: Mutex<Threads>,
    more: Condvar,
}

/// There are no fewer threads than reserved workers, unless the system gives no more.
#[derive(Default)]
struct Threads {
    /// Busy or not.
    running: usize,
    reserved: usize,
    /// Those of them that are for long operations.
    operations: usize,
    /// What no thread has begun yet.
    jobs: VecDeque<PooledJob>,
}

struct PooledJob {
    work: Box<dyn FnOnce() + Send>,
    _worker: Worker,
}

/// A reserved thread; released when this is dropped.
pub(crate) struct Worker {
    pool: WorkerPool,
    work: Work,
}

/// What a thread is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Work {
    /// A long operation, of which there are only so many.
    Operation,
    /// The rest of what was granted, which has to be done.
    Rest,
}

#[derive(Debug)]
pub(crate) enum NoWorker {
    /// The limit is reached.
    AllBusy,
    /// The system gives none.
    NoThread(io::Error),
}

impl WorkerPool {
    /// A thread, unless too many long operations run already.
    pub(crate) fn reserve(&self, work: Work) -> Result<Worker, NoWorker> {
        let mut threads = self.threads();
        if work == Work::Operation && threads.operations >= LONG_MAX {
            return Err(NoWorker::AllBusy);
        }
        if threads.running <= threads.reserved {
            let pool = self.clone();
            let thread = std::thread::Builder::new().name("long".into());
            match thread.spawn(move || pool.work()) {
                Ok(_) => threads.running += 1,
                // It waits until another one is done.
                Err(_) if work == Work::Rest && threads.running > 0 => {}
                Err(error) => return Err(NoWorker::NoThread(error)),
            }
        }
        threads.reserved += 1;
        threads.operations += usize::from(work == Work::Operation);
        Ok(Worker { pool: self.clone(), work })
    }

    /// How many long operations run, or are about to.
    pub(crate) fn operations(&self) -> usize {
        self.threads().operations
    }

    /// What each thread does: one job after another, until for a while there is none.
    fn work(&self) {
        let mut threads = self.threads();
        loop {
            if let Some(PooledJob { work, _worker }) = threads.jobs.pop_front() {
                drop(threads);
                // The panic was reported; the next job has nothing to do with it.
                let _ = catch_unwind(AssertUnwindSafe(work));
                drop(_worker);
                threads = self.threads();
                continue;
            }
            let waited = self.0.more.wait_timeout(threads, IDLE).unwrap_or_else(PoisonError::into_inner);
            threads = waited.0;
            if waited.1.timed_out() && threads.jobs.is_empty() && threads.running > threads.reserved {
                threads.running -= 1;
                return;
            }
        }
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.0.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    pub(crate) fn run(self, work: impl FnOnce() + Send + 'static) {
        let pool = self.pool.clone();
        pool.threads().jobs.push_back(PooledJob { work: Box::new(work), _worker: self });
        pool.0.more.notify_one();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut threads = self.pool.threads();
        threads.reserved -= 1;
        threads.operations -= usize::from(self.work == Work::Operation);
    }
}

impl From<NoWorker> for Failure {
    fn from(no_worker: NoWorker) -> Failure {
        let problem = match no_worker {
            NoWorker::AllBusy => format!("{LONG_MAX} long operations run already"),
            NoWorker::NoThread(error) => format!("the system can't start another thread: {error}"),
        };
        Refusal::LimitReached { problem, hint: "try again in a moment".into() }.into()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn places_are_bounded_and_come_back() {
        let pool = WorkerPool::default();
        // What was granted has places of its own.
        let _rest = pool.reserve(Work::Rest).expect("a place");
        let mut taken: Vec<Worker> =
            (0..LONG_MAX).filter_map(|_| pool.reserve(Work::Operation).ok()).collect();
        assert_eq!(taken.len(), LONG_MAX);
        assert!(matches!(pool.reserve(Work::Operation), Err(NoWorker::AllBusy)));
        assert!(pool.reserve(Work::Rest).is_ok());
        taken.pop();
        assert!(pool.reserve(Work::Operation).is_ok());
    }

    #[test]
    fn threads_are_used_again_even_after_a_panic() {
        let pool = WorkerPool::default();
        let (done, ids) = mpsc::channel();
        for round in 0..20 {
            let place = pool.reserve(Work::Operation).expect("a place");
            let done = done.clone();
            place.run(move || {
                // Sent when the panic is over too.
                let _sent = Tell(done);
                assert!(round != 10, "a panic, on purpose");
            });
            ids.recv().expect("its thread");
            while pool.threads().reserved > 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(pool.threads().running, 1);
    }

    struct Tell(mpsc::Sender<()>);

    impl Drop for Tell {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    #[test]
    fn all_workers_are_at_work_at_once() {
        let pool = WorkerPool::default();
        let (begun, begins) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        for _ in 0..LONG_MAX {
            let (begun, gate) = (begun.clone(), gate.clone());
            pool.reserve(Work::Operation).expect("a place").run(move || {
                begun.send(()).expect("somebody counts");
                // One waits for the word, the others for that one.
                let _ = gate.lock().unwrap_or_else(PoisonError::into_inner).recv();
            });
        }
        begins.iter().take(LONG_MAX).for_each(drop);
        assert_eq!(pool.threads().running, LONG_MAX);
        drop(release);
    }
}
