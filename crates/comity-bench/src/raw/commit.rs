//! One row in one transaction of SQLite: what a durable change costs at least.

use std::path::Path;

use rusqlite::Connection;

/// About what one event of the log has.
const ROW_BYTES: usize = 300;

/// A database in write-ahead mode, everything else as it comes.
pub(crate) struct RawCommits {
    connection: Connection,
    row: String,
}

impl RawCommits {
    pub(crate) fn open(dir: &Path) -> Result<RawCommits, String> {
        RawCommits::open_with(&dir.join("raw.db"), "NORMAL")
    }

    /// Commits that wait for the disk.
    pub(crate) fn open_durable(dir: &Path) -> Result<RawCommits, String> {
        RawCommits::open_with(&dir.join("raw-durable.db"), "FULL")
    }

    fn open_with(file: &Path, synchronous: &str) -> Result<RawCommits, String> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(file)?;
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", synchronous)?;
            connection.execute_batch(
                "CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, event TEXT NOT NULL)",
            )?;
            Ok(connection)
        };
        let connection = open().map_err(|error| error.to_string())?;
        Ok(RawCommits { connection, row: "x".repeat(ROW_BYTES) })
    }

    pub(crate) fn commit(&self) -> Result<(), String> {
        let insert =
            || self.connection.prepare_cached("INSERT INTO events (event) VALUES (?1)")?.execute([&self.row]);
        insert().map(drop).map_err(|error| error.to_string())
    }
}
