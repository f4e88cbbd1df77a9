//! How many long operations run beside the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Long operations at a time; each has a thread, and most of them a git process.
pub(crate) const LONG_MAX: usize = 64;

/// Counts the long operations that run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside(Arc<AtomicUsize>);

/// A long operation's place; it is free again when this goes.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Beside {
    /// Takes a place, if there is one.
    pub(crate) fn enter(&self) -> Option<Place> {
        let one_more = |running| (running < LONG_MAX).then_some(running + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        Some(Place(self.0.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_come_back() {
        let beside = Beside::default();
        let mut taken: Vec<Place> = (0..LONG_MAX).filter_map(|_| beside.enter()).collect();
        assert_eq!(taken.len(), LONG_MAX);
        assert!(beside.enter().is_none());
        taken.pop();
        assert!(beside.enter().is_some());
    }
}
