//! Which Comity wrote the log: an older one does not guess at what a newer one meant.

use comity_core::version::is_newer;
use rusqlite::{Connection, OptionalExtension};

use super::proof::is_damage;
use super::sqlite::SqliteLog;

/// The form of records and worlds. Raise it with each change that an older Comity would misread; every older form is
/// read for ever (`crates/comity/tests/old_logs`).
pub const FORM: i64 = 3;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS written_by (
    only INTEGER PRIMARY KEY CHECK (only = 1), form INTEGER NOT NULL, version TEXT NOT NULL) STRICT";

/// The newest form and the newest Comity that wrote to the log.
struct WrittenBy {
    form: i64,
    version: String,
}

fn read(connection: &Connection) -> Result<Option<WrittenBy>, String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let is_there = "SELECT 1 FROM sqlite_schema WHERE name = 'written_by'";
    if connection.query_row(is_there, [], |_| Ok(())).optional().map_err(describe)?.is_none() {
        return Ok(None);
    }
    let read = "SELECT form, version FROM written_by";
    let row = connection.query_row(read, [], |row| Ok(WrittenBy { form: row.get(0)?, version: row.get(1)? }));
    row.optional().map_err(describe)
}

/// The newest form that a log was written in; `None` if that was before this was recorded.
pub(super) fn form(connection: &Connection) -> Result<Option<i64>, String> {
    Ok(read(connection)?.map(|by| by.form))
}

/// Whether sealed worlds of this form may lack what this Comity writes into them: facts, and a hash of themselves.
pub(super) fn is_of_older_form(form: Option<i64>) -> bool {
    form.is_none_or(|form| form < FORM)
}

/// Refuses a log of a newer form.
pub(super) fn check(connection: &Connection) -> Result<(), String> {
    match read(connection)? {
        Some(by) if by.form > FORM => Err(use_it(&by.version)),
        _ => Ok(()),
    }
}

/// The suffix for a record that cannot be read although nobody has changed it.
pub(super) const AS_WRITTEN: &str = ", as it was written";

/// Why a log cannot be read, if a newer Comity or another build of this one wrote it.
pub(super) fn explain(connection: &Connection, problem: &str) -> Option<String> {
    let by = read(connection).ok().flatten()?;
    if is_newer(&by.version, env!("CARGO_PKG_VERSION")) {
        return Some(format!("{} ({problem})", use_it(&by.version)));
    }
    let version = &by.version;
    let another =
        || format!("another build of Comity {version} wrote this log; use that one, or another COMITY_HOME");
    problem.ends_with(AS_WRITTEN).then(|| format!("{} ({problem})", another()))
}

/// Copies who wrote a log.
pub(super) fn copy(from: &Connection, to: &Connection) -> Result<(), String> {
    let known = match read(from) {
        // Nobody can tell any more; the records are kept all the same.
        Err(problem) if is_damage(&problem) => None,
        other => other?,
    };
    let Some(WrittenBy { form, version }) = known else { return Ok(()) };
    let written = to
        .execute_batch(TABLE)
        .and_then(|()| to.execute("INSERT OR REPLACE INTO written_by VALUES (1, ?1, ?2)", (form, version)));
    written.map(drop).map_err(|error| error.to_string())
}

fn use_it(version: &str) -> String {
    format!("this log was written by Comity {version}; use it or newer, or another COMITY_HOME")
}

impl SqliteLog {
    /// Records that this version of Comity writes from here on.
    pub fn sign(&self, version: &str) -> Result<(), String> {
        let connection = self.connection();
        let known = read(connection)?;
        let is_signed = |by: &WrittenBy| by.form >= FORM && !is_newer(version, &by.version);
        if known.as_ref().is_some_and(is_signed) {
            return Ok(());
        }
        let newest = known.map_or(FORM, |by| by.form.max(FORM));
        connection
            .execute_batch(TABLE)
            .and_then(|()| {
                connection.execute("INSERT OR REPLACE INTO written_by VALUES (1, ?1, ?2)", (newest, version))
            })
            .map(drop)
            .map_err(|error| format!("the log can't be signed: {error}"))
    }
}
