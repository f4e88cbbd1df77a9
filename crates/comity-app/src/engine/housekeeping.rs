//! Keeps the log small without being in anybody's way: checkpoints and sealing, in quiet moments if it can wait.

use std::sync::mpsc;
use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering};
use std::time::{Duration, Instant};

use super::Engine;
use crate::log::{Checkpoint, LogReader};
use crate::planted_panic::panic_at;

/// With more unsealed records, the oldest are sealed when it is quiet.
pub const HOT_RECORDS_QUIET: u64 = 10_000;
/// With more unsealed records, the oldest are sealed in any case: a start reads all of them.
pub const HOT_RECORDS_MAX: u64 = 20_000;
/// After this many records the write-ahead log is moved and restarted: a start after a crash reads all of it.
pub const BACKLOG_RECORDS_MAX: u64 = 10_000;
/// Above this size the same is done, and the file is truncated: letters can be long.
const BACKLOG_BYTES_MAX: u64 = 128 << 20;
/// Records after which the thread checks for work.
const LOOK_EVERY_RECORDS: u64 = 5_000;
/// Sealed records that may stay in the table while it is not quiet.
const SEALED_RECORDS_MAX: u64 = 500_000;
/// Sealed records that are dropped at a time; the writer waits that long at most.
const DROP_RECORDS: usize = 500;
/// Without a write for this long it is quiet.
const QUIET: Duration = Duration::from_millis(500);

/// Runs until the engine stops. It sleeps while nothing is written.
pub(super) fn run(engine: &Engine, reader: &LogReader, keep_segments: Option<usize>) {
    let (wake, woken) = mpsc::sync_channel::<()>(1);
    let asleep = Arc::new(AtomicBool::new(true));
    let sleeping = Arc::clone(&asleep);
    let looked_at = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let looked = Arc::clone(&looked_at);
    let _woken = engine.feed().wake_while(Arc::new(move |head| {
        let enough = head.saturating_sub(looked.load(Ordering::Relaxed)) >= LOOK_EVERY_RECORDS;
        if sleeping.swap(false, Ordering::SeqCst) || enough {
            let _ = wake.try_send(());
        }
    }));
    let mut moved_at = engine.feed().head();
    // Servers that are killed again and again never have quiet moments.
    pressed(engine, reader, moved_at);
    while !engine.feed().is_stopped() {
        if woken.recv().is_err() {
            return;
        }
        loop {
            panic_at("housekeeping");
            let head = engine.feed().head();
            looked_at.store(head, Ordering::Relaxed);
            if head.saturating_sub(moved_at) >= BACKLOG_RECORDS_MAX {
                // All but the last few records are moved while writers go on; they wait only for those few.
                reader.checkpoint(Checkpoint::Behind);
                engine.between_writes(|| reader.checkpoint(Checkpoint::Again));
                moved_at = head;
            }
            if reader.backlog_bytes() > BACKLOG_BYTES_MAX {
                reader.checkpoint(Checkpoint::Behind);
                engine.between_writes(|| reader.checkpoint(Checkpoint::Whole));
                moved_at = head;
            }
            reader.sync_witness();
            pressed(engine, reader, head);
            let _ = woken.recv_timeout(QUIET);
            if engine.feed().is_stopped() {
                return;
            }
            if engine.feed().head() == head {
                quiet(engine, reader, head);
                if let Some(most) = keep_segments {
                    drop_segments(reader, most);
                }
                moved_at = head;
                asleep.store(true, Ordering::SeqCst);
                // What was written since then has woken nobody.
                if engine.feed().head() == head {
                    break;
                }
            }
        }
    }
}

fn pressed(engine: &Engine, reader: &LogReader, head: u64) {
    if hot(reader, head) > HOT_RECORDS_MAX + locks(engine) {
        seal(reader);
    }
    // Dropping needs the writer: it waits for a quiet moment, unless too much piles up.
    if reader.oldest().is_some_and(|oldest| reader.segments().sealed_up_to() > oldest + SEALED_RECORDS_MAX) {
        drop_sealed(engine, reader);
    }
}

fn drop_sealed(engine: &Engine, reader: &LogReader) {
    let mut synced = Instant::now();
    while engine.drop_sealed(DROP_RECORDS) > 0 {
        // It may take long, and writers go on.
        if synced.elapsed() >= QUIET {
            reader.sync_witness();
            synced = Instant::now();
        }
    }
}

fn quiet(engine: &Engine, reader: &LogReader, head: u64) {
    while hot(reader, head) > HOT_RECORDS_QUIET + locks(engine) && seal(reader) {}
    drop_sealed(engine, reader);
    reader.sync_witness();
    reader.checkpoint(Checkpoint::Whole);
}

/// Drops old segments that the settings do not keep, in a quiet moment.
fn drop_segments(reader: &LogReader, most: usize) {
    if let Err(problem) = reader.segments().keep_newest(most) {
        eprintln!("comity: old segments of the log could not be dropped: {problem}");
    }
}

fn hot(reader: &LogReader, head: u64) -> u64 {
    head.saturating_sub(reader.segments().sealed_up_to())
}

/// A segment has at least as many records as there are locks, so with many locks sealing waits longer.
fn locks(engine: &Engine) -> u64 {
    engine.world().locks.len() as u64
}

fn seal(reader: &LogReader) -> bool {
    reader.sync_witness();
    reader.seal_next().unwrap_or_else(|problem| {
        // Sealing only saves room: the records stay where they are.
        eprintln!("comity: the oldest records could not be sealed: {problem}");
        false
    })
}
