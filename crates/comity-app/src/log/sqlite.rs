//! The log in SQLite: one writer, write-ahead log, checkpoints off the write path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use comity_core::server::ServerEvent;
use comity_core::world::Timeouts;
use comity_core::{Event, Fence, Record, World};
use rusqlite::{Connection, ErrorCode, params};

use super::chain::{Chain, Stored};
use super::proof::{self, InspectedLog};
use super::reader::LogReader;
use super::recover::renew;
use super::replacement;
use super::rows::{FROM_VERSION_1, SCHEMA, SCHEMA_VERSION};
use super::segments::Segments;
use super::sizes::Sizes;
use super::witness::{LogHead, Witness, WitnessRecord};
use super::{Durability, Log, LogError};

/// Above this size a start moves the write-ahead log: servers that are killed again and again would not.
const BACKLOG_BYTES_AT_START: u64 = 16 << 20;
/// With more unsealed records a start seals some, for the same reason.
const HOT_RECORDS_AT_START: u64 = 30_000;

/// The writer's end of the log.
#[derive(Debug)]
pub struct SqliteLog {
    home: PathBuf,
    connection: Connection,
    segments: Segments,
    chain: Chain,
    /// `None` while its cost is measured.
    witness: Option<Arc<Witness>>,
    /// No fence above this one is in the log.
    fence: u64,
    sizes: Arc<Sizes>,
    is_closed: bool,
    synced: Durability,
    /// The event that is being written, as text: one reused buffer.
    text: Vec<u8>,
}

/// Where a server begins.
pub struct StartPoint {
    pub log: SqliteLog,
    /// The world at the log's head.
    pub world: World,
}

impl SqliteLog {
    /// Opens the log in `home`, creates it if there is none, and folds it into the world.
    pub fn open(home: &Path, patience: Timeouts) -> Result<StartPoint, String> {
        let examine = || proof::examine(home, patience).map_err(|unfit| unfit.to_string());
        let mut found = examine()?;
        if found.segments.is_of_older_form() && found.segments.sealed_up_to() > 0 {
            renew(&found.segments)?;
            drop(found);
            found = examine()?;
        }
        let InspectedLog { connection, segments, testimony, world, chain } = found;
        replacement::clear(home)?;
        proof::keep_backlog(&connection, false)?;
        if backlog_bytes(home) > BACKLOG_BYTES_AT_START {
            // What cannot be moved now is moved later; it is safe where it is.
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        }
        if world.head - segments.sealed_up_to() > HOT_RECORDS_AT_START + world.locks.len() as u64 {
            let _ = segments.seal_next(&connection);
        }
        let head = LogHead { seq: world.head, hash: chain.0 };
        let says = WitnessRecord::of(testimony, home, head, world.fence.0);
        let witness = Witness::open(home, testimony, says)?;
        segments.begin()?;
        witness.name_again(home);
        let sizes = Sizes::of(home).map_err(|error| format!("{}: {error}", home.display()))?;
        let log = SqliteLog {
            home: home.into(),
            connection,
            segments,
            chain,
            fence: world.fence.0,
            witness: Some(Arc::new(witness)),
            sizes: Arc::new(sizes),
            is_closed: false,
            synced: Durability::Live,
            text: Vec::new(),
        };
        Ok(StartPoint { log, world })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub fn reader(&self) -> Result<LogReader, String> {
        LogReader::open(&self.home, self.segments.clone(), self.witness.clone(), self.sizes.clone())
    }

    /// No fence above this one was ever given, even by servers of a longer log.
    pub fn fences_up_to(&self) -> Fence {
        Fence(self.witness.as_ref().map_or(0, |witness| witness.fences_up_to()).max(self.fence))
    }

    /// Continues without a witness, to measure its cost.
    pub fn forget_witness(&mut self) {
        self.witness = None;
    }

    /// Makes sure, before fences are given, that nobody gives them again.
    fn reserve_fences(&mut self, records: &[Record]) -> std::io::Result<()> {
        for record in records {
            if let Event::Server(ServerEvent::Started { fence_floor, .. }) = &record.event {
                self.fence = self.fence.max(fence_floor.0);
            }
            // No record gives more than one.
            self.fence += 1;
        }
        self.witness.as_ref().map_or(Ok(()), |witness| witness.reserve_fences(self.fence))
    }

    fn write(&mut self, records: &[Record]) -> rusqlite::Result<Chain> {
        let mut chain = self.chain;
        if records.len() == 1 {
            // A single statement is a transaction.
            return self.insert(records, &mut chain).map(|()| chain);
        }
        // Prepared once: parsing BEGIN and COMMIT would cost as much as writing a row.
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let written = self.insert(records, &mut chain);
        let ended = written.and_then(|()| self.connection.prepare_cached("COMMIT")?.execute([]));
        if let Err(error) = ended {
            // Fails if the error has already ended the transaction.
            let _ = self.connection.execute_batch("ROLLBACK");
            return Err(error);
        }
        Ok(chain)
    }

    fn insert(&mut self, records: &[Record], chain: &mut Chain) -> rusqlite::Result<()> {
        let unfit =
            |error: Box<dyn std::error::Error + Send + Sync>| rusqlite::Error::ToSqlConversionFailure(error);
        let mut insert =
            self.connection.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
        for record in records {
            self.text.clear();
            serde_json::to_writer(&mut self.text, &record.event).map_err(|error| unfit(error.into()))?;
            let event = str::from_utf8(&self.text).map_err(|error| unfit(error.into()))?;
            let by = match &record.from {
                None => record.by.to_string(),
                Some(from) => {
                    let from = serde_json::to_string(from).map_err(|error| unfit(error.into()))?;
                    format!("{} {from}", record.by)
                }
            };
            let key = record.key.as_ref().map(comity_core::Key::as_str);
            let (seq, now, wall_ms) = (record.seq, record.now.0, record.wall_ms);
            let concerns = stored_concerns(record);
            let concerns = concerns.as_deref();
            let hash = chain.add(&Stored { seq, now, wall_ms, by: &by, key, event, concerns });
            insert.execute(params![seq as i64, now as i64, wall_ms, by, key, event, hash, concerns])?;
        }
        Ok(())
    }

    fn set_durability(&mut self, wanted: Durability) -> rusqlite::Result<()> {
        if self.synced != wanted {
            let level = match wanted {
                Durability::Live => "NORMAL",
                Durability::Durable => "FULL",
            };
            self.connection.pragma_update(None, "synchronous", level)?;
            self.synced = wanted;
        }
        Ok(())
    }

    /// After a failed write the connection is not trusted: it is opened again.
    fn reopen(&mut self) {
        if let Ok(fresh) = open_for_writing(&proof::path(&self.home)) {
            self.connection = fresh;
            self.synced = Durability::Live;
        }
    }
}

impl Log for SqliteLog {
    fn append(&mut self, records: &[Record], durability: Durability) -> Result<(), LogError> {
        if self.is_closed {
            return Err(LogError::Failed("the server is stopping".into()));
        }
        let sizes = Arc::clone(&self.sizes);
        let mut held = sizes.hold();
        held.check().map_err(LogError::Cut)?;
        self.reserve_fences(records).map_err(|error| LogError::Failed(format!("log.witness: {error}")))?;
        let written = self.set_durability(durability).and_then(|()| self.write(records));
        match written {
            Ok(chain) => {
                held.note();
                self.chain = chain;
                if let (Some(witness), Some(last)) = (&self.witness, records.last()) {
                    witness.record(LogHead { seq: last.seq, hash: chain.0 }, durability, last.wall_ms);
                }
                Ok(())
            }
            Err(error) => {
                let problem = explain(&error);
                if !matches!(problem, LogError::Fenced) {
                    self.reopen();
                }
                Err(problem)
            }
        }
    }

    fn drop_sealed(&mut self, at_most: usize) -> usize {
        let up_to = self.segments.sealed_up_to() as i64;
        let delete = || -> rusqlite::Result<usize> {
            let sealed = "UPDATE sealed SET up_to = ?1 WHERE up_to < ?1";
            self.connection.prepare_cached(sealed)?.execute([up_to])?;
            let oldest = "SELECT coalesce(min(seq), 0) FROM events";
            let first: i64 = self.connection.prepare_cached(oldest)?.query_row([], |row| row.get(0))?;
            let last = i64::try_from(at_most).map_or(i64::MAX, |count| first.saturating_add(count - 1));
            self.connection.prepare_cached("DELETE FROM events WHERE seq <= ?1")?.execute([last.min(up_to)])
        };
        let mut held = self.sizes.hold();
        if held.check().is_err() || !self.segments.are_in_place() {
            return 0;
        }
        // What could not be dropped now is dropped at the next start.
        let dropped = delete().unwrap_or(0);
        held.note();
        dropped
    }

    fn close(&mut self) {
        self.is_closed = true;
        if let Some(witness) = &self.witness {
            let _ = witness.sync();
        }
        // Closing the last connection moves the write-ahead log and removes it; in a truncated file that would do
        // more damage.
        if self.sizes.check().is_err() {
            let _ = proof::keep_backlog(&self.connection, true);
        }
        if let Ok(nothing) = Connection::open_in_memory() {
            self.connection = nothing;
        }
    }
}

/// The size of a state directory's write-ahead log.
pub(super) fn backlog_bytes(home: &Path) -> u64 {
    std::fs::metadata(home.join("log.db-wal")).map_or(0, |file| file.len())
}

/// `None` for nearly all: most events name whom they concern.
fn stored_concerns(record: &Record) -> Option<String> {
    let all: Vec<String> = record.concerns.iter().map(ToString::to_string).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

pub(super) fn open_for_writing(path: &Path) -> Result<Connection, String> {
    let describe = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let connection = Connection::open(path).map_err(describe)?;
    connection.busy_timeout(std::time::Duration::from_secs(2)).map_err(describe)?;
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(describe)?;
    if mode != "wal" {
        return Err(format!("{}: this file system can't hold the log (no write-ahead log)", path.display()));
    }
    for (pragma, value) in [
        ("synchronous", "NORMAL"),
        ("wal_autocheckpoint", "0"),
        ("trusted_schema", "OFF"),
        ("mmap_size", "0"),
    ] {
        connection.pragma_update(None, pragma, value).map_err(describe)?;
    }
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// The version of a log's tables; 0 if it has none.
pub(super) fn version(connection: &Connection) -> Result<i64, String> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    version.map_err(|error| error.to_string())
}

pub(super) fn migrate(connection: &Connection) -> Result<(), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    match version(connection)? {
        0 => connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            ))
            .map_err(describe),
        1 => connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {FROM_VERSION_1} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            ))
            .map_err(describe),
        SCHEMA_VERSION => Ok(()),
        newer => Err(format!(
            "the log was written by a newer comity (form {newer}); use that one, or another COMITY_HOME"
        )),
    }
}

fn explain(error: &rusqlite::Error) -> LogError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LogError::DiskFull,
        // The next number already exists: somebody else gave it.
        Some(ErrorCode::ConstraintViolation) => LogError::Fenced,
        _ if error.to_string().contains("disk is full") => LogError::DiskFull,
        _ => LogError::Failed(error.to_string()),
    }
}
