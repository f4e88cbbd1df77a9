//! How much work reading one call may take: a short line can be made to stand for more than any machine could hold.

use std::cell::Cell;

use crate::limits::READING_UNITS_MAX;

/// What is left of [`READING_UNITS_MAX`].
#[derive(Debug)]
pub(crate) struct ReadingEffort {
    left: Cell<usize>,
}

impl ReadingEffort {
    pub(crate) fn new() -> ReadingEffort {
        ReadingEffort { left: Cell::new(READING_UNITS_MAX) }
    }

    /// Takes this many units, and says whether there were enough. Once there were not, none are left.
    pub(crate) fn spend(&self, units: usize) -> bool {
        let left = self.left.get().checked_sub(units);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}
