//! Full-text search over all mail: an index of the log, updated by whoever searches.
//!
//! The index holds nothing of its own: if it is lost or damaged it is rebuilt from the log.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use comity_core::agents::AgentEvent;
use comity_core::mail::MailEvent;
use comity_core::{Event, Principal, Record};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::held_dir::HeldDir;
use crate::log::LogReader;
use crate::page_size::PageSize;

/// The version of the index; another one is discarded and rebuilt.
const VERSION: i64 = 2;
/// What is read from the log at a time.
const PAGE: PageSize = PageSize { records: 1_000, bytes: 1024 * 1024 };

/// Finds letters by their words, for those who may read them.
pub struct MailIndex {
    home: Option<HeldDir>,
    path: PathBuf,
    open: Mutex<Option<Connection>>,
}

/// A letter that matches.
#[derive(Clone, PartialEq, Debug)]
pub struct FoundLetter {
    pub id: String,
    pub from: String,
    pub to: String,
    pub thread: String,
    pub wall_ms: i64,
    pub subject: Option<String>,
    /// The matching part.
    pub snippet: String,
}

/// What to search for in letters.
#[derive(Clone, Copy, Debug)]
pub struct LetterQuery<'a> {
    pub words: &'a str,
    pub thread: Option<&'a str>,
    pub limit: usize,
}

impl MailIndex {
    /// The index below a state directory; created when it is first used.
    pub fn below(home: &Path) -> MailIndex {
        MailIndex { home: HeldDir::open(home).ok(), path: home.join("mail-index.db"), open: Mutex::new(None) }
    }

    /// The newest letters with all the words, or all of one thread, of those that may be read: `may_read` gets the
    /// sender and the receivers.
    pub fn search(
        &self,
        reader: &LogReader,
        head: u64,
        wanted: &LetterQuery<'_>,
        may_read: impl FnMut(Principal, &[Principal]) -> bool,
    ) -> Result<Vec<FoundLetter>, String> {
        if self.home.as_ref().is_some_and(|home| !home.is_in_place()) {
            return Err(said("the state directory was moved or removed"));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match open.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let connection = open.insert(connection);
        let found = catch_up(connection, reader, head).and_then(|()| query(connection, wanted, may_read));
        if found.is_err() {
            // Whatever is wrong with it, the next search begins with a new index.
            *open = None;
            let _ = std::fs::remove_file(&self.path);
        }
        found
    }

    fn connect(&self) -> Result<Connection, String> {
        let connection = Connection::open(&self.path).map_err(said)?;
        match prepare(&connection) {
            Ok(()) => Ok(connection),
            Err(_) => {
                drop(connection);
                std::fs::remove_file(&self.path).map_err(said)?;
                let connection = Connection::open(&self.path).map_err(said)?;
                prepare(&connection)?;
                Ok(connection)
            }
        }
    }
}

fn said(error: impl std::fmt::Display) -> String {
    format!("the index of mail: {error}")
}

fn prepare(connection: &Connection) -> Result<(), String> {
    let set_up = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
        CREATE TABLE IF NOT EXISTS place (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER, seq INTEGER);
        INSERT OR IGNORE INTO place VALUES (1, 2, 0);
        CREATE TABLE IF NOT EXISTS agents (id TEXT PRIMARY KEY, name TEXT NOT NULL);
        CREATE VIRTUAL TABLE IF NOT EXISTS letters USING fts5(
            id UNINDEXED, sender, receivers, thread, wall_ms UNINDEXED, subject, text, members UNINDEXED,
            tokenize = 'unicode61');";
    connection.execute_batch(set_up).map_err(said)?;
    let version: i64 =
        connection.query_row("SELECT version FROM place", [], |row| row.get(0)).map_err(said)?;
    match version == VERSION {
        true => Ok(()),
        false => Err("another version".into()),
    }
}

/// Reads what was added to the log since the last search.
fn catch_up(connection: &mut Connection, reader: &LogReader, head: u64) -> Result<(), String> {
    let seq: i64 = connection.query_row("SELECT seq FROM place", [], |row| row.get(0)).map_err(said)?;
    let mut after = u64::try_from(seq).map_err(said)?;
    while after < head {
        let records = reader.read_page(after, PAGE)?;
        let Some(last) = records.last() else { return Ok(()) };
        after = last.seq;
        let transaction = connection.transaction().map_err(said)?;
        for record in &records {
            add(&transaction, record).map_err(said)?;
        }
        let seq = i64::try_from(after).map_err(said)?;
        transaction.execute("UPDATE place SET seq = ?1", params![seq]).map_err(said)?;
        transaction.commit().map_err(said)?;
    }
    Ok(())
}

fn add(connection: &Connection, record: &Record) -> rusqlite::Result<()> {
    match &record.event {
        Event::Agent(AgentEvent::Joined { agent, profile, .. }) => {
            let (id, name) = (agent.to_string(), profile.name.to_string());
            connection
                .prepare_cached("INSERT OR REPLACE INTO agents VALUES (?1, ?2)")?
                .execute(params![id, name])?;
        }
        Event::Mail(MailEvent::Sent { letter, .. }) => {
            let from = match letter.claimed.as_deref() {
                Some(claimed) => claimed.to_owned(),
                None => name(connection, record.by)?,
            };
            let to: Vec<String> =
                letter.to.iter().map(|who| name(connection, *who)).collect::<rusqlite::Result<_>>()?;
            let members: Vec<String> =
                [record.by].iter().chain(&letter.to).map(ToString::to_string).collect();
            let insert =
                "INSERT INTO letters (id, sender, receivers, thread, wall_ms, subject, text, members)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            connection.prepare_cached(insert)?.execute(params![
                letter.id.to_string(),
                from,
                to.join(", "),
                &*letter.thread,
                record.wall_ms,
                letter.subject.as_deref(),
                &*letter.text,
                members.join(" "),
            ])?;
        }
        _ => {}
    }
    Ok(())
}

fn name(connection: &Connection, who: Principal) -> rusqlite::Result<String> {
    let Principal::Agent(agent) = who else { return Ok(who.to_string()) };
    let mut named = connection.prepare_cached("SELECT name FROM agents WHERE id = ?1")?;
    let name = named.query_row(params![agent.to_string()], |row| row.get(0)).optional()?;
    Ok(name.unwrap_or_else(|| agent.to_string()))
}

fn query(
    connection: &Connection,
    wanted: &LetterQuery<'_>,
    mut may_read: impl FnMut(Principal, &[Principal]) -> bool,
) -> Result<Vec<FoundLetter>, String> {
    let select =
        "SELECT id, sender, receivers, thread, wall_ms, subject, snippet(letters, 6, '', '', '...', 32), members
        FROM letters WHERE letters MATCH ?1 AND (?2 IS NULL OR thread = ?2) ORDER BY rowid DESC";
    let all = "SELECT id, sender, receivers, thread, wall_ms, subject, substr(text, 1, 300), members
        FROM letters WHERE ?1 = '' AND (?2 IS NULL OR thread = ?2) ORDER BY rowid DESC";
    let matched = quoted(wanted.words);
    let mut statement =
        connection.prepare_cached(if matched.is_empty() { all } else { select }).map_err(said)?;
    let mut rows = statement.query(params![matched, wanted.thread]).map_err(said)?;
    let mut found = Vec::new();
    while found.len() < wanted.limit
        && let Some(row) = rows.next().map_err(said)?
    {
        let members: String = row.get(7).map_err(said)?;
        let members: Result<Vec<Principal>, ()> = members.split(' ').map(str::parse).collect();
        let members = members.map_err(|()| said("a member that nobody knows"))?;
        let Some((from, to)) = members.split_first() else { continue };
        if may_read(*from, to) {
            found.push(read(row).map_err(said)?);
        }
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> rusqlite::Result<FoundLetter> {
    Ok(FoundLetter {
        id: row.get(0)?,
        from: row.get(1)?,
        to: row.get(2)?,
        thread: row.get(3)?,
        wall_ms: row.get(4)?,
        subject: row.get(5)?,
        snippet: row.get(6)?,
    })
}

/// Each word as a quoted string, so that nothing in it is an operator; `*` at the end means any ending.
fn quoted(words: &str) -> String {
    let each = words.split_whitespace().map(|word| {
        let (stem, star) = word.strip_suffix('*').map_or((word, ""), |stem| (stem, " *"));
        format!("\"{}\"{star}", stem.replace('"', "\"\""))
    });
    each.collect::<Vec<_>>().join(" ")
}
