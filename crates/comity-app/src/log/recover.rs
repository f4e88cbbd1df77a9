//! Keeps what is proven of an incomplete log. Nothing is deleted: the old files are set aside.

use std::fs;
use std::path::{Path, PathBuf};

use comity_core::World;
use comity_core::world::Timeouts;
use rusqlite::Connection;

use super::chain::Chain;
use super::proof::{self, LogProblem, fold};
use super::replacement::{self, NewLog};
use super::segments::Segments;
use super::set_aside::OldFilesDir;
use super::sqlite::{migrate, version};
use super::verify::{changed, is_same};
use super::witness::{LogHead, WitnessRecord};
use super::written_by;

/// What SQLite writes at a time.
const PAGE_BYTES: usize = 4096;

/// What is missing from a log, and what is kept.
#[derive(Debug, Default)]
pub struct Recovery {
    /// What is wrong; `None` if the log is intact.
    pub problem: Option<String>,
    /// The last record that is kept.
    pub kept: u64,
    /// The last record that was written, as far as that is known, and when.
    pub written: Option<(u64, i64)>,
    /// Sealed worlds that are rebuilt from their records.
    pub rebuilt: Vec<u64>,
    /// Where the old files went.
    pub set_aside: Option<PathBuf>,
}

/// Whether to recover, or only to see what that would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecoverMode {
    /// Nothing is changed.
    Look,
    /// What is proven replaces the old log.
    Keep,
}

/// Finds what is missing from the log of a state directory that no server uses; afterwards one can.
pub fn recover(home: &Path, extent: RecoverMode) -> Result<Recovery, String> {
    let problem = match proof::examine(home, Timeouts::default()) {
        Ok(found) if found.segments.is_of_older_form() => {
            return Ok(Recovery { kept: found.world.head, ..Recovery::default() });
        }
        Ok(found) => match Sealed::proven(&found.segments)?.rebuilt.first() {
            None => return Ok(Recovery { kept: found.world.head, ..Recovery::default() }),
            Some((world, _)) => changed(world.head),
        },
        Err(LogProblem::Unusable(problem)) => return Err(problem),
        Err(LogProblem::NotWhole(problem)) => problem,
    };
    let aside = OldFilesDir::of(home);
    let written = WitnessRecord::read(home).ok().flatten().map(|said| (said.head(home).seq, said.wall_ms));
    let set_aside = (extent == RecoverMode::Keep).then(|| aside.dir.clone());
    let recovery = Recovery { problem: Some(problem), written, set_aside, ..Recovery::default() };
    if replacement::is_begun(home) {
        let world = match extent {
            RecoverMode::Look => replacement::look(home)?,
            RecoverMode::Keep => replacement::put_in_place(home, &aside)?,
        };
        return Ok(Recovery { kept: world.head, ..recovery });
    }
    let beside = OpenedBeside::of(home);
    let old = open_if_readable(&beside.as_ref().map_or(proof::path(home), OpenedBeside::log));
    let mut segments = Segments::open(&home.join("ledger"))?;
    if let Some(form) = old.as_ref().and_then(|old| written_by::form(old).ok()) {
        segments = segments.of_form(form);
    }
    let sealed = Sealed::proven(&segments)?;
    let (mut world, mut chain) = (sealed.world.clone(), sealed.chain);
    if let Some(old) = &old {
        // Its error only repeats where the proof ends.
        let _ = fold(old, &segments, (&mut world, &mut chain), LogHead::default());
    }
    let rebuilt = sealed.rebuilt.iter().map(|(world, _)| world.head).collect();
    if extent == RecoverMode::Keep {
        let new = NewLog::begin(home)?;
        new.fill(old.as_ref(), sealed.world.head, world.head)?;
        drop((old, beside));
        // If killed in here, the next attempt proves as much.
        sealed.keep(&segments, &aside)?;
        new.finish(world.head, &aside)?;
        replacement::put_in_place(home, &aside)?;
    }
    Ok(Recovery { kept: world.head, rebuilt, ..recovery })
}

/// Rebuilds the sealed worlds of an older form with everything that this version knows; where the records before them
/// are not kept, they only get a hash.
pub(super) fn renew(segments: &Segments) -> Result<(), String> {
    for (world, chain) in Sealed::proven(segments)?.rebuilt {
        segments.write_world(&world, chain)?;
    }
    segments.add_checks()
}

/// A copy of a write-ahead log whose database is empty or gone: it may still have everything.
struct OpenedBeside(PathBuf);

impl OpenedBeside {
    /// The copy, if one is needed: next to an empty file SQLite would remove the write-ahead log.
    fn of(home: &Path) -> Option<OpenedBeside> {
        let bytes = |name: &str| fs::metadata(home.join(name)).map_or(0, |file| file.len());
        if bytes("log.db") > 0 || bytes("log.db-wal") == 0 {
            return None;
        }
        let beside = OpenedBeside(home.join("recovering"));
        let _left_by_one_that_was_killed = fs::remove_dir_all(&beside.0);
        fs::create_dir(&beside.0).ok()?;
        fs::copy(home.join("log.db-wal"), beside.0.join("log.db-wal")).ok()?;
        // It only has to be non-empty: what SQLite reads of it is in the copy, or the log is unreadable.
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
    /// Worlds that were changed or lost, rebuilt from the records before them.
    rebuilt: Vec<(World, Chain)>,
}

impl Sealed {
    /// Folds every part again: a world that its records do not make is rebuilt.
    fn proven(segments: &Segments) -> Result<Sealed, String> {
        let read = |end: u64| segments.world(end, Timeouts::default()).ok();
        let (world, chain) = (World::new(Timeouts::default()), Chain::default());
        let mut sealed = Sealed { world, chain, rebuilt: Vec::new() };
        for (first, last) in segments.ranges()? {
            if first != sealed.world.head + 1 {
                // The records before it are not kept, or lost.
                let Some(before) = read(first.saturating_sub(1)) else { continue };
                (sealed.world, sealed.chain) = before;
            }
            let (mut world, mut chain) = (sealed.world.clone(), sealed.chain);
            let folded = segments.visit(first, last, |stored, hash| {
                chain.follow(stored, hash)?;
                world.apply(&stored.record()?);
                Ok(())
            });
            let is_whole = folded.is_ok() && world.head == last;
            match read(last) {
                Some(found) if !is_whole || (found.1.0 == chain.0 && is_same(&found.0, &world)) => {
                    (sealed.world, sealed.chain) = found;
                }
                Some(_) | None if is_whole => {
                    (sealed.world, sealed.chain) = (world.clone(), chain);
                    sealed.rebuilt.push((world, chain));
                }
                Some(_) | None => break,
            }
        }
        let newer = segments.worlds()?.into_iter().rev().take_while(|end| *end > sealed.world.head);
        if let Some(found) = newer.filter_map(read).next() {
            (sealed.world, sealed.chain) = found;
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
