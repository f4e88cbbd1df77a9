//! One after another: acts on a tab wait for their turn, in order, and not longer than they want.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};

/// Calls that wait for their turn on one tab.
const WAITING_MAX: usize = 1000;

/// The first in the queue acts.
#[derive(Default, Debug)]
pub(crate) struct TabQueue {
    queue: Mutex<TabTickets>,
    moved: Condvar,
}

#[derive(Default, Debug)]
struct TabTickets {
    tickets: VecDeque<u64>,
    next: u64,
}

/// The right to act, until dropped.
#[derive(Debug)]
pub(crate) struct TabTurn<'a> {
    turn: &'a TabQueue,
    ticket: u64,
}

impl TabQueue {
    pub(crate) fn wait(&self, deadline: &Deadline) -> Result<TabTurn<'_>> {
        let mut queue = self.locked();
        if queue.tickets.len() >= WAITING_MAX {
            return Err(BrowserError::invalid(format!("{WAITING_MAX} calls wait for this tab already")));
        }
        let ticket = queue.next;
        queue.next += 1;
        queue.tickets.push_back(ticket);
        // From here on the ticket is given back whatever happens.
        let acting = TabTurn { turn: self, ticket };
        let (queue, waited) = self
            .moved
            .wait_timeout_while(queue, deadline.left(), |queue| queue.tickets.front() != Some(&ticket))
            .unwrap_or_else(PoisonError::into_inner);
        drop(queue);
        if waited.timed_out() {
            return Err(deadline.missed("waiting for earlier commands of this tab"));
        }
        Ok(acting)
    }

    fn locked(&self) -> MutexGuard<'_, TabTickets> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TabTurn<'_> {
    fn drop(&mut self) {
        self.turn.locked().tickets.retain(|ticket| *ticket != self.ticket);
        self.turn.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    #[test]
    fn turns_come_in_order_and_who_gives_up_holds_up_nobody() {
        let turn = TabQueue::default();
        let long = Deadline::after(Duration::from_secs(30));
        let first = turn.wait(&long).unwrap();
        let short = Deadline::after(Duration::from_millis(5));
        assert!(matches!(turn.wait(&short), Err(BrowserError::Timeout { .. })));
        let (acted, order) = mpsc::channel();
        std::thread::scope(|threads| {
            for number in 0..5 {
                let (turn, acted, long) = (&turn, acted.clone(), &long);
                threads.spawn(move || {
                    let _acting = turn.wait(long).unwrap();
                    acted.send(number).unwrap();
                });
                // The next one asks only when this one stands in the queue.
                while turn.locked().tickets.len() < number + 2 {
                    std::thread::yield_now();
                }
            }
            assert!(order.try_recv().is_err());
            drop(first);
            assert_eq!(order.iter().take(5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        });
    }
}
