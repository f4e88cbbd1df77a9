//! Recently appended records, for those who read the log as it grows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use comity_core::Record;

use super::lock;
use crate::page_size::{self, PageSize};

/// Records that are kept in memory; readers further behind read the log.
const RECENT_RECORDS_MAX: usize = 1_024;
/// Bytes that they take together, roughly.
const RECENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Called when there is something new; it must not block.
pub type Waker = Arc<dyn Fn(u64) + Send + Sync>;

/// The newest records, and those to be woken. A wake-up says only how far the log goes.
pub struct Feed {
    state: Mutex<FeedState>,
}

struct FeedState {
    head: u64,
    /// With the size of each.
    recent: VecDeque<(Arc<Record>, usize)>,
    recent_bytes: usize,
    wakers: Vec<(u64, Waker)>,
    next_waker: u64,
    stopped: bool,
}

/// Keeps a waker registered while it lives.
pub struct Woken<'a> {
    feed: &'a Feed,
    id: u64,
}

impl Feed {
    pub(super) fn new(head: u64) -> Feed {
        let (recent, wakers) = (VecDeque::new(), Vec::new());
        let state = FeedState { head, recent, recent_bytes: 0, wakers, next_waker: 0, stopped: false };
        Feed { state: Mutex::new(state) }
    }

    pub(super) fn append(&self, records: Vec<Record>) {
        if records.is_empty() {
            return;
        }
        let weighed = records.into_iter().map(|record| {
            let bytes = page_size::of_record(&record);
            (Arc::new(record), bytes)
        });
        let weighed: Vec<_> = weighed.collect();
        let (head, wakers) = {
            let mut state = lock(&self.state);
            for (record, bytes) in weighed {
                state.head = record.seq;
                state.recent.push_back((record, bytes));
                state.recent_bytes += bytes;
                while state.recent.len() > RECENT_RECORDS_MAX || state.recent_bytes > RECENT_BYTES_MAX {
                    let Some((_, bytes)) = state.recent.pop_front() else { break };
                    state.recent_bytes -= bytes;
                }
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

    /// Whether the engine has stopped, so that nothing more comes.
    pub fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    pub fn head(&self) -> u64 {
        lock(&self.state).head
    }

    /// The records after `after`, if they are still in memory: as many as fit into a page, and at least one.
    pub fn recent(&self, after: u64, page: PageSize) -> Option<Vec<Arc<Record>>> {
        let state = lock(&self.state);
        if after >= state.head {
            return Some(Vec::new());
        }
        let first = state.recent.front()?.0.seq;
        // They have no gaps, so the position of each is known.
        let skipped = usize::try_from((after + 1).checked_sub(first)?).ok()?;
        let mut room = page.room();
        let fitting = state.recent.iter().skip(skipped).take_while(|(_, bytes)| room.takes(*bytes));
        Some(fitting.map(|(record, _)| Arc::clone(record)).collect())
    }

    /// Registers a waker; returns the number to remove it by.
    pub fn wake(&self, waker: Waker) -> u64 {
        let mut state = lock(&self.state);
        let id = state.next_waker;
        state.next_waker += 1;
        state.wakers.push((id, waker));
        id
    }

    /// Unregisters a waker.
    pub fn forget(&self, id: u64) {
        lock(&self.state).wakers.retain(|(other, _)| *other != id);
    }

    /// Registers a waker while the guard lives.
    pub fn wake_while(&self, waker: Waker) -> Woken<'_> {
        Woken { feed: self, id: self.wake(waker) }
    }
}

impl Drop for Woken<'_> {
    fn drop(&mut self) {
        self.feed.forget(self.id);
    }
}

#[cfg(test)]
mod tests {
    use comity_core::server::ServerEvent;
    use comity_core::{Event, Principal, Timestamp};

    use super::*;

    fn record(seq: u64, bytes: usize) -> Record {
        let event = Event::Server(ServerEvent::KeyReused { op: "x".repeat(bytes).into() });
        let (now, by) = (Timestamp(0), Principal::System);
        Record { seq, now, wall_ms: 0, by, from: None, concerns: vec![], key: None, event }
    }

    #[test]
    fn large_records_are_not_kept_for_long_and_come_one_by_one() {
        let (feed, page) = (Feed::new(0), PageSize { records: 100, bytes: 64 * 1024 });
        feed.append((1..=100).map(|seq| record(seq, 256 * 1024)).collect());
        assert!(lock(&feed.state).recent_bytes <= RECENT_BYTES_MAX);
        assert!(feed.recent(50, page).is_none(), "they are in the log");
        let one = feed.recent(98, page).expect("the newest");
        assert_eq!(one.iter().map(|record| record.seq).collect::<Vec<_>>(), [99]);
        feed.append((101..=300).map(|seq| record(seq, 1)).collect());
        let many = feed.recent(150, PageSize { bytes: usize::MAX, ..page }).expect("the newest");
        assert_eq!(many.iter().map(|record| record.seq).collect::<Vec<_>>(), (151..=250).collect::<Vec<_>>());
        assert_eq!(feed.recent(300, page).map(|none| none.len()), Some(0));
    }
}
