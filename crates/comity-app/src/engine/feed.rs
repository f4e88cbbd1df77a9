//! What was appended lately, for those who read the log as it grows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use comity_core::Record;

use super::lock;

/// Records that are kept in memory; who is further behind reads them from the log.
const RECENT_RECORDS_MAX: usize = 1_024;

/// Called when there is something new; it must not block.
pub type Waker = Arc<dyn Fn(u64) + Send + Sync>;

/// The newest records and who wants to be woken. A wake-up says only how far the log goes.
pub struct Feed {
    state: Mutex<State>,
}

struct State {
    head: u64,
    recent: VecDeque<Arc<Record>>,
    wakers: Vec<(u64, Waker)>,
    next_waker: u64,
    stopped: bool,
}

/// Keeps a waker registered as long as it lives.
pub struct Woken<'a> {
    feed: &'a Feed,
    id: u64,
}

impl Feed {
    pub(super) fn new(head: u64) -> Feed {
        let state =
            State { head, recent: VecDeque::new(), wakers: Vec::new(), next_waker: 0, stopped: false };
        Feed { state: Mutex::new(state) }
    }

    pub(super) fn append(&self, records: Vec<Record>) {
        if records.is_empty() {
            return;
        }
        let (head, wakers) = {
            let mut state = lock(&self.state);
            for record in records {
                state.head = record.seq;
                if state.recent.len() >= RECENT_RECORDS_MAX {
                    state.recent.pop_front();
                }
                state.recent.push_back(Arc::new(record));
            }
            if state.wakers.is_empty() {
                return;
            }
            (state.head, state.wakers.clone())
        };
        for (_, waker) in wakers {
            waker(head);
        }
    }

    pub(super) fn stop(&self) {
        let wakers = {
            let mut state = lock(&self.state);
            state.stopped = true;
            state.wakers.clone()
        };
        for (_, waker) in wakers {
            waker(u64::MAX);
        }
    }

    /// Whether the engine has stopped; nothing more comes.
    pub fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    /// The number of the last record.
    pub fn head(&self) -> u64 {
        lock(&self.state).head
    }

    /// The records after `after`, if they are all still at hand.
    pub fn recent(&self, after: u64) -> Option<Vec<Arc<Record>>> {
        let state = lock(&self.state);
        if after >= state.head {
            return Some(Vec::new());
        }
        let first = state.recent.front()?.seq;
        (after + 1 >= first)
            .then(|| state.recent.iter().filter(|record| record.seq > after).cloned().collect())
    }

    /// Registers a waker; gives the number to remove it by.
    pub fn wake(&self, waker: Waker) -> u64 {
        let mut state = lock(&self.state);
        let id = state.next_waker;
        state.next_waker += 1;
        state.wakers.push((id, waker));
        id
    }

    /// Removes a waker.
    pub fn forget(&self, id: u64) {
        lock(&self.state).wakers.retain(|(other, _)| *other != id);
    }

    /// Registers a waker for as long as the guard lives.
    pub fn wake_while(&self, waker: Waker) -> Woken<'_> {
        Woken { feed: self, id: self.wake(waker) }
    }
}

impl Drop for Woken<'_> {
    fn drop(&mut self) {
        self.feed.forget(self.id);
    }
}
