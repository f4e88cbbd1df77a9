//! Lets a few threads through at a time.

use std::sync::{Condvar, Mutex, PoisonError};

/// A gate with so many places behind it.
pub(crate) struct Turnstile {
    free: Mutex<usize>,
    more: Condvar,
}

/// A place behind the gate; it is free again when this goes.
pub(crate) struct GateTurn<'a>(&'a Turnstile);

impl Turnstile {
    pub(crate) const fn new(places: usize) -> Turnstile {
        Turnstile { free: Mutex::new(places), more: Condvar::new() }
    }

    /// Waits for a place.
    pub(crate) fn enter(&self) -> GateTurn<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        GateTurn(self)
    }
}

impl Drop for GateTurn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.more.notify_one();
    }
}
