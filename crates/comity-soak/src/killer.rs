//! Kills the server again and again, and measures how large it and its write-ahead log become.

use std::ops::Range;
use std::time::{Duration, Instant};

use comity_sim::Rng;
use comity_wire::{Client, Home};
use serde_json::json;

use crate::load::Load;
use crate::run_dir::{PATIENCE, has_ended, kill};

/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What was measured at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) pid: u32,
    pub(crate) rss_kib: u64,
    pub(crate) wal_bytes: u64,
    /// Whether the server had only just answered for the first time.
    pub(crate) is_first: bool,
}

/// Kills until the load ends, but for a calm in which one server lives; gives what each one had after its start.
pub(crate) fn kill_again_and_again(
    load: &Load,
    every: Duration,
    calm: &Range<Instant>,
    seed: u64,
) -> Vec<Sample> {
    let mut random = Rng::new(seed);
    let mut samples = Vec::new();
    let mut probe = load.human("probe");
    while load.goes_on() {
        let until = Instant::now() + every.mul_f64(random.below(2000) as f64 / 1000.0);
        while load.goes_on() && (Instant::now() < until || calm.contains(&Instant::now())) {
            std::thread::sleep(Duration::from_millis(1).min(every));
        }
        let Some(pid) = server(load).filter(|_| load.goes_on()) else { continue };
        let at = Instant::now();
        load.restarts.killed(pid, at);
        kill(pid);
        has_ended(pid, PATIENCE);
        // As soon as a client has had an answer of the next one, or this one here.
        while load.restarts.is_waiting() && at.elapsed() < PATIENCE {
            let _broken = probe.ask("status", &json!({}));
        }
        samples.extend(sample(load, true));
    }
    samples
}

/// Looks at the server until the load ends.
pub(crate) fn measure(load: &Load) -> Vec<Sample> {
    let mut samples = Vec::new();
    while load.goes_on() {
        samples.extend(sample(load, false));
        std::thread::sleep(LOOK_EVERY);
    }
    samples
}

pub(crate) fn server(load: &Load) -> Option<u32> {
    let client = Client::connect(&Home::at(&load.place.home)).ok()?;
    client.server().and_then(|pid| u32::try_from(pid).ok())
}

fn sample(load: &Load, is_first: bool) -> Option<Sample> {
    let pid = server(load)?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let rss_kib = rss.trim().trim_end_matches(" kB").parse().ok()?;
    let wal = std::fs::metadata(load.place.home.join("log.db-wal"));
    Some(Sample { pid, rss_kib, wal_bytes: wal.map_or(0, |file| file.len()), is_first })
}
