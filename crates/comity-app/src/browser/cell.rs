//! Something that one caller makes while the others wait, each as long as it wants to.
//!
//! Its lock is never held while Firefox is asked.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::lock;

pub(super) struct Cell<T> {
    held: Mutex<CellState<T>>,
    moved: Condvar,
}

enum CellState<T> {
    Empty,
    Making,
    There(T),
    /// Nobody wants it any more.
    Over,
}

pub(super) enum CellContent<'a, T> {
    There(T),
    /// It is missing: whoever has this makes it.
    Missing(Making<'a, T>),
    /// Somebody else was still making it.
    Busy,
    /// Nobody wants it any more.
    Over,
}

/// The right to make it; others may try when this is dropped.
pub(super) struct Making<'a, T>(&'a Cell<T>);

impl<T> Default for Cell<T> {
    fn default() -> Cell<T> {
        Cell { held: Mutex::new(CellState::Empty), moved: Condvar::new() }
    }
}

impl<T: Clone> Cell<T> {
    /// The contents; waits for whoever is making them. Contents that are no longer good are made again.
    pub(super) fn find(&self, timeout: Duration, is_good: impl Fn(&T) -> bool) -> CellContent<'_, T> {
        let is_being_made = |held: &mut CellState<T>| matches!(held, CellState::Making);
        let waited = self.moved.wait_timeout_while(lock(&self.held), timeout, is_being_made);
        let (mut held, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &*held {
            CellState::Making => return CellContent::Busy,
            CellState::Over => return CellContent::Over,
            CellState::There(thing) if is_good(thing) => return CellContent::There(thing.clone()),
            CellState::There(_) | CellState::Empty => {}
        }
        *held = CellState::Making;
        CellContent::Missing(Making(self))
    }

    pub(super) fn get(&self) -> Option<T> {
        match &*lock(&self.held) {
            CellState::There(thing) => Some(thing.clone()),
            CellState::Empty | CellState::Making | CellState::Over => None,
        }
    }

    /// Stores something that was made elsewhere; returns what it replaces, or the thing itself if nobody wants it.
    pub(super) fn put(&self, thing: T) -> Option<T> {
        let mut held = lock(&self.held);
        let before = match &*held {
            CellState::Over => return Some(thing),
            CellState::There(before) => Some(before.clone()),
            CellState::Empty | CellState::Making => None,
        };
        *held = CellState::There(thing);
        self.moved.notify_all();
        before
    }

    /// Nobody wants it any more; returns the contents, if any. Whoever is making them finds out at the end.
    pub(super) fn end(&self) -> Option<T> {
        let before = std::mem::replace(&mut *lock(&self.held), CellState::Over);
        self.moved.notify_all();
        match before {
            CellState::There(thing) => Some(thing),
            CellState::Empty | CellState::Making | CellState::Over => None,
        }
    }
}

impl<T: Clone> Making<'_, T> {
    /// Stores what was made; returns the current contents, unless nobody wants them any more.
    pub(super) fn made(self, thing: T) -> Option<T> {
        let mut held = lock(&self.0.held);
        match &*held {
            CellState::Over => return None,
            CellState::There(other) => return Some(other.clone()),
            CellState::Making | CellState::Empty => {}
        }
        *held = CellState::There(thing.clone());
        Some(thing)
    }
}

impl<T> Drop for Making<'_, T> {
    fn drop(&mut self) {
        let mut held = lock(&self.0.held);
        if matches!(*held, CellState::Making) {
            *held = CellState::Empty;
        }
        drop(held);
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Duration = Duration::ZERO;

    fn making(cell: &Cell<u32>) -> Making<'_, u32> {
        match cell.find(AT_ONCE, |_| true) {
            CellContent::Missing(making) => making,
            CellContent::There(_) | CellContent::Busy | CellContent::Over => panic!("it is there"),
        }
    }

    #[test]
    fn one_makes_it_and_nobody_waits_longer_than_wanted() {
        let cell = Cell::default();
        let first = making(&cell);
        assert!(matches!(cell.find(AT_ONCE, |_| true), CellContent::Busy));
        assert_eq!(first.made(7), Some(7));
        assert!(matches!(cell.find(AT_ONCE, |_| true), CellContent::There(7)));
        // Contents that are no longer good are made again; whoever fails leaves that to others.
        assert!(matches!(cell.find(AT_ONCE, |_| false), CellContent::Missing(_)));
        assert_eq!(making(&cell).made(8), Some(8));
    }

    #[test]
    fn what_nobody_wants_any_more_is_given_to_who_ends_it_or_to_who_made_it() {
        let cell = Cell::default();
        let late = making(&cell);
        assert_eq!(cell.end(), None, "it is not there yet");
        assert_eq!(late.made(7), None, "its maker has to put it away");
        assert!(matches!(cell.find(AT_ONCE, |_| true), CellContent::Over));
        assert_eq!(cell.put(8), Some(8));
        let cell = Cell::default();
        assert_eq!(making(&cell).made(7), Some(7));
        assert_eq!(cell.end(), Some(7));
    }

    #[test]
    fn what_comes_from_elsewhere_goes_before_what_is_being_made() {
        let cell = Cell::default();
        let late = making(&cell);
        assert_eq!(cell.put(7), None);
        assert_eq!(late.made(8), Some(7));
        assert_eq!(cell.get(), Some(7));
        assert_eq!(cell.put(9), Some(7), "the one before is too much");
    }
}
