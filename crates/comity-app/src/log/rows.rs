//! The tables, and how records are read from them.

use rusqlite::{Connection, Row};

use super::chain::{Hash, Stored};

/// A newer one is refused.
pub(super) const SCHEMA_VERSION: i64 = 2;

/// Rows are never changed; only sealed ones may be removed.
pub(super) const SCHEMA: &str = "
    CREATE TABLE events (
        seq     INTEGER PRIMARY KEY,
        now     INTEGER NOT NULL,
        wall_ms INTEGER NOT NULL,
        by      TEXT NOT NULL,
        key     TEXT,
        event   TEXT NOT NULL,
        hash    BLOB NOT NULL,
        concerns TEXT
    ) STRICT;
    CREATE TRIGGER events_are_final BEFORE UPDATE ON events
        BEGIN SELECT raise(ABORT, 'events are never changed'); END;
    CREATE TABLE sealed (only INTEGER PRIMARY KEY CHECK (only = 1), up_to INTEGER NOT NULL) STRICT;
    INSERT INTO sealed VALUES (1, 0);
    CREATE TRIGGER only_sealed_events_go BEFORE DELETE ON events WHEN OLD.seq > (SELECT up_to FROM sealed)
        BEGIN SELECT raise(ABORT, 'only sealed events may go'); END;
";

/// Upgrades tables of the first version.
pub(super) const FROM_VERSION_1: &str = "ALTER TABLE events ADD COLUMN concerns TEXT;";

pub(super) const COLUMNS: &str = "seq, now, wall_ms, by, key, event, hash, concerns";

/// Visits the rows after `after`, in order, at most `limit`; an error stops it.
pub(super) fn visit(
    connection: &Connection,
    after: u64,
    limit: usize,
    mut visit: impl FnMut(&Stored<'_>, Hash) -> Result<(), String>,
) -> Result<(), String> {
    visit_while(connection, after, limit, |stored, hash| visit(stored, hash).map(|()| true))
}

/// Visits the rows after `after`, in order, at most `limit`, while more are wanted.
pub(super) fn visit_while(
    connection: &Connection,
    after: u64,
    limit: usize,
    mut visit: impl FnMut(&Stored<'_>, Hash) -> Result<bool, String>,
) -> Result<(), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let sql = format!("SELECT {COLUMNS} FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql).map_err(describe)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((after as i64, limit)).map_err(describe)?;
    while let Some(row) = rows.next().map_err(describe)? {
        let (stored, hash) = read(row).map_err(|problem| format!("a row after {after}: {problem}"))?;
        if !visit(&stored, hash)? {
            break;
        }
    }
    Ok(())
}

/// Reads a row in place.
fn read<'a>(row: &'a Row<'_>) -> Result<(Stored<'a>, Hash), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let text = |column: usize| -> Result<&'a str, String> {
        let value = row.get_ref(column).map_err(describe)?;
        value.as_str().map_err(|error| error.to_string())
    };
    let optional = |column: usize| -> Result<Option<&'a str>, String> {
        row.get_ref(column).map_err(describe)?.as_str_or_null().map_err(|error| error.to_string())
    };
    let stored = Stored {
        seq: row.get::<_, i64>(0).map_err(describe)? as u64,
        now: row.get::<_, i64>(1).map_err(describe)? as u64,
        wall_ms: row.get(2).map_err(describe)?,
        by: text(3)?,
        key: optional(4)?,
        event: text(5)?,
        concerns: optional(7)?,
    };
    Ok((stored, row.get(6).map_err(describe)?))
}
