//! The threads on which long operations run, so that the others need not wait for them.
//!
//! A thread that has done its work waits a while for more: a command to a tab takes about a millisecond, and starting a
//! thread would be a good part of it.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Long operations at a time; each has a thread, and most of them a git process.
pub(crate) const LONG_MAX: usize = 64;
/// How long a thread waits for more work.
const IDLE: Duration = Duration::from_secs(10);

/// The threads; clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Crew(Arc<Parts>);

#[derive(Default)]
struct Parts {
    roster: Mutex<Roster>,
    more: Condvar,
}

/// There are no fewer threads than places, unless the system gives no more.
#[derive(Default)]
struct Roster {
    /// Threads, busy or not.
    threads: usize,
    /// Those promised to somebody.
    places: usize,
    /// Those of them that are for long operations.
    long: usize,
    /// What no thread has begun yet.
    jobs: VecDeque<Job>,
}

struct Job {
    work: Box<dyn FnOnce() + Send>,
    _place: Place,
}

/// The promise of a thread; it is free again when this goes.
pub(crate) struct Place {
    crew: Crew,
    what: What,
}

/// What a thread is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A long operation: there is a bound.
    Long,
    /// The rest of what was granted: it has to be done.
    Rest,
}

/// Why there is no thread.
#[derive(Debug)]
pub(crate) enum NoPlace {
    /// As many as there may be are busy.
    AllBusy,
    /// The system gives none.
    NoThread(io::Error),
}

impl Crew {
    /// A thread, unless so many long operations run already.
    pub(crate) fn place(&self, what: What) -> Result<Place, NoPlace> {
        let mut roster = self.roster();
        if what == What::Long && roster.long >= LONG_MAX {
            return Err(NoPlace::AllBusy);
        }
        if roster.threads <= roster.places {
            let crew = self.clone();
            let thread = std::thread::Builder::new().name("long".into());
            match thread.spawn(move || crew.work()) {
                Ok(_) => roster.threads += 1,
                // It waits until another one is done.
                Err(_) if what == What::Rest && roster.threads > 0 => {}
                Err(error) => return Err(NoPlace::NoThread(error)),
            }
        }
        roster.places += 1;
        roster.long += usize::from(what == What::Long);
        Ok(Place { crew: self.clone(), what })
    }

    /// How many long operations run, or are about to.
    pub(crate) fn long(&self) -> usize {
        self.roster().long
    }

    /// What each thread does: one job after another, until for a while there is none.
    fn work(&self) {
        let mut roster = self.roster();
        loop {
            if let Some(Job { work, _place }) = roster.jobs.pop_front() {
                drop(roster);
                // Whoever panicked has said so; the next job has nothing to do with it.
                let _ = catch_unwind(AssertUnwindSafe(work));
                drop(_place);
                roster = self.roster();
                continue;
            }
            let waited = self.0.more.wait_timeout(roster, IDLE).unwrap_or_else(PoisonError::into_inner);
            roster = waited.0;
            if waited.1.timed_out() && roster.jobs.is_empty() && roster.threads > roster.places {
                roster.threads -= 1;
                return;
            }
        }
    }

    fn roster(&self) -> MutexGuard<'_, Roster> {
        self.0.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Runs this on the thread.
    pub(crate) fn run(self, work: impl FnOnce() + Send + 'static) {
        let crew = self.crew.clone();
        crew.roster().jobs.push_back(Job { work: Box::new(work), _place: self });
        crew.0.more.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut roster = self.crew.roster();
        roster.places -= 1;
        roster.long -= usize::from(self.what == What::Long);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn places_are_bounded_and_come_back() {
        let crew = Crew::default();
        // What was granted has places of its own.
        let _rest = crew.place(What::Rest).expect("a place");
        let mut taken: Vec<Place> = (0..LONG_MAX).filter_map(|_| crew.place(What::Long).ok()).collect();
        assert_eq!(taken.len(), LONG_MAX);
        assert!(matches!(crew.place(What::Long), Err(NoPlace::AllBusy)));
        assert!(crew.place(What::Rest).is_ok());
        taken.pop();
        assert!(crew.place(What::Long).is_ok());
    }

    #[test]
    fn threads_are_used_again_even_after_a_panic() {
        let crew = Crew::default();
        let (done, ids) = mpsc::channel();
        for round in 0..20 {
            let place = crew.place(What::Long).expect("a place");
            let done = done.clone();
            place.run(move || {
                // Sent when the panic is over too.
                let _sent = Tell(done);
                assert!(round != 10, "a panic, on purpose");
            });
            ids.recv().expect("its thread");
            while crew.roster().places > 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!(crew.roster().threads, 1);
    }

    struct Tell(mpsc::Sender<()>);

    impl Drop for Tell {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    #[test]
    fn all_places_are_at_work_at_once() {
        let crew = Crew::default();
        let (begun, begins) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        for _ in 0..LONG_MAX {
            let (begun, gate) = (begun.clone(), gate.clone());
            crew.place(What::Long).expect("a place").run(move || {
                begun.send(()).expect("somebody counts");
                // One waits for the word, the others for that one.
                let _ = gate.lock().unwrap_or_else(PoisonError::into_inner).recv();
            });
        }
        begins.iter().take(LONG_MAX).for_each(drop);
        assert_eq!(crew.roster().threads, LONG_MAX);
        drop(release);
    }
}
