//! A copy of the whole log in one file, made while a server writes, and restored.
//!
//! The file is an SQLite database: the unsealed records as in the log itself, and the sealed files as they are.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use comity_core::World;
use comity_core::world::Timeouts;
use rusqlite::{Connection, OpenFlags, params};

use super::proof;
use super::replacement::{self, NewLog, copy_rows, create};
use super::rows::{self, SCHEMA_VERSION};
use super::segments::{Segments, visit_lines};
use super::set_aside::OldFilesDir;
use super::verify::{Checked, Refold, VerifiedLog, changed};
use super::witness::{LogHead, WitnessRecord};
use super::world_file::read_world;
use super::written_by::{self, AS_WRITTEN, is_of_older_form};
use crate::plain_file;

/// Identifies a backup among databases.
const APPLICATION: i32 = 0x636d_7479;

/// A backup that was made and read again, or restored.
#[derive(Debug)]
pub struct BackedUp {
    pub verified: VerifiedLog,
    /// Where the previous files went.
    pub set_aside: Option<PathBuf>,
}

/// Copies the log of a state directory into a new file, also while a server writes, and reads the copy again.
pub fn back_up(home: &Path, file: &Path) -> Result<BackedUp, String> {
    let describe = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} exists already; give another name", file.display()),
        _ => format!("{}: {error}", file.display()),
    };
    if !proof::path(home).exists() {
        return Err(format!("there is no log in {}", home.display()));
    }
    // Created first: nothing is ever overwritten.
    if !is_empty_file(file) {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(describe)?;
    }
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let made = write(home, &unfinished).and_then(|verified| {
        let place = || -> io::Result<()> {
            File::open(&unfinished)?.sync_all()?;
            fs::rename(&unfinished, file)?;
            let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            File::open(dir)?.sync_all()
        };
        place().map_err(describe)?;
        Ok(BackedUp { verified, set_aside: None })
    });
    if made.is_err() {
        let _ = fs::remove_file(&unfinished);
        let _ = fs::remove_file(file);
    }
    made
}

/// Whether it is what a killed backup leaves: an empty file.
fn is_empty_file(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.len() == 0)
}

fn write(home: &Path, path: &Path) -> Result<VerifiedLog, String> {
    let describe = |error: rusqlite::Error| format!("{}: {error}", path.display());
    // What is written up to here has to be in it.
    let wanted = WitnessRecord::read(home)?.map(|describe| describe.head(home)).unwrap_or_default();
    let from = proof::open(&proof::path(home))?;
    let segments = Segments::open(&home.join("ledger"))?;
    // One transaction for all of it. What is sealed meanwhile is in both.
    from.execute_batch("BEGIN").map_err(describe)?;
    let head: i64 =
        from.query_row("SELECT coalesce(max(seq), 0) FROM events", [], |row| row.get(0)).map_err(describe)?;
    let sealed = segments.worlds()?.into_iter().rfind(|end| *end <= head as u64).unwrap_or(0);
    let _ = fs::remove_file(path);
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let to = create(path).map_err(describe)?;
    let files = "CREATE TABLE files (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT";
    to.execute_batch(&format!("PRAGMA application_id = {APPLICATION}; {files};")).map_err(describe)?;
    copy_rows(&from, &to, sealed, usize::MAX)?;
    to.execute("UPDATE sealed SET up_to = ?1", [sealed as i64]).map_err(describe)?;
    // From here on a growing log may reuse its write-ahead log.
    from.execute_batch("COMMIT").map_err(describe)?;
    let worlds = segments.worlds()?.into_iter().filter(|end| *end <= sealed);
    let ranges = segments.ranges()?.into_iter().filter(|(_, last)| *last <= sealed);
    let lines = ranges.map(|(first, last)| segments.segment_path(first, last));
    for path in worlds.map(|end| segments.world_path(end)).chain(lines) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match fs::read(&path) {
            Ok(bytes) => to
                .execute("INSERT INTO files VALUES (?1, ?2)", params![name, bytes])
                .map(drop)
                .map_err(describe)?,
            // The settings do not keep it: it was just removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    to.close().map_err(|(_, error)| describe(error))?;
    let (verified, found) = verify(path)?;
    match found.seq < wanted.seq {
        true => Err(format!("the log ends with record {}, but record {} was written", found.seq, wanted.seq)),
        false => Ok(verified),
    }
}

/// Proves that a backup is complete.
fn verify(path: &Path) -> Result<(VerifiedLog, LogHead), String> {
    let describe = |problem: String| format!("{}: {problem}", path.display());
    let backup = open(path).map_err(describe)?;
    let unchecked = is_of_older_form(written_by::form(&backup).map_err(describe)?);
    let (mut checked, mut refold) = (Checked::default(), Refold::new(unchecked));
    let mut worlds = BTreeMap::new();
    for_each_file(&backup, |name, bytes| {
        if name.ends_with(".world") {
            let (world, chain) = read_world(bytes, Timeouts::default(), unchecked)?;
            worlds.insert(world.head, (world, chain));
        }
        Ok(())
    })
    .map_err(describe)?;
    for_each_file(&backup, |name, bytes| {
        let Some(first) = name.strip_suffix(".jsonl").and_then(|name| name.split_once('-')) else {
            return Ok(());
        };
        match first.0.parse::<u64>().map_or(0, |first| first - 1) {
            0 => refold.begin_at(World::new(Timeouts::default())),
            before => {
                if let Some((world, chain)) = worlds.get(&before) {
                    checked.begin_at(*chain);
                    refold.begin_at(world.clone());
                }
            }
        }
        visit_lines(bytes, |stored, hash| {
            checked.add(stored, hash)?;
            refold.add(stored)
        })?;
        let end = checked.head();
        match worlds.remove(&end.seq) {
            Some((world, chain)) if chain.0 == end.hash => refold.compare(world),
            _ => Err(changed(end.seq)),
        }
    })
    .map_err(describe)?;
    rows::visit(&backup, checked.head().seq, usize::MAX, |stored, hash| checked.add(stored, hash))
        .map_err(describe)?;
    Ok((checked.verified(), checked.head()))
}

fn open(path: &Path) -> Result<Connection, String> {
    let describe = |error: rusqlite::Error| error.to_string();
    // SQLite would wait for a pipe.
    plain_file::open(path).map_err(|error| error.to_string())?;
    let backup = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(describe)?;
    let number = |pragma: &str| backup.query_row(pragma, [], |row| row.get::<_, i64>(0)).map_err(describe);
    match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (application, _) if application != i64::from(APPLICATION) => {
            Err("it is not a backup; make one with: comity backup FILE".into())
        }
        (_, SCHEMA_VERSION) => Ok(backup),
        (_, form) => Err(format!("it was made by another comity (form {form}); use that one")),
    }
}

/// The sealed files in the order of their names, which is that of their records.
fn for_each_file(
    backup: &Connection,
    mut visit: impl FnMut(&str, &[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let describe = |error: rusqlite::Error| error.to_string();
    let mut statement = backup.prepare("SELECT name, bytes FROM files ORDER BY name").map_err(describe)?;
    let mut rows = statement.query([]).map_err(describe)?;
    while let Some(row) = rows.next().map_err(describe)? {
        let name: String = row.get(0).map_err(describe)?;
        let bytes: Vec<u8> = row.get(1).map_err(describe)?;
        visit(&name, &bytes).map_err(|problem| format!("{name}: {problem}"))?;
    }
    Ok(())
}

/// Whether a server could continue from it: checked before anything is set aside for it.
fn check_readable(backup: &Connection) -> Result<(), String> {
    written_by::check(backup)?;
    let explained = |problem: String| written_by::explain(backup, &problem).unwrap_or(problem);
    let sealed: i64 = backup
        .query_row("SELECT up_to FROM sealed", [], |row| row.get(0))
        .map_err(|error| error.to_string())?;
    let read =
        |stored: &super::Stored<'_>, _| stored.record().map(drop).map_err(|problem| problem + AS_WRITTEN);
    rows::visit(backup, sealed as u64, usize::MAX, read).map_err(explained)
}

/// Whether a backup is complete, and a server could continue from it.
pub fn check_backup(file: &Path) -> Result<(), String> {
    verify(file)?;
    check_readable(&open(file)?).map_err(|problem| format!("{}: {problem}", file.display()))
}

/// Restores a backup into a state directory that no server uses.
pub fn restore(home: &Path, file: &Path) -> Result<BackedUp, String> {
    let (verified, head) = verify(file)?;
    let backup = open(file)?;
    check_readable(&backup).map_err(|problem| format!("{}: {problem}", file.display()))?;
    let sealed: i64 = backup
        .query_row("SELECT up_to FROM sealed", [], |row| row.get(0))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    let new = NewLog::begin(home)?;
    let ledger = new.ledger();
    let describe = |error: io::Error| format!("{}: {error}", ledger.display());
    new.fill(Some(&backup), sealed as u64, head.seq)?;
    fs::create_dir(&ledger).map_err(describe)?;
    for_each_file(&backup, |name, bytes| {
        // A name with a path in it is not ours.
        let name = Path::new(name).file_name().ok_or("a bad name")?;
        let write = || -> io::Result<()> {
            let path = ledger.join(name);
            fs::write(&path, bytes)?;
            File::open(&path)?.sync_all()
        };
        write().map_err(|error| error.to_string())
    })?;
    File::open(&ledger).and_then(|dir| dir.sync_all()).map_err(describe)?;
    let aside = OldFilesDir::of(home);
    new.finish(head.seq, &aside)?;
    replacement::put_in_place(home, &aside)?;
    Ok(BackedUp { verified, set_aside: aside.dir.exists().then(|| aside.dir.clone()) })
}
