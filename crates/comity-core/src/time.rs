//! Time as the rules see it: milliseconds on a clock that never goes back.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment on the engine's clock, which is not wall time: downtime and clock jumps do not count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

/// A span of time in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Timestamp {
    /// This moment plus a span.
    pub fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// How much later this is than `earlier`; zero if it is not.
    pub fn since(self, earlier: Timestamp) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

impl Millis {
    /// A span of whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1_000)
    }

    /// A span of whole minutes.
    pub const fn minutes(minutes: u64) -> Self {
        Self::seconds(minutes * 60)
    }

    /// A span of whole hours.
    pub const fn hours(hours: u64) -> Self {
        Self::minutes(hours * 60)
    }
}

impl Millis {
    /// How long ago something was: `just now`, `12s ago`, `4m 12s ago`.
    pub fn ago(self) -> String {
        if self.0 < 1_000 { "just now".to_owned() } else { format!("{self} ago") }
    }

    /// The same in its largest unit: `just now`, `12s ago`, `4m ago`.
    pub fn rough_ago(self) -> String {
        if self.0 < 1_000 { "just now".to_owned() } else { format!("{} ago", self.rough()) }
    }

    /// The span in its largest unit: `40s`, `3m`, `2h`, `5d`.
    pub fn rough(self) -> String {
        let seconds = self.0 / 1_000;
        match (seconds / 3_600, seconds / 60) {
            (0, 0) => format!("{seconds}s"),
            (0, minutes) => format!("{minutes}m"),
            (hours, _) if hours < 48 => format!("{hours}h"),
            (hours, _) => format!("{}d", hours / 24),
        }
    }
}

/// As a person says it: `4m 12s`, `2h 5m`, `40s`, `800ms`.
impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000;
        match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
            (0, 0, 0) => write!(f, "{}ms", self.0),
            (0, 0, s) => write!(f, "{s}s"),
            (0, m, 0) => write!(f, "{m}m"),
            (0, m, s) => write!(f, "{m}m {s}s"),
            (h, 0, _) if h < 48 => write!(f, "{h}h"),
            (h, m, _) if h < 48 => write!(f, "{h}h {m}m"),
            (h, _, _) => write!(f, "{}d", h / 24),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_a_person_says_them() {
        let said: Vec<String> = [800, 40_000, 252_000, 300_000, 7_500_000, 7_200_000, 432_000_000]
            .map(|ms| Millis(ms).to_string())
            .to_vec();
        assert_eq!(said, ["800ms", "40s", "4m 12s", "5m", "2h 5m", "2h", "5d"]);
        let ago = [0, 999, 1_000, 252_000].map(|ms| (Millis(ms).ago(), Millis(ms).rough_ago()));
        let said: Vec<&str> = ago.iter().flat_map(|(ago, rough)| [ago.as_str(), rough.as_str()]).collect();
        assert_eq!(
            said,
            ["just now", "just now", "just now", "just now", "1s ago", "1s ago", "4m 12s ago", "4m ago"]
        );
    }
}
