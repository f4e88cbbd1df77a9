//! The engine's time: read once per batch, never going back.

use std::sync::Mutex;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use comity_core::{Millis, Timestamp};

/// One reading: the engine's time, and the wall clock for people.
#[derive(Clone, Copy, Debug)]
pub struct ClockReading {
    /// On the engine's clock, which runs only while a server does.
    pub now: Timestamp,
    /// Milliseconds since 1970.
    pub wall_ms: i64,
}

/// The source of time.
#[derive(Debug)]
pub enum Clock {
    /// A monotonic clock that continues from the end of the log.
    Real {
        /// The engine's time when this server started.
        base: Timestamp,
        started: Instant,
    },
    /// A test's: it moves only when told to.
    Manual(Mutex<Timestamp>),
}

impl Clock {
    /// A clock that continues from the last moment in the log; the time in between does not count.
    pub fn from(last: Timestamp) -> Clock {
        Clock::Real { base: last, started: Instant::now() }
    }

    /// A clock for tests, standing at `now`.
    pub fn manual(now: Timestamp) -> Clock {
        Clock::Manual(Mutex::new(now))
    }

    pub fn read(&self) -> ClockReading {
        match self {
            Clock::Real { base, started } => {
                let now = base.plus(Millis(started.elapsed().as_millis() as u64));
                ClockReading { now, wall_ms: wall_ms() }
            }
            Clock::Manual(now) => {
                let now = *now.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                ClockReading { now, wall_ms: now.0 as i64 }
            }
        }
    }

    pub fn now(&self) -> Timestamp {
        match self {
            Clock::Real { base, started } => base.plus(Millis(started.elapsed().as_millis() as u64)),
            Clock::Manual(_) => self.read().now,
        }
    }

    /// Moves a test's clock forward.
    pub fn advance(&self, span: Millis) {
        if let Clock::Manual(now) = self {
            let mut now = now.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *now = now.plus(span);
        }
    }

    /// How long to sleep until `at`. A test's clock never wakes anybody.
    pub fn until(&self, at: Timestamp) -> Option<std::time::Duration> {
        match self {
            Clock::Real { .. } => Some(std::time::Duration::from_millis(at.since(self.read().now).0)),
            Clock::Manual(_) => None,
        }
    }
}

/// The wall clock, in milliseconds since 1970.
pub fn wall_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
