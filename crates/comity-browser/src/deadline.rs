//! How long a caller waits, from the start of its call.

use std::time::{Duration, Instant};

use crate::error::BrowserError;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    after: Duration,
}

impl Deadline {
    /// For callers that give no limit.
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    pub(crate) fn after(timeout: Duration) -> Deadline {
        let after = timeout.min(Self::LONGEST);
        Deadline { at: Instant::now() + after, after }
    }

    /// The remaining time; zero once it has passed.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    /// The earlier of this one and a time from now.
    pub(crate) fn at_most(&self, limit: Duration) -> Deadline {
        if self.left() <= limit { *self } else { Deadline { at: Instant::now() + limit, after: self.after } }
    }

    pub(crate) fn missed(&self, what: impl Into<String>) -> BrowserError {
        BrowserError::Timeout { what: what.into(), after: self.after }
    }
}
