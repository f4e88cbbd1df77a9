//! The log in SQLite: one writer, write-ahead log, checkpoints off the write path.

use std::path::{Path, PathBuf};

use comity_core::world::Patience;
use comity_core::{Record, World};
use rusqlite::{Connection, ErrorCode, params};

use super::chain::{Chain, Stored};
use super::reader::Reader;
use super::rows::{self, SCHEMA, SCHEMA_VERSION};
use super::segments::Segments;
use super::{Durability, Log, LogError};

/// The writer's end of the log.
#[derive(Debug)]
pub struct SqliteLog {
    path: PathBuf,
    connection: Connection,
    segments: Segments,
    chain: Chain,
    synced: Durability,
}

/// Where a server begins: the world as the log has it.
pub struct StartPoint {
    /// The writer's end.
    pub log: SqliteLog,
    /// The world at the log's head.
    pub world: World,
}

impl SqliteLog {
    /// Opens the log in `home`, makes it if there is none, and folds it into the world.
    pub fn open(home: &Path, patience: Patience) -> Result<StartPoint, String> {
        let path = home.join("log.db");
        let connection = open_for_writing(&path)?;
        migrate(&connection)?;
        let segments = Segments::open(&home.join("ledger"))?;
        let (mut world, chain) = segments.newest_world(patience)?;
        let mut log = SqliteLog { path, connection, segments, chain, synced: Durability::Live };
        log.drop_sealed(usize::MAX);
        let (mut head, mut chain) = (world.head, log.chain);
        rows::visit(&log.connection, head, usize::MAX, |row| {
            if row.seq != head + 1 {
                return Err(format!("record {} is missing from the log", head + 1));
            }
            world.apply(&row.record()?);
            (head, chain) = (row.seq, Chain(row.hash));
            Ok(())
        })?;
        log.chain = chain;
        Ok(StartPoint { log, world })
    }

    /// A reader of the same log, for another thread.
    pub fn reader(&self) -> Result<Reader, String> {
        Reader::open(&self.path, self.segments.clone())
    }

    fn write(&mut self, records: &[Record]) -> rusqlite::Result<Chain> {
        let mut chain = self.chain;
        if records.len() == 1 {
            // A statement by itself is a transaction.
            return self.insert(records, &mut chain).map(|()| chain);
        }
        // Prepared once: parsing BEGIN and COMMIT would cost as much as writing a row.
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let written = self.insert(records, &mut chain);
        let ended = written.and_then(|()| self.connection.prepare_cached("COMMIT")?.execute([]));
        if let Err(error) = ended {
            // Fails where the error has ended the transaction already.
            let _ = self.connection.execute_batch("ROLLBACK");
            return Err(error);
        }
        Ok(chain)
    }

    fn insert(&self, records: &[Record], chain: &mut Chain) -> rusqlite::Result<()> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
        for record in records {
            let event = serde_json::to_string(&record.event)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
            let by = record.by.to_string();
            let key = record.key.as_ref().map(comity_core::Key::as_str);
            let (seq, now, wall_ms) = (record.seq, record.now.0, record.wall_ms);
            let hash = chain.add(&Stored { seq, now, wall_ms, by: &by, key, event: &event });
            insert.execute(params![seq as i64, now as i64, wall_ms, by, key, event, hash])?;
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

    /// After a failed write nothing of the connection is trusted: it is opened again.
    fn reopen(&mut self) {
        if let Ok(fresh) = open_for_writing(&self.path) {
            self.connection = fresh;
            self.synced = Durability::Live;
        }
    }
}

impl Log for SqliteLog {
    fn append(&mut self, records: &[Record], durability: Durability) -> Result<(), LogError> {
        let written = self.set_durability(durability).and_then(|()| self.write(records));
        match written {
            Ok(chain) => {
                self.chain = chain;
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
            self.connection.execute("UPDATE sealed SET up_to = ?1 WHERE up_to < ?1", [up_to])?;
            let limit = i64::try_from(at_most).unwrap_or(i64::MAX);
            let sql = "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq <= ?1 ORDER BY seq LIMIT ?2)";
            self.connection.execute(sql, [up_to, limit])
        };
        // What could not be dropped now is dropped at the next start.
        delete().unwrap_or(0)
    }
}

pub(super) fn open_for_writing(path: &Path) -> Result<Connection, String> {
    let said = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let connection = Connection::open(path).map_err(said)?;
    connection.busy_timeout(std::time::Duration::from_secs(2)).map_err(said)?;
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(said)?;
    if mode != "wal" {
        return Err(format!("{}: this file system cannot hold the log (no write-ahead log)", path.display()));
    }
    for (pragma, value) in [
        ("synchronous", "NORMAL"),
        ("wal_autocheckpoint", "0"),
        ("trusted_schema", "OFF"),
        ("mmap_size", "0"),
    ] {
        connection.pragma_update(None, pragma, value).map_err(said)?;
    }
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn migrate(connection: &Connection) -> Result<(), String> {
    let said = |error: rusqlite::Error| error.to_string();
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(said)?;
    match version {
        0 => connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            ))
            .map_err(said),
        SCHEMA_VERSION => Ok(()),
        newer => Err(format!(
            "the log was written by a newer comity (form {newer}); use that one, or another COMITY_HOME"
        )),
    }
}

fn explain(error: &rusqlite::Error) -> LogError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => LogError::DiskFull,
        // The next number exists already: somebody else gave it out.
        Some(ErrorCode::ConstraintViolation) => LogError::Fenced,
        _ if error.to_string().contains("disk is full") => LogError::DiskFull,
        _ => LogError::Failed(error.to_string()),
    }
}
