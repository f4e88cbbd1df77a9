//! One merge at a time into a branch, in the order in which they were asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::worktree::failure::{Failure, FailureKind};

/// Merges that wait for one branch.
const WAITING_MAX: usize = 256;

/// Who waits for which branch.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    lines: Mutex<Lines>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    next: u64,
    waiting: HashMap<String, VecDeque<u64>>,
}

/// The right to merge into a branch, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    queue: &'a Queue,
    target: String,
    number: u64,
}

impl Queue {
    /// Waits until all who came before have had their turn.
    pub(crate) fn wait_for(&self, target: &str, deadline: Instant) -> Result<Turn<'_>, Failure> {
        let busy = || {
            let message = format!("too many merges into {target} are waiting");
            Failure::new(FailureKind::Busy, message, "try again in a moment")
        };
        let mut lines = self.lock();
        let number = lines.next;
        lines.next += 1;
        let line = lines.waiting.entry(target.to_owned()).or_default();
        if line.len() >= WAITING_MAX {
            return Err(busy());
        }
        line.push_back(number);
        // From here on, dropping the turn leaves the line.
        let turn = Turn { queue: self, target: target.to_owned(), number };
        while lines.waiting.get(target).and_then(|line| line.front()) != Some(&number) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(lines);
                return Err(busy());
            }
            lines = self.moved.wait_timeout(lines, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(lines);
        Ok(turn)
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut lines = self.queue.lock();
        if let Some(line) = lines.waiting.get_mut(&self.target) {
            line.retain(|number| *number != self.number);
            if line.is_empty() {
                lines.waiting.remove(&self.target);
            }
        }
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn turns_come_in_order() {
        let queue = Queue::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        let (tell, told) = mpsc::channel();
        let first = queue.wait_for("trunk", deadline).expect("free");
        queue.wait_for("other", deadline).expect("another branch is free");
        let length = || queue.lock().waiting.get("trunk").map_or(0, VecDeque::len);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let (queue, tell) = (&queue, tell.clone());
                scope.spawn(move || {
                    let turn = queue.wait_for("trunk", deadline).expect("my turn");
                    tell.send(number).expect("told");
                    drop(turn);
                });
                while length() < number + 2 {
                    std::thread::yield_now();
                }
            }
            assert!(told.try_recv().is_err(), "nobody goes before the first is done");
            drop(first);
            assert_eq!((0..3).map(|_| told.recv().expect("told")).collect::<Vec<_>>(), [0, 1, 2]);
        });
        let late = queue.wait_for("trunk", deadline).expect("free");
        assert_eq!(queue.wait_for("trunk", Instant::now()).expect_err("late").kind(), FailureKind::Busy);
        drop(late);
        assert_eq!(length(), 0);
    }
}
