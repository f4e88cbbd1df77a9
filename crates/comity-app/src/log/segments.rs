//! Sealed segments: the older part of the log as files that never change, each with the world at its end.
//!
//! `ledger/000000000001-000000010000.jsonl` has one record per line; `ledger/000000010000.world` is the world after
//! it. A start needs only the newest world and what came after; looking back at any moment needs one segment.

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use comity_core::World;
use comity_core::world::Timeouts;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::chain::{Chain, Hash, Stored};
use super::rows;
use super::world_file::{read_world, sealed_world, with_check};
use super::written_by::is_of_older_form;
use crate::held_dir::HeldDir;

/// Marks that there is a log, even if nothing is sealed yet and its other files get lost.
const BEGUN: &str = "begun";

pub const SEGMENT_RECORDS: usize = 10_000;

/// The sealed part of a log; clones see the same files.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Not by its path, where another server may have begun.
    dir: HeldDir,
    sealed_up_to: Arc<AtomicU64>,
    /// Whether the log is of the first form, whose worlds have no hash of their own.
    is_of_older_form: bool,
}

#[derive(Serialize, Deserialize)]
struct SegmentLine<'a> {
    seq: u64,
    now: u64,
    wall_ms: i64,
    by: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    key: Option<std::borrow::Cow<'a, str>>,
    hash: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    concerns: Option<std::borrow::Cow<'a, str>>,
    /// As it was written: the hash covers these bytes.
    #[serde(borrow)]
    event: &'a RawValue,
}

/// Visits every line of a segment, as stored, with its hash.
pub(super) fn visit_lines(
    lines: impl BufRead,
    mut visit: impl FnMut(&Stored<'_>, Hash) -> Result<(), String>,
) -> Result<(), String> {
    visit_lines_while(lines, |stored, hash| visit(stored, hash).map(|()| true)).map(drop)
}

/// Visits lines while more are wanted; returns whether they still are.
fn visit_lines_while(
    lines: impl BufRead,
    mut visit: impl FnMut(&Stored<'_>, Hash) -> Result<bool, String>,
) -> Result<bool, String> {
    for line in lines.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let line: SegmentLine<'_> = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let hash = unhex(&line.hash).ok_or("a bad hash")?;
        let SegmentLine { seq, now, wall_ms, by, key, event, concerns, .. } = &line;
        let (key, event, concerns) = (key.as_deref(), event.get(), concerns.as_deref());
        let stored = Stored { seq: *seq, now: *now, wall_ms: *wall_ms, by, key, event, concerns };
        if !visit(&stored, hash)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds the first line of a segment after `after` by bisection: a segment can be large.
fn find_line(file: &mut (impl BufRead + Seek), after: u64) -> std::io::Result<()> {
    /// The part of a line that is needed.
    #[derive(Deserialize)]
    struct Number {
        seq: u64,
    }
    // A line begins at `low`; all before it are too old.
    let (mut low, mut high) = (0, file.seek(SeekFrom::End(0))?);
    let mut line = Vec::new();
    while low < high {
        let middle = low + (high - low) / 2;
        file.seek(SeekFrom::Start(middle))?;
        // Skips the rest of the line that contains the middle, unless it begins right there.
        let skipped = if middle == low { 0 } else { file.skip_until(b'\n')? as u64 };
        line.clear();
        let length = file.read_until(b'\n', &mut line)? as u64;
        match serde_json::from_slice::<Number>(&line) {
            Ok(number) if number.seq <= after => low = middle + skipped + length,
            // Whoever reads on from here reports an unreadable line.
            Ok(_) | Err(_) => high = middle,
        }
    }
    file.seek(SeekFrom::Start(low)).map(drop)
}

impl SegmentLine<'_> {
    fn write(stored: &Stored<'_>, hash: &Hash, to: &mut Vec<u8>) -> Result<(), String> {
        let describe = |error: serde_json::Error| format!("record {}: {error}", stored.seq);
        let line = SegmentLine {
            seq: stored.seq,
            now: stored.now,
            wall_ms: stored.wall_ms,
            by: stored.by.into(),
            key: stored.key.map(Into::into),
            hash: hex(hash).into(),
            concerns: stored.concerns.map(Into::into),
            event: serde_json::from_str(stored.event).map_err(describe)?,
        };
        serde_json::to_writer(&mut *to, &line).map_err(describe)?;
        to.push(b'\n');
        Ok(())
    }
}

impl Segments {
    /// Created if missing.
    pub fn open(dir: &Path) -> Result<Segments, String> {
        let dir = HeldDir::make(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let segments = Segments { dir, sealed_up_to: Arc::default(), is_of_older_form: false };
        let last = segments.worlds()?.last().copied().unwrap_or(0);
        segments.sealed_up_to.store(last, Ordering::Release);
        Ok(segments)
    }

    /// Those of a log of this form.
    pub(super) fn of_form(self, form: Option<i64>) -> Segments {
        // What is sealed from here on is of this form.
        Segments { is_of_older_form: is_of_older_form(form) && self.sealed_up_to() > 0, ..self }
    }

    pub(super) fn is_of_older_form(&self) -> bool {
        self.is_of_older_form
    }

    /// Gives worlds of the first form a hash, before the log is of a newer one.
    pub(super) fn add_checks(&self) -> Result<(), String> {
        for end in self.worlds()? {
            let describe = |problem: String| format!("{}: {problem}", self.world_path(end).display());
            let bytes = self.dir.read(&world_name(end)).map_err(|error| describe(error.to_string()))?;
            if let Some(bytes) = with_check(&bytes).map_err(describe)? {
                self.write(&world_name(end), &bytes)?;
            }
        }
        Ok(())
    }

    /// Whether a log was ever begun next to this directory.
    pub(super) fn are_begun(dir: &Path) -> bool {
        dir.join(BEGUN).exists()
    }

    /// Marks durably that a log is begun.
    pub(super) fn begin(&self) -> Result<(), String> {
        if self.dir.bytes_of(BEGUN).is_some() {
            return Ok(());
        }
        let begun = self.dir.create(BEGUN).and_then(|_| self.dir.sync());
        begun.map_err(|error| format!("{}: {error}", self.path(BEGUN).display()))
    }

    /// The last sealed record.
    pub fn sealed_up_to(&self) -> u64 {
        self.sealed_up_to.load(Ordering::Acquire)
    }

    /// Whether a start would find the last sealed world: only then may sealed records be dropped from the table.
    pub(super) fn are_in_place(&self) -> bool {
        self.dir.is_in_place() && self.dir.bytes_of(&world_name(self.sealed_up_to())).is_some()
    }

    /// The newest sealed world, or an empty one, with the chain at that point.
    pub(super) fn newest_world(&self, patience: Timeouts) -> Result<(World, Chain), String> {
        self.world_at_or_before(u64::MAX, patience)
    }

    /// The newest sealed world that is not after `seq`.
    pub(crate) fn world_at_or_before(&self, seq: u64, patience: Timeouts) -> Result<(World, Chain), String> {
        match self.worlds()?.into_iter().rev().find(|end| *end <= seq) {
            None => Ok((World::new(patience), Chain::default())),
            Some(end) => self.world(end, patience),
        }
    }

    pub(super) fn world(&self, end: u64, patience: Timeouts) -> Result<(World, Chain), String> {
        let describe = |problem: String| format!("{}: {problem}", self.world_path(end).display());
        let bytes = self.dir.read(&world_name(end)).map_err(|error| describe(error.to_string()))?;
        match read_world(&bytes, patience, self.is_of_older_form).map_err(describe)? {
            (world, chain) if world.head == end => Ok((world, chain)),
            _ => Err(describe("it is the world of another record".into())),
        }
    }

    /// Visits sealed records after `after`, while more are wanted.
    pub(super) fn visit_after(
        &self,
        after: u64,
        mut visit: impl FnMut(&Stored<'_>) -> Result<bool, String>,
    ) -> Result<(), String> {
        for (first, last) in self.ranges()?.into_iter().filter(|(_, last)| *last > after) {
            let describe =
                |problem: String| format!("{}: {problem}", self.segment_path(first, last).display());
            let file = self.dir.open_file(&segment_name(first, last));
            let mut file = BufReader::new(file.map_err(|error| describe(error.to_string()))?);
            find_line(&mut file, after).map_err(|error| describe(error.to_string()))?;
            let wants_more = visit_lines_while(file, |stored, _| visit(stored)).map_err(describe)?;
            if !wants_more {
                break;
            }
        }
        Ok(())
    }

    /// The first and last record of each kept segment, oldest first.
    pub fn ranges(&self) -> Result<Vec<(u64, u64)>, String> {
        let mut ranges = self
            .names(".jsonl")?
            .into_iter()
            .filter_map(|name| {
                let (first, last) = name.split_once('-')?;
                Some((first.parse().ok()?, last.parse().ok()?))
            })
            .collect::<Vec<_>>();
        ranges.sort_unstable();
        Ok(ranges)
    }

    /// Drops the oldest segments until at most `most` are kept; returns how many.
    ///
    /// The world at the beginning of the oldest kept one stays: the chain and looking back begin there.
    pub fn keep_newest(&self, most: usize) -> Result<usize, String> {
        let ranges = self.ranges()?;
        let dropped = &ranges[..ranges.len().saturating_sub(most.max(1))];
        let Some((_, base)) = dropped.last() else { return Ok(0) };
        let worlds = self.worlds()?.into_iter().filter(|end| end < base).map(world_name);
        for name in worlds.chain(dropped.iter().map(|(first, last)| segment_name(*first, *last))) {
            self.dir.remove(&name).map_err(|error| format!("{}: {error}", self.path(&name).display()))?;
        }
        Ok(dropped.len())
    }

    /// Visits every line of one segment, as stored, with its hash.
    pub fn visit(
        &self,
        first: u64,
        last: u64,
        visit: impl FnMut(&Stored<'_>, Hash) -> Result<(), String>,
    ) -> Result<(), String> {
        let describe = |problem: String| format!("{}: {problem}", self.segment_path(first, last).display());
        let file =
            self.dir.open_file(&segment_name(first, last)).map_err(|error| describe(error.to_string()))?;
        visit_lines(BufReader::new(file), visit).map_err(describe)
    }

    /// Writes the world at a segment's end.
    pub(super) fn write_world(&self, world: &World, chain: Chain) -> Result<(), String> {
        self.write(&world_name(world.head), &sealed_world(world, chain)?)
    }

    /// Writes the oldest records into a segment, if there are enough; they stay in the table.
    ///
    /// A large world makes large segments: its file is written once for as many records as it has locks.
    pub(super) fn seal_next(&self, connection: &Connection) -> Result<bool, String> {
        let (mut world, mut chain) = self.newest_world(Timeouts::default())?;
        let first = world.head + 1;
        let count = SEGMENT_RECORDS.max(world.locks.len());
        let mut lines = Vec::new();
        rows::visit(connection, world.head, count, |stored, hash| {
            chain.follow(stored, hash)?;
            world.apply(&stored.record()?);
            SegmentLine::write(stored, &hash, &mut lines)
        })?;
        if world.head + 1 < first + count as u64 {
            return Ok(false);
        }
        self.write(&segment_name(first, world.head), &lines)?;
        // The world's file makes the segment count: it comes last.
        self.write_world(&world, chain)?;
        self.sealed_up_to.store(world.head, Ordering::Release);
        Ok(true)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        self.dir.write(name, bytes).map_err(|error| format!("{}: {error}", self.path(name).display()))
    }

    /// The records after which a world was sealed, oldest first.
    pub(super) fn worlds(&self) -> Result<Vec<u64>, String> {
        let mut ends: Vec<u64> = self.names(".world")?.iter().filter_map(|name| name.parse().ok()).collect();
        ends.sort_unstable();
        Ok(ends)
    }

    fn names(&self, ending: &str) -> Result<Vec<String>, String> {
        let names = self.dir.names().map_err(|error| format!("{}: {error}", self.dir.path().display()))?;
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn segment_path(&self, first: u64, last: u64) -> PathBuf {
        self.path(&segment_name(first, last))
    }

    pub(super) fn world_path(&self, end: u64) -> PathBuf {
        self.path(&world_name(end))
    }
}

fn segment_name(first: u64, last: u64) -> String {
    format!("{first:012}-{last:012}.jsonl")
}

fn world_name(end: u64) -> String {
    format!("{end:012}.world")
}

pub(super) fn hex(hash: &Hash) -> String {
    comity_core::TokenHash(*hash).to_string()
}

pub(super) fn unhex(text: &str) -> Option<Hash> {
    text.parse().ok().map(|hash: comity_core::TokenHash| hash.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_halves() {
        for count in [0_u64, 1, 2, 3, 10, 100] {
            // Short ones and long ones, from 5 on.
            let line = |seq: u64| {
                format!("{{\"seq\":{seq},\"text\":\"{}\"}}\n", "x".repeat(seq as usize * 37 % 200))
            };
            let text: String = (5..5 + count).map(line).collect();
            for after in 0..count + 7 {
                let mut file = std::io::Cursor::new(text.as_bytes());
                find_line(&mut file, after).expect("read");
                let rest: String = (5..5 + count).filter(|seq| *seq > after).map(line).collect();
                assert_eq!(&text[file.position() as usize..], rest, "after {after} of {count}");
            }
        }
    }
}
