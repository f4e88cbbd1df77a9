//! Spinning for a moment before going to sleep.
//!
//! Waking a sleeping core costs several times what a question and its answer cost. In a quick exchange the next line
//! is only microseconds away, so both ends may spin for a short while before they sleep. Whether that is faster
//! depends on where the other end runs, which nobody can ask: both ways are timed, and the better one is used. If
//! lines are far apart, nobody spins.

use std::time::{Duration, Instant};

/// How long to spin before going to sleep.
pub const SPIN_TIME: Duration = Duration::from_micros(150);

/// After this many vain spins, only sleep, until something comes quickly again.
const VAIN_MAX: u32 = 3;

/// How often, in waits, the way that seemed worse is tried again.
const TRY_EVERY: u32 = 32;

/// How to wait for what comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Spin for a moment first.
    Spinning,
    Sleeping,
}

/// Which way of waiting was better recently.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpinBudget {
    waits: u32,
    vain: u32,
    spinning: Average,
    sleeping: Average,
}

impl SpinBudget {
    /// How to wait this time.
    pub fn wait(&mut self) -> Wait {
        self.waits = self.waits.wrapping_add(1);
        if self.vain >= VAIN_MAX {
            return Wait::Sleeping;
        }
        // With both ends on one core spinning takes time from the other end: it has to be clearly faster.
        let is_quicker = self.spinning.0 * 4 <= self.sleeping.0 * 3;
        let better = if is_quicker { Wait::Spinning } else { Wait::Sleeping };
        match (self.waits.is_multiple_of(TRY_EVERY), better) {
            (false, better) => better,
            (true, Wait::Spinning) => Wait::Sleeping,
            (true, Wait::Sleeping) => Wait::Spinning,
        }
    }

    /// Something came after this long.
    pub fn came(&mut self, how: Wait, after: Duration) {
        if after > SPIN_TIME {
            self.vain = self.vain.saturating_add(1);
            return;
        }
        self.vain = 0;
        match how {
            Wait::Spinning => self.spinning.add(after),
            Wait::Sleeping => self.sleeping.add(after),
        }
    }
}

/// A running average in nanoseconds; 0 before the first value, so that every way is tried.
#[derive(Clone, Copy, Debug, Default)]
struct Average(u64);

impl Average {
    fn add(&mut self, value: Duration) {
        let value = u64::try_from(value.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.0 = if self.0 == 0 { value } else { (self.0 * 3 + value) / 4 };
    }
}

/// Spins until there is something or the time is over.
pub fn spin_wait<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return Some(seen);
        }
        if begun.elapsed() > SPIN_TIME {
            return None;
        }
        rustix::thread::sched_yield();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_micros(9);
    const LATE: Duration = Duration::from_millis(5);

    /// Waits so often, with what each way takes, and counts how often it looked.
    fn looks(spinning: &mut SpinBudget, waits: u32, spins_for: Duration, sleeping: Duration) -> u32 {
        let mut looks = 0;
        for _ in 0..waits {
            let how = spinning.wait();
            looks += u32::from(how == Wait::Spinning);
            spinning.came(how, if how == Wait::Spinning { spins_for } else { sleeping });
        }
        looks
    }

    #[test]
    fn the_quicker_way_is_taken_and_the_other_one_tried_now_and_then() {
        let mut spinning = SpinBudget::default();
        assert!(looks(&mut spinning, 320, SOON, SOON * 3) >= 300);
        assert!(looks(&mut spinning, 640, SOON * 5, SOON) <= 120, "the other end has moved to this core");
        assert!(looks(&mut spinning, 640, SOON, SOON * 3) >= 400, "and away again");
    }

    #[test]
    fn what_is_hardly_quicker_is_slept_for() {
        let mut spinning = SpinBudget::default();
        assert!(looks(&mut spinning, 640, SOON, SOON + SOON / 9) <= 40);
    }

    #[test]
    fn lines_that_are_far_apart_are_slept_for() {
        let mut spinning = SpinBudget::default();
        assert!(looks(&mut spinning, 100, LATE, LATE) <= VAIN_MAX);
        spinning.came(Wait::Sleeping, SOON);
        assert!(looks(&mut spinning, 100, SOON, SOON * 3) > 90, "a quick exchange has begun");
    }

    #[test]
    fn a_look_ends_with_what_is_seen_or_in_time() {
        assert_eq!(spin_wait(|| Some(7)), Some(7));
        let begun = Instant::now();
        assert_eq!(spin_wait(|| None::<()>), None);
        assert!(begun.elapsed() >= SPIN_TIME); // clock: how long it spins is what is tested
    }
}
