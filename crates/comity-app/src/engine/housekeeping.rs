//! Keeps the log small without being in anybody's way: checkpoints and sealing, in quiet moments if it can wait.

use std::sync::mpsc;
use std::sync::{Arc, atomic::AtomicBool, atomic::Ordering};
use std::time::Duration;

use super::Engine;
use crate::log::{Checkpoint, Reader};

/// Records that are not sealed above which the oldest are sealed when it is quiet.
pub const HOT_RECORDS_QUIET: u64 = 20_000;
/// Records that are not sealed above which the oldest are sealed in any case.
pub const HOT_RECORDS_MAX: u64 = 40_000;
/// Bytes of write-ahead log above which they are moved in any case.
const BACKLOG_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Records after which the thread looks whether there is something to do.
const LOOK_EVERY_RECORDS: u64 = 5_000;
/// Sealed records that are dropped at a time; the writer waits that long at most.
const DROP_RECORDS: usize = 500;
/// Without a write for this long it is quiet.
const QUIET: Duration = Duration::from_millis(500);

/// Runs until the engine stops. It sleeps while nothing is written.
pub(super) fn run(engine: &Engine, reader: &Reader) {
    let (wake, woken) = mpsc::sync_channel::<()>(1);
    let asleep = Arc::new(AtomicBool::new(true));
    let sleeping = Arc::clone(&asleep);
    let looked_at = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let looked = Arc::clone(&looked_at);
    let _woken = engine.feed().wake_while(Arc::new(move |head| {
        let enough = head.saturating_sub(looked.load(Ordering::Relaxed)) >= LOOK_EVERY_RECORDS;
        if sleeping.swap(false, Ordering::Relaxed) || enough {
            let _ = wake.try_send(());
        }
    }));
    while !engine.feed().is_stopped() {
        if woken.recv().is_err() {
            return;
        }
        loop {
            let head = engine.feed().head();
            looked_at.store(head, Ordering::Relaxed);
            pressed(engine, reader, head);
            let _ = woken.recv_timeout(QUIET);
            if engine.feed().is_stopped() {
                return;
            }
            if engine.feed().head() == head {
                quiet(engine, reader, head);
                asleep.store(true, Ordering::Relaxed);
                break;
            }
        }
    }
}

fn pressed(engine: &Engine, reader: &Reader, head: u64) {
    if head.saturating_sub(reader.segments().sealed_up_to()) > HOT_RECORDS_MAX {
        seal(engine, reader);
    }
    if reader.backlog_bytes() > BACKLOG_BYTES_MAX {
        reader.checkpoint(Checkpoint::Behind);
    }
}

fn quiet(engine: &Engine, reader: &Reader, head: u64) {
    while head.saturating_sub(reader.segments().sealed_up_to()) > HOT_RECORDS_QUIET && seal(engine, reader) {}
    reader.checkpoint(Checkpoint::Whole);
}

fn seal(engine: &Engine, reader: &Reader) -> bool {
    match reader.seal_next() {
        Ok(true) => {
            while engine.drop_sealed(DROP_RECORDS) > 0 {}
            true
        }
        Ok(false) => false,
        Err(problem) => {
            // Sealing only saves room: the records stay where they are.
            eprintln!("comity: the oldest records could not be sealed: {problem}");
            false
        }
    }
}
