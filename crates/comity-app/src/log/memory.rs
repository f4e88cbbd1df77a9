//! A log in memory, for tests that need no disk.

use std::sync::{Arc, Mutex, PoisonError};

use comity_core::Record;

use super::{Durability, Log, LogError};

/// Clones share the records.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    records: Arc<Mutex<Vec<Record>>>,
    failing: Arc<Mutex<bool>>,
}

impl MemoryLog {
    pub fn records(&self) -> Vec<Record> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes appends fail, or work again.
    pub fn set_failing(&self, failing: bool) {
        *self.failing.lock().unwrap_or_else(PoisonError::into_inner) = failing;
    }
}

impl Log for MemoryLog {
    fn append(&mut self, records: &[Record], _: Durability) -> Result<(), LogError> {
        if *self.failing.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(LogError::DiskFull);
        }
        self.records.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(records);
        Ok(())
    }

    fn drop_sealed(&mut self, _: usize) -> usize {
        0
    }
}
