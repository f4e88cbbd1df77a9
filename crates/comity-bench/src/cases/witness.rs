//! What the witness of the log's head adds to a durable batch, of which every letter that is sent needs one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use comity_app::log::{Durability, Log, SqliteLog, StartPoint};
use comity_core::server::ServerEvent;
use comity_core::world::Timeouts;
use comity_core::{Event, Principal, Record, Timestamp};

use crate::Bench;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::quantity::Unit;
use crate::report::Goal;

const SAMPLES: usize = 2_000;
const CHUNK: usize = 5;
/// More often than a server does it.
const SYNC_EVERY: Duration = Duration::from_millis(200);
/// About what one event of the log has.
const TEXT_BYTES: usize = 300;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let mut without = Appends::begin(bench, "witness-without")?;
    without.log.forget_witness();
    let mut with = Appends::begin(bench, "witness-with")?;
    let reader = with.log.reader()?;
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let syncs = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            std::thread::sleep(SYNC_EVERY);
            reader.sync_witness();
        }
    });
    let what = Comparison {
        name: "a durable batch with the witness, to one without",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.05)),
    };
    let samples = bench.scaled(SAMPLES);
    let compared = bench.compare(what, || {
        in_turns(samples, CHUNK, || timed(|| without.append()), || timed(|| with.append()))
    });
    stop.store(true, Ordering::Relaxed);
    syncs.join().map_err(|_| "the syncs failed".to_owned())?;
    compared
}

/// A log that one record after the other is added to.
struct Appends {
    log: SqliteLog,
    record: Record,
}

impl Appends {
    fn begin(bench: &Bench, name: &str) -> Result<Appends, String> {
        let home = bench.stage.dir().join(name);
        std::fs::create_dir(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        let StartPoint { log, .. } = SqliteLog::open(&home, Timeouts::default())?;
        let record = Record {
            seq: 0,
            now: Timestamp(0),
            wall_ms: 0,
            by: Principal::System,
            from: None,
            concerns: vec![],
            key: None,
            event: Event::Server(ServerEvent::EntriesRefused {
                why: "x".repeat(TEXT_BYTES).into(),
                count: 1,
            }),
        };
        Ok(Appends { log, record })
    }

    fn append(&mut self) -> Result<(), String> {
        self.record.seq += 1;
        let records = std::slice::from_ref(&self.record);
        self.log.append(records, Durability::Durable).map_err(|error| error.to_string())
    }
}
