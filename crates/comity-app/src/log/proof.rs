//! What of a log is proven: the newest sealed world, and the records after it as far as chain and witness confirm.

use std::path::{Path, PathBuf};

use comity_core::World;
use comity_core::world::Timeouts;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::ceiling;
use super::chain::Chain;
use super::replacement;
use super::rows;
use super::segments::Segments;
use super::sqlite::{backlog_bytes, migrate, open_for_writing, version};
use super::witness::{LogHead, WitnessRecord};
use super::written_by;

/// A log that was inspected, and not changed.
pub(super) struct InspectedLog {
    pub(super) connection: Connection,
    pub(super) segments: Segments,
    pub(super) testimony: Option<WitnessRecord>,
    pub(super) world: World,
    pub(super) chain: Chain,
}

/// Where the log of a state directory is.
pub(super) fn path(home: &Path) -> PathBuf {
    home.join("log.db")
}

/// Why a server cannot continue from a log.
pub(super) enum LogProblem {
    /// Something of it is lost or changed.
    NotWhole(String),
    /// It cannot be used as things are.
    Unusable(String),
}

/// Whether a state directory never had a log.
pub fn is_new(home: &Path) -> bool {
    !home.join("ledger").exists()
        && !path(home).exists()
        && !replacement::is_begun(home)
        && !has_traces(home)
        && WitnessRecord::read(home) == Ok(None)
}

/// Whether there ever was a log, by what is left next to it: losing the witness does not make a directory new.
fn has_traces(home: &Path) -> bool {
    ceiling::highest(home) > 0 || backlog_bytes(home) > 0 || Segments::are_begun(&home.join("ledger"))
}

/// Whether a world has an agent, or a person's token.
pub fn knows_anybody(world: &World) -> bool {
    !world.agents.is_empty() || world.people.tokens().next().is_some()
}

/// Whether an agent or a token was ever known in a state directory. An unreadable log counts as used.
pub fn is_used(home: &Path) -> bool {
    match is_new(home) {
        true => false,
        false => examine(home, Timeouts::default()).map_or(true, |found| knows_anybody(&found.world)),
    }
}

/// Reports what is missing from the log of a state directory; nothing is missing if it has none.
pub fn check(home: &Path) -> Result<(), String> {
    match is_new(home) {
        true => Ok(()),
        false => examine(home, Timeouts::default()).map(drop).map_err(|unfit| unfit.to_string()),
    }
}

/// Folds the log of a state directory into its world; an incomplete log is refused, and left as it is.
pub(super) fn examine(home: &Path, patience: Timeouts) -> Result<InspectedLog, LogProblem> {
    if replacement::is_begun(home) {
        return Err(LogProblem::NotWhole("what was recovered or put back isn't all in its place yet".into()));
    }
    // First of all: the log may grow meanwhile, but never shrinks.
    let testimony = WitnessRecord::read(home).map_err(LogProblem::NotWhole)?;
    let segments = Segments::open(&home.join("ledger")).map_err(LogProblem::Unusable)?;
    let wanted = testimony.map(|said| said.head(home)).unwrap_or_default();
    let last = wanted.seq.max(segments.sealed_up_to());
    let lost = |what: &str| {
        let was = match last {
            0 => "there was one: other files of it are here".into(),
            last => format!("record {last} was written"),
        };
        Err(LogProblem::NotWhole(format!("log.db {what}, but {was}")))
    };
    // Next to a new file SQLite would remove what is left of the old one.
    let was_there = last > 0 || backlog_bytes(home) > 0 || (testimony.is_none() && has_traces(home));
    match std::fs::metadata(path(home)) {
        Ok(file) if was_there && file.len() == 0 => return lost("is empty"),
        Err(_) if was_there => return lost("is gone"),
        _ => {}
    }
    let connection = open(&path(home)).map_err(unfit)?;
    if last > 0 && version(&connection).map_err(unfit)? == 0 {
        return lost("is empty");
    }
    written_by::check(&connection).map_err(unfit)?;
    // What a newer program wrote is no damage.
    let not_whole = |problem: String| match written_by::explain(&connection, &problem) {
        Some(newer) => LogProblem::Unusable(newer),
        None => LogProblem::NotWhole(problem),
    };
    migrate(&connection).map_err(|problem| match written_by::explain(&connection, &problem) {
        Some(newer) => LogProblem::Unusable(newer),
        None => unfit(problem),
    })?;
    let segments = segments.of_form(written_by::form(&connection).map_err(unfit)?);
    let (mut world, mut chain) = segments.newest_world(patience).map_err(not_whole)?;
    fold(&connection, &segments, (&mut world, &mut chain), wanted).map_err(not_whole)?;
    Ok(InspectedLog { connection, segments, testimony, world, chain })
}

/// Whether this is SQLite's message about a damaged file.
pub(super) fn is_damage(problem: &str) -> bool {
    ["not a database", "malformed"].iter().any(|words| problem.contains(words))
}

/// Tells SQLite's message about a damaged file from one about a file that it cannot access.
fn unfit(problem: String) -> LogProblem {
    match is_damage(&problem) {
        true => LogProblem::NotWhole(problem),
        false => LogProblem::Unusable(problem),
    }
}

impl std::fmt::Display for LogProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LogProblem::NotWhole(problem) => write!(
                f,
                "the log is not whole: {problem}; nothing was changed; see what can be kept with: \
                 comity log recover --dry-run, or put a backup back with: comity restore FILE"
            ),
            LogProblem::Unusable(problem) => f.write_str(problem),
        }
    }
}

/// Opens a log so that closing it moves nothing: the write-ahead log may be all that tells what was lost.
pub(super) fn open(path: &Path) -> Result<Connection, String> {
    let connection = open_for_writing(path)?;
    keep_backlog(&connection, true)?;
    Ok(connection)
}

pub(super) fn keep_backlog(connection: &Connection, keep: bool) -> Result<(), String> {
    let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep);
    set.map(drop).map_err(|error| error.to_string())
}

/// Applies every proven record; fails if the log ends before the record that the witness saw.
pub(super) fn fold(
    connection: &Connection,
    segments: &Segments,
    (world, chain): (&mut World, &mut Chain),
    wanted: LogHead,
) -> Result<(), String> {
    if wanted.seq <= world.head && sealed_hash(segments, wanted, world, *chain)? != wanted.hash {
        return Err(format!("record {} is not the one that was written", wanted.seq));
    }
    rows::visit(connection, world.head, usize::MAX, |stored, hash| {
        if stored.seq != world.head + 1 {
            return Err(format!("record {} is missing", world.head + 1));
        }
        // First: this tells what a newer program wrote from what somebody changed.
        let mut next = *chain;
        let followed = next.follow(stored, hash);
        let record = stored.record().map_err(|problem| match followed {
            Ok(()) => problem + written_by::AS_WRITTEN,
            Err(_) => problem,
        })?;
        followed?;
        if stored.seq == wanted.seq && hash != wanted.hash {
            return Err(format!("record {} is not the one that was written", stored.seq));
        }
        world.apply(&record);
        *chain = next;
        Ok(())
    })?;
    match world.head < wanted.seq {
        true => Err(format!("it ends with record {}, but record {} was written", world.head, wanted.seq)),
        false => Ok(()),
    }
}

/// The chain at a sealed record, if its segment is kept; otherwise the witness is trusted.
fn sealed_hash(
    segments: &Segments,
    wanted: LogHead,
    world: &World,
    chain: Chain,
) -> Result<super::Hash, String> {
    if wanted.seq == world.head {
        return Ok(chain.0);
    }
    let mut found = wanted.hash;
    let range = segments.ranges()?.into_iter().find(|(first, last)| (*first..=*last).contains(&wanted.seq));
    if let Some((first, last)) = range {
        segments.visit(first, last, |stored, hash| {
            if stored.seq == wanted.seq {
                found = hash;
            }
            Ok(())
        })?;
    }
    Ok(found)
}
