//! The reading end of the log, for threads that do not write events.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use comity_core::Record;
use rusqlite::Connection;

use super::chain::Stored;
use super::rows;
use super::segments::Segments;
use super::sqlite::open_for_writing;

/// A reading end of the log, and what keeps the log small.
#[derive(Debug)]
pub struct Reader {
    connection: Mutex<Connection>,
    segments: Segments,
}

/// How much of the write-ahead log to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoint {
    /// What writers no longer need, without being in their way.
    Behind,
    /// All of it, when nobody writes; the file is used again from its beginning.
    Again,
    /// All of it, when nobody writes for a while; the file becomes empty.
    Whole,
}

impl Reader {
    pub(super) fn open(path: &Path, segments: Segments) -> Result<Reader, String> {
        let connection = Mutex::new(open_for_writing(path)?);
        Ok(Reader { connection, segments })
    }

    /// Moves what it can of the write-ahead log into the database; writers do not wait for it.
    pub fn checkpoint(&self, how: Checkpoint) {
        let sql = match how {
            Checkpoint::Behind => "PRAGMA wal_checkpoint(PASSIVE)",
            Checkpoint::Again => "PRAGMA wal_checkpoint(RESTART)",
            Checkpoint::Whole => "PRAGMA wal_checkpoint(TRUNCATE)",
        };
        // What cannot be moved now is moved later; it is safe where it is.
        let _ = self.connection().query_row(sql, [], |_| Ok(()));
    }

    /// Seals the oldest records into a segment, if there are enough of them; they stay in the table.
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

    /// The sealed part of the log.
    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    /// The records after `after`, at most `limit`, wherever they are.
    pub fn read(&self, after: u64, limit: usize) -> Result<Vec<Record>, String> {
        let mut records = Vec::new();
        if after < self.segments.sealed_up_to() {
            self.segments.read(after, limit, &mut records)?;
        }
        let from = records.last().map_or(after, |last: &Record| last.seq);
        if records.len() < limit {
            let left = limit - records.len();
            self.visit_hot(from, left, |stored, _| {
                records.push(stored.record()?);
                Ok(())
            })?;
        }
        Ok(records)
    }

    /// Visits the records that are not sealed, as they are stored.
    pub fn visit_hot(
        &self,
        after: u64,
        limit: usize,
        visit: impl FnMut(&Stored<'_>, super::Hash) -> Result<(), String>,
    ) -> Result<(), String> {
        rows::visit(&self.connection(), after, limit, visit)
    }
}
