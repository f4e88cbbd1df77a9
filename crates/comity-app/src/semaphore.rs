//! Lets a few threads through at a time.

use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Semaphore {
    free: Mutex<usize>,
    more: Condvar,
}

/// A permit; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct SemaphorePermit<'a>(&'a Semaphore);

impl Semaphore {
    pub(crate) const fn new(places: usize) -> Semaphore {
        Semaphore { free: Mutex::new(places), more: Condvar::new() }
    }

    pub(crate) fn acquire(&self) -> SemaphorePermit<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        SemaphorePermit(self)
    }
}

impl Drop for SemaphorePermit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.more.notify_one();
    }
}
