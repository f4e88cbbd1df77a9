//! Keeps what is proven of a log that is not whole. Nothing is deleted: what was there is set aside.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use comity_core::World;
use comity_core::world::Timeouts;
use rusqlite::{Connection, params};

use super::chain::Chain;
use super::proof::{self, Unfit, fold};
use super::rows::{self, SCHEMA, SCHEMA_VERSION};
use super::segments::Segments;
use super::sqlite::{migrate, version};
use super::witness::{self, LogHead, Testimony, Witness};
use super::written_by;

/// A log that is complete, and waits to take the place of the old one.
const FINISHED: &str = "log.db.recovered";
/// What SQLite writes at a time.
const PAGE_BYTES: usize = 4096;
/// What a log consists of besides its sealed part.
const FILES: [&str; 3] = ["log.db-wal", "log.db-shm", "log.db"];

/// What is missing from a log, and what is kept.
#[derive(Debug, Default)]
pub struct Recovery {
    /// What is wrong; nothing, if the log is whole.
    pub problem: Option<String>,
    /// The last record that is kept.
    pub kept: u64,
    /// The last record that was written, as far as anybody knows, and when.
    pub written: Option<(u64, i64)>,
    /// Sealed worlds that are made anew from their records.
    pub rebuilt: Vec<u64>,
    /// Where the old files went.
    pub set_aside: Option<PathBuf>,
}

/// Whether to recover, or only to see what that would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoverMode {
    /// Nothing is changed.
    Look,
    /// What is proven takes the place of what was there.
    Keep,
}

/// Looks for what is missing from the log of a state directory that no server uses; afterwards one can.
pub fn recover(home: &Path, extent: RecoverMode) -> Result<Recovery, String> {
    let aside = OldFilesDir::of(home);
    if extent == RecoverMode::Keep && home.join(FINISHED).exists() {
        // An earlier attempt came this far.
        swap_in(home, &aside)?;
    }
    let problem = match proof::examine(home, Timeouts::default()) {
        Ok(whole) => return Ok(Recovery { kept: whole.world.head, ..Recovery::default() }),
        Err(Unfit::Unusable(problem)) => return Err(problem),
        Err(Unfit::NotWhole(problem)) => problem,
    };
    let testimony = Testimony::read(home).ok().flatten();
    let segments = Segments::open(&home.join("ledger"))?;
    let sealed = Sealed::proven(&segments)?;
    let (mut world, mut chain) = (sealed.world.clone(), sealed.chain);
    let beside = OpenedBeside::of(home);
    let old = open_if_readable(&beside.as_ref().map_or(proof::path(home), OpenedBeside::log));
    if let Some(old) = &old {
        // Its error only repeats where the proof ends.
        let _ = fold(old, &segments, (&mut world, &mut chain), LogHead::default());
    }
    let recovery = Recovery {
        problem: Some(problem),
        kept: world.head,
        written: testimony.map(|said| (said.head(home).seq, said.wall_ms)),
        rebuilt: sealed.rebuilt.iter().map(|(world, _)| world.head).collect(),
        set_aside: (extent == RecoverMode::Keep).then(|| aside.dir.clone()),
    };
    if extent == RecoverMode::Look {
        return Ok(recovery);
    }
    build(home, old.as_ref(), sealed.world.head, world.head)?;
    drop((old, beside));
    sealed.keep(&segments, &aside)?;
    swap_in(home, &aside)?;
    let head = LogHead { seq: world.head, hash: chain.0 };
    bear_witness(home, &aside, testimony, head, world.fence.0)?;
    Ok(recovery)
}

/// Begins a new witness, last of all: until then no server starts. Fences go on from the old one's.
pub(super) fn bear_witness(
    home: &Path,
    aside: &OldFilesDir,
    old: Option<Testimony>,
    head: LogHead,
    fence: u64,
) -> Result<(), String> {
    let says = Testimony::of(old, home, head, fence);
    aside.copy(&witness::path(home))?;
    Witness::create(home, says).map(drop)
}

/// A copy of a write-ahead log whose database is empty or gone: it may still have all of it.
struct OpenedBeside(PathBuf);

impl OpenedBeside {
    /// The copy, if one is needed: beside an empty file SQLite would remove the write-ahead log.
    fn of(home: &Path) -> Option<OpenedBeside> {
        let bytes = |name: &str| fs::metadata(home.join(name)).map_or(0, |file| file.len());
        if bytes("log.db") > 0 || bytes("log.db-wal") == 0 {
            return None;
        }
        let beside = OpenedBeside(home.join("recovering"));
        let _left_by_one_that_was_killed = fs::remove_dir_all(&beside.0);
        fs::create_dir(&beside.0).ok()?;
        fs::copy(home.join("log.db-wal"), beside.0.join("log.db-wal")).ok()?;
        // It only has to have something: what SQLite reads of it is in the copy, or the log is not readable.
        fs::write(beside.log(), [0; PAGE_BYTES]).ok()?;
        Some(beside)
    }

    fn log(&self) -> PathBuf {
        self.0.join("log.db")
    }
}

impl Drop for OpenedBeside {
    fn drop(&mut self) {
        let _removed_by_the_next_one = fs::remove_dir_all(&self.0);
    }
}

/// The old log, if it has anything to read.
fn open_if_readable(path: &Path) -> Option<Connection> {
    let has_something = fs::metadata(path).is_ok_and(|file| file.len() > 0);
    let connection = has_something.then(|| proof::open(path).ok())??;
    let is_readable = version(&connection).is_ok_and(|version| version > 0) && migrate(&connection).is_ok();
    is_readable.then_some(connection)
}

/// The sealed part as far as it is proven.
struct Sealed {
    world: World,
    chain: Chain,
    /// Worlds that were changed or lost, made anew from the records before them.
    rebuilt: Vec<(World, Chain)>,
}

impl Sealed {
    fn proven(segments: &Segments) -> Result<Sealed, String> {
        let newest = segments.worlds()?.into_iter().rev();
        let newest = newest.filter_map(|end| segments.world(end, Timeouts::default()).ok()).next();
        let (world, chain) = newest.unwrap_or_else(|| (World::new(Timeouts::default()), Chain::default()));
        let mut sealed = Sealed { world, chain, rebuilt: Vec::new() };
        for (first, last) in segments.ranges()? {
            let (mut world, mut chain) = (sealed.world.clone(), sealed.chain);
            if first != world.head + 1 {
                continue;
            }
            let folded = segments.visit(first, last, |stored, hash| {
                chain.follow(stored, hash)?;
                world.apply(&stored.record()?);
                Ok(())
            });
            if folded.is_err() || world.head != last {
                break;
            }
            (sealed.world, sealed.chain) = (world.clone(), chain);
            sealed.rebuilt.push((world, chain));
        }
        Ok(sealed)
    }

    /// Puts worlds into their places; what is sealed and not proven is set aside.
    fn keep(&self, segments: &Segments, aside: &OldFilesDir) -> Result<(), String> {
        let end = self.world.head;
        for lost in segments.worlds()?.into_iter().filter(|other| *other > end) {
            aside.take(&segments.world_path(lost))?;
        }
        for (first, last) in segments.ranges()?.into_iter().filter(|(_, last)| *last > end) {
            aside.take(&segments.segment_path(first, last))?;
        }
        for (world, chain) in &self.rebuilt {
            aside.take(&segments.world_path(world.head))?;
            segments.write_world(world, *chain)?;
        }
        Ok(())
    }
}

pub(super) struct OldFilesDir {
    pub(super) dir: PathBuf,
}

impl OldFilesDir {
    /// A directory of its own for this moment; it is made for the first file.
    pub(super) fn of(home: &Path) -> OldFilesDir {
        let now = crate::ledger::date(crate::clock::wall_ms()).replace(':', "-");
        OldFilesDir { dir: home.join("set-aside").join(now) }
    }

    /// Takes a file or directory, if it is there.
    pub(super) fn take(&self, path: &Path) -> Result<(), String> {
        self.put(path, |from, to| fs::rename(from, to))
    }

    fn copy(&self, path: &Path) -> Result<(), String> {
        self.put(path, |from, to| fs::copy(from, to).map(drop))
    }

    fn put(&self, path: &Path, put: impl FnOnce(&Path, &Path) -> std::io::Result<()>) -> Result<(), String> {
        let Some(name) = path.file_name().filter(|_| path.exists()) else { return Ok(()) };
        let made = fs::create_dir_all(&self.dir).and_then(|()| put(path, &self.dir.join(name)));
        made.map_err(|error| format!("{} can't be set aside: {error}", path.display()))
    }
}

/// Makes a log of the records after `after` up to `up_to`; those before are sealed.
pub(super) fn build(home: &Path, source: Option<&Connection>, after: u64, up_to: u64) -> Result<(), String> {
    let path = home.join("log.db.unfinished");
    let describe = |error: rusqlite::Error| format!("{}: {error}", path.display());
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    // Left from an attempt that was cut short.
    let _ = fs::remove_file(&path);
    let log = create(&path).map_err(describe)?;
    if let Some(source) = source {
        copy_rows(source, &log, after, usize::try_from(up_to - after).unwrap_or(usize::MAX))?;
    }
    log.execute("UPDATE sealed SET up_to = ?1", [after as i64]).map_err(describe)?;
    log.close().map_err(|(_, error)| describe(error))?;
    File::open(&path).and_then(|file| file.sync_all()).map_err(failed)?;
    fs::rename(&path, home.join(FINISHED)).map_err(failed)
}

/// An empty log that is written in one go: it counts once it is complete.
pub(super) fn create(path: &Path) -> rusqlite::Result<Connection> {
    let log = Connection::open(path)?;
    log.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION};"
    ))?;
    Ok(log)
}

/// Copies records as they are; gives the last one.
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

/// Puts the log that was built into its place.
pub(super) fn swap_in(home: &Path, aside: &OldFilesDir) -> Result<(), String> {
    // The log itself goes last: with another one's write-ahead log it would be another log.
    FILES.iter().try_for_each(|name| aside.take(&home.join(name)))?;
    let placed = fs::rename(home.join(FINISHED), proof::path(home));
    let synced = placed.and_then(|()| File::open(home)?.sync_all());
    synced.map_err(|error| format!("{}: {error}", proof::path(home).display()))
}
