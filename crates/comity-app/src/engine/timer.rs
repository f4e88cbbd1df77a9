//! The engine's own thread: it sleeps until something is due or there is work that waits for the disk.

use std::sync::{Condvar, Mutex};

use comity_core::Timestamp;

use super::{Engine, lock};
use crate::planted_panic::panic_at;

/// When the engine's thread wakes next. Deadlines that move later do not wake it.
#[derive(Default)]
pub(super) struct Timer {
    state: Mutex<TimerState>,
    changed: Condvar,
}

#[derive(Default)]
struct TimerState {
    wake_at: Option<Timestamp>,
    work: bool,
    stopped: bool,
}

impl Timer {
    /// Makes sure that the thread wakes at `at` or before.
    pub(super) fn not_later_than(&self, at: Timestamp) {
        let mut state = lock(&self.state);
        if state.wake_at.is_none_or(|planned| at < planned) {
            state.wake_at = Some(at);
            self.changed.notify_one();
        }
    }

    pub(super) fn wake(&self) {
        lock(&self.state).work = true;
        self.changed.notify_one();
    }

    pub(super) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.changed.notify_all();
    }

    fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }
}

impl Engine {
    /// Ends the engine's thread after its current work.
    pub fn stop(&self) {
        self.0.timer.stop();
        self.0.feed.stop();
    }
}

pub(super) fn run(engine: &Engine) {
    let timer = &engine.0.timer;
    while !timer.is_stopped() {
        let mut state = lock(&timer.state);
        let sleep = state.wake_at.and_then(|at| engine.0.clock.until(at));
        let is_due = sleep.is_some_and(|sleep| sleep.is_zero());
        if !state.work && !is_due && !state.stopped {
            drop(match sleep {
                Some(sleep) => {
                    timer
                        .changed
                        .wait_timeout(state, sleep)
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .0
                }
                None => timer.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner),
            });
            continue;
        }
        state.work = false;
        if is_due {
            state.wake_at = None;
        }
        drop(state);
        panic_at("timer");
        engine.pass_time();
    }
}
