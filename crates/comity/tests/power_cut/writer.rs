//! A plain writer to SQLite, as strict or as careless as it is told: what a power cut takes from it shows that cuts are real.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rusqlite::Connection;

/// Rows after which a writer stops by itself: nobody has cut the power.
const ROWS_MAX: u32 = 200_000;

/// Makes a database that is on the disk for certain.
pub(crate) fn create(path: &Path) {
    let connection = open(path, "FULL").expect("a database");
    connection.execute_batch("CREATE TABLE rows (number INTEGER PRIMARY KEY)").expect("a table");
    // The last one who closes it writes everything into the one file.
    drop(connection);
    let synced = std::fs::File::open(path).and_then(|file| file.sync_all());
    synced.expect("a file on the disk");
}

/// Appends one row after the other until the disk is gone, and tells after each commit how far it is.
///
/// Nothing is told once it is stopped: a sync that goes on while the power fails may look as if it had worked. It goes on
/// writing all the same, since closing the database would sync it.
pub(crate) fn append(path: &Path, synchronous: &str, acked: &AtomicU64, is_stopped: &AtomicBool) {
    let Ok(connection) = open(path, synchronous) else { return };
    for number in 1..=ROWS_MAX {
        if connection.execute("INSERT INTO rows VALUES (?1)", [number]).is_err() {
            return;
        }
        if !is_stopped.load(Ordering::SeqCst) {
            acked.store(number.into(), Ordering::Relaxed);
        }
    }
}

/// How many rows are there without a gap.
pub(crate) fn kept(path: &Path) -> u64 {
    // Of a writer that syncs nothing not even the file's name need be on the disk.
    if !path.exists() {
        return 0;
    }
    let connection = open(path, "FULL").expect("a database");
    let whole: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
    assert_eq!(whole, "ok");
    let counted = connection.query_row("SELECT count(*), coalesce(max(number), 0) FROM rows", [], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?))
    });
    let (count, newest) = counted.expect("an answer");
    assert_eq!(count, newest, "rows are lost from the end only");
    count.into()
}

fn open(path: &Path, synchronous: &str) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    // Else a checkpoint may have synced the rest by chance.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(connection)
}
