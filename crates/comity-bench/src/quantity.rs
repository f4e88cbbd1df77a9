//! Measured numbers, and how they are shown.

use std::fmt;

use serde::Serialize;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    Nanoseconds,
    Bytes,
    PerSecond,
    Times,
    Count,
}

/// A number of something.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct Quantity {
    pub(super) value: f64,
    pub(super) unit: Unit,
}

/// The middle and the ends of several measurements.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Unit {
    pub(super) fn of(self, value: f64) -> Quantity {
        Quantity { value, unit: self }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        match self.unit {
            Unit::Nanoseconds if value < 1e3 => write!(f, "{value:.0} ns"),
            Unit::Nanoseconds if value < 1e6 => write!(f, "{:.1} us", value / 1e3),
            Unit::Nanoseconds if value < 1e9 => write!(f, "{:.2} ms", value / 1e6),
            Unit::Nanoseconds => write!(f, "{:.2} s", value / 1e9),
            Unit::Bytes if value < 1024.0 * 1024.0 => write!(f, "{:.1} KB", value / 1024.0),
            Unit::Bytes => write!(f, "{:.1} MB", value / 1024.0 / 1024.0),
            Unit::PerSecond if value < 1e4 => write!(f, "{value:.0} /s"),
            Unit::PerSecond => write!(f, "{:.1}k /s", value / 1e3),
            Unit::Times if value < 10.0 => write!(f, "{value:.2}x"),
            Unit::Times => write!(f, "{value:.0}x"),
            Unit::Count => write!(f, "{value:.0}"),
        }
    }
}

impl Spread {
    /// Of at least one value.
    pub(super) fn of(values: &[f64]) -> Spread {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let (low, high) = (at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2));
        Spread { median: (low + high) / 2.0, min: at(0), max: at(sorted.len().saturating_sub(1)) }
    }
}

/// The value that so many of a thousand samples are not above.
pub(super) fn per_mille(samples: &mut [u64], rank: usize) -> f64 {
    samples.sort_unstable();
    let at = (samples.len() * rank / 1_000).min(samples.len().saturating_sub(1));
    samples.get(at).map_or(f64::NAN, |value| *value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_found() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(Spread::of(&[4.0, 1.0]).median, 2.5);
        let mut samples: Vec<u64> = (0..2_000).rev().collect();
        assert_eq!(per_mille(&mut samples, 500), 1_000.0);
        assert_eq!(per_mille(&mut samples, 999), 1_998.0);
    }

    #[test]
    fn numbers_are_readable() {
        let check = |quantity: Quantity, expected: &str| assert_eq!(quantity.to_string(), expected);
        check(Unit::Nanoseconds.of(12_345.0), "12.3 us");
        check(Unit::Bytes.of(2_621_440.0), "2.5 MB");
        check(Unit::PerSecond.of(123_456.0), "123.5k /s");
        check(Unit::Times.of(1.5), "1.50x");
    }
}
