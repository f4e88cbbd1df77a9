//! A complete log that replaces the one in a state directory, so that a kill at any moment loses neither.
//!
//! It is built and proven in `log.recovered.unfinished/`, and waits in `log.recovered/`. It counts from the moment at
//! which the old `log.db` is set aside: before that, the old log goes on as if nothing had happened; after, no server
//! starts until the new one is in its place, with a witness of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use comity_core::World;
use comity_core::world::Timeouts;
use rusqlite::{Connection, OpenFlags, params};

use super::proof::{self, fold};
use super::rows::{self, SCHEMA, SCHEMA_VERSION};
use super::segments::Segments;
use super::set_aside::OldFilesDir;
use super::witness::{LogHead, Witness, WitnessRecord};
use super::witness_names;
use super::written_by;

const WAITING: &str = "log.recovered";
const UNFINISHED: &str = "log.recovered.unfinished";
/// The files of a log besides its sealed part and its witness. The first one goes first, which decides it.
const FILES: [&str; 3] = ["log.db", "log.db-wal", "log.db-shm"];

/// Whether a new log has begun to replace the old one.
pub(super) fn is_begun(home: &Path) -> bool {
    let waiting = home.join(WAITING);
    // With both it has not begun; with neither there is nothing to continue.
    waiting.is_dir() && proof::path(&waiting).exists() != proof::path(home).exists()
}

/// Removes what an attempt left that never began, next to an intact log.
pub(super) fn clear(home: &Path) -> Result<(), String> {
    // Only a copy.
    let _ = fs::remove_dir_all(home.join(UNFINISHED));
    OldFilesDir::of(home).take(&home.join(WAITING))
}

/// A log that is being built. Unless it is finished, nothing remains of it.
pub(super) struct NewLog<'a> {
    home: &'a Path,
    dir: PathBuf,
}

impl NewLog<'_> {
    pub(super) fn begin(home: &Path) -> Result<NewLog<'_>, String> {
        let dir = home.join(UNFINISHED);
        // Left by one that was killed.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        Ok(NewLog { home, dir })
    }

    /// Where its sealed part belongs; without one, the existing sealed part stays.
    pub(super) fn ledger(&self) -> PathBuf {
        self.dir.join("ledger")
    }

    /// Fills it with the records after `after` up to `up_to`; those before are sealed.
    pub(super) fn fill(&self, source: Option<&Connection>, after: u64, up_to: u64) -> Result<(), String> {
        let path = proof::path(&self.dir);
        let describe = |error: rusqlite::Error| format!("{}: {error}", path.display());
        let log = create(&path).map_err(describe)?;
        if let Some(source) = source {
            copy_rows(source, &log, after, usize::try_from(up_to - after).unwrap_or(usize::MAX))?;
        }
        log.execute("UPDATE sealed SET up_to = ?1", [after as i64]).map_err(describe)?;
        log.close().map_err(|(_, error)| describe(error))?;
        sync(&path)
    }

    /// From here on it waits to be put in place; first it is proven to go as far as `head`.
    pub(super) fn finish(self, head: u64, aside: &OldFilesDir) -> Result<(), String> {
        let (world, _) = read(self.home, &self.dir)?;
        if world.head != head {
            return Err(format!("the new log ends with record {}, not {head}", world.head));
        }
        sync(&self.dir)?;
        let waiting = self.home.join(WAITING);
        aside.take(&waiting)?;
        fs::rename(&self.dir, &waiting).map_err(|error| format!("{}: {error}", waiting.display()))?;
        sync(self.home)
    }
}

impl Drop for NewLog<'_> {
    fn drop(&mut self) {
        // Once finished it is elsewhere.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// The world of a log that is being put in place, as far as that came; nothing is changed.
pub(super) fn look(home: &Path) -> Result<World, String> {
    read(home, &home.join(WAITING)).map(|(world, _)| world)
}

/// Folds a log that was built, or the part of it that is in place.
fn read(home: &Path, dir: &Path) -> Result<(World, LogHead), String> {
    let of = |name: &str| {
        let new = dir.join(name);
        if new.exists() { new } else { home.join(name) }
    };
    let log = of("log.db");
    let log = match log.parent() == Some(home) {
        true => proof::open(&log),
        false => Connection::open_with_flags(&log, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| format!("{}: {error}", log.display())),
    }?;
    let segments = Segments::open(&of("ledger"))?.of_form(written_by::form(&log)?);
    let (mut world, mut chain) = segments.newest_world(Timeouts::default())?;
    fold(&log, &segments, (&mut world, &mut chain), LogHead::default())?;
    let head = LogHead { seq: world.head, hash: chain.0 };
    Ok((world, head))
}

/// Puts the waiting log in place, or continues with that; its witness comes last.
pub(super) fn put_in_place(home: &Path, aside: &OldFilesDir) -> Result<World, String> {
    let waiting = home.join(WAITING);
    let place = |name: &str| {
        fs::rename(waiting.join(name), home.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    if proof::path(&waiting).exists() {
        FILES.iter().try_for_each(|name| aside.take(&home.join(name)))?;
        if waiting.join("ledger").exists() {
            aside.take(&home.join("ledger"))?;
            place("ledger")?;
        }
        place("log.db")?;
        sync(home)?;
    }
    let (world, head) = read(home, &waiting)?;
    let testimony = WitnessRecord::read(home).ok().flatten();
    // Fences continue from the old one's.
    let says = WitnessRecord::of(testimony, home, head, world.fence.0);
    aside.copy(&witness_names::path(home))?;
    Witness::create(home, says)?.name_again(home);
    fs::remove_dir(&waiting).map_err(|error| format!("{}: {error}", waiting.display()))?;
    sync(home)?;
    Ok(world)
}

fn sync(path: &Path) -> Result<(), String> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(|error| format!("{}: {error}", path.display()))
}

/// An empty log that is written in one go: it counts once it is complete.
pub(super) fn create(path: &Path) -> rusqlite::Result<Connection> {
    let log = Connection::open(path)?;
    log.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION};"
    ))?;
    Ok(log)
}

/// Copies records as they are; returns the last one.
pub(super) fn copy_rows(from: &Connection, to: &Connection, after: u64, count: usize) -> Result<u64, String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let mut last = after;
    to.execute_batch("BEGIN").map_err(describe)?;
    let mut insert =
        to.prepare("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)").map_err(describe)?;
    rows::visit(from, after, count, |stored, hash| {
        last = stored.seq;
        let (seq, now) = (stored.seq as i64, stored.now as i64);
        let row =
            params![seq, now, stored.wall_ms, stored.by, stored.key, stored.event, hash, stored.concerns];
        insert.execute(row).map(drop).map_err(describe)
    })?;
    to.execute_batch("COMMIT").map_err(describe)?;
    written_by::copy(from, to)?;
    Ok(last)
}
