//! The reading end of the log, for threads that do not write events.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_core::Record;
use rusqlite::Connection;

use super::chain::Stored;
use super::segments::Segments;
use super::sizes::Sizes;
use super::sqlite::{backlog_bytes, open_for_writing};
use super::verify::{self, VerifiedLog};
use super::witness::{Witness, WitnessRecord};
use super::{proof, rows};
use crate::page_size::{PageBudget, PageSize};

/// A reading end of the log, which also keeps the log small.
#[derive(Debug)]
pub struct LogReader {
    home: PathBuf,
    connection: Mutex<Connection>,
    segments: Segments,
    witness: Option<Arc<Witness>>,
    sizes: Arc<Sizes>,
}

/// How much of the write-ahead log to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// What writers no longer need, without blocking them.
    Behind,
    /// All of it, when nobody writes; the file is reused from its beginning.
    Again,
    /// All of it, when nobody writes for a while; the file is truncated.
    Whole,
}

/// A page while it is filled.
struct Filling {
    records: Vec<Record>,
    room: PageBudget,
    is_full: bool,
}

impl Filling {
    fn takes(&mut self, stored: &Stored<'_>) -> Result<bool, String> {
        self.is_full = !self.room.takes(stored.event.len());
        if !self.is_full {
            self.records.push(stored.record()?);
        }
        Ok(!self.is_full)
    }
}

impl LogReader {
    pub(super) fn open(
        home: &Path,
        segments: Segments,
        witness: Option<Arc<Witness>>,
        sizes: Arc<Sizes>,
    ) -> Result<LogReader, String> {
        let connection = Mutex::new(open_for_writing(&proof::path(home))?);
        Ok(LogReader { home: home.into(), connection, segments, witness, sizes })
    }

    /// The size of the write-ahead log.
    pub(crate) fn backlog_bytes(&self) -> u64 {
        backlog_bytes(&self.home)
    }

    /// Makes the witness durable.
    pub fn sync_witness(&self) {
        // Until the next time it is behind, which does no harm.
        let _ = self.witness.as_ref().map(|witness| witness.sync());
    }

    /// Proves that the log is intact, and goes at least to `head` and as far as the witness says.
    pub fn verify(&self, head: u64) -> Result<VerifiedLog, String> {
        self.sizes.check()?;
        let testimony = WitnessRecord::read(&self.home)?;
        verify::verify(self, testimony.map(|said| said.head(&self.home)).unwrap_or_default(), head)
    }

    /// Closes the reading end of the log.
    pub fn close(&self) {
        if let Ok(nothing) = Connection::open_in_memory() {
            *self.connection() = nothing;
        }
    }

    /// Moves what it can of the write-ahead log into the database; writers do not wait for it.
    pub fn checkpoint(&self, how: Checkpoint) {
        let sql = match how {
            Checkpoint::Behind => "PRAGMA wal_checkpoint(PASSIVE)",
            Checkpoint::Again => "PRAGMA wal_checkpoint(RESTART)",
            Checkpoint::Whole => "PRAGMA wal_checkpoint(TRUNCATE)",
        };
        let connection = self.connection();
        let mut held = self.sizes.hold();
        // In a truncated file it would only do more damage.
        if held.check().is_err() {
            return;
        }
        // What cannot be moved now is moved later; it is safe where it is.
        let run = || drop(connection.query_row(sql, [], |_| Ok(())));
        if how == Checkpoint::Behind {
            drop(held);
            return run();
        }
        run();
        held.note();
    }

    /// Seals the oldest records into a segment, if there are enough; they stay in the table.
    pub fn seal_next(&self) -> Result<bool, String> {
        self.segments.seal_next(&self.connection())
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The oldest record that is still in the table.
    pub fn oldest(&self) -> Option<u64> {
        let connection = self.connection();
        let mut oldest = connection.prepare_cached("SELECT min(seq) FROM events").ok()?;
        oldest.query_row([], |row| row.get::<_, Option<i64>>(0)).ok()?.map(|seq| seq as u64)
    }

    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// The records after `after`, at most `limit`, wherever they are.
    pub fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, String> {
        self.read_page(after, PageSize { records: limit, bytes: usize::MAX })
    }

    /// The records after `after`, wherever they are: as many as fit into a page, and at least one if there is one.
    pub fn read_page(&self, after: u64, page: PageSize) -> Result<Vec<Record>, String> {
        crate::engine::assert_nobody_looks();
        let mut filling = Filling { records: Vec::new(), room: page.room(), is_full: false };
        if after < self.segments.sealed_up_to() {
            self.segments.visit_after(after, |stored| filling.takes(stored))?;
        }
        let from = filling.records.last().map_or(after, |last| last.seq);
        if !filling.is_full {
            rows::visit_while(&self.connection(), from, page.records, |stored, _| filling.takes(stored))?;
        }
        Ok(filling.records)
    }

    /// Visits the unsealed records, as they are stored.
    pub(crate) fn visit_hot(
        &self,
        after: u64,
        limit: usize,
        visit: impl FnMut(&Stored<'_>, super::Hash) -> Result<(), String>,
    ) -> Result<(), String> {
        rows::visit(&self.connection(), after, limit, visit)
    }
}
