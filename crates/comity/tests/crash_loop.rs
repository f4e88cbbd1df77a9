//! A server that is killed again and again under load: its write-ahead log stays small, so the next one starts quickly.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::Place;
use support::wire::Wire;

/// Unless `COMITY_CRASH_LOOP` says otherwise.
const KILLS: usize = 12;
/// Letters that each server takes, and how long they are.
const LETTERS: usize = 40;
const LETTER_BYTES: usize = 100_000;
const BACKLOG_BYTES_MAX: u64 = 32 << 20;
/// From a kill to the first answer of the next server: half of them, and all of them on a machine with other work.
const RESTART_MEDIAN_MAX: Duration = Duration::from_millis(500);
const RESTART_MAX: Duration = Duration::from_secs(3);

#[test]
fn the_write_ahead_log_stays_bounded_and_the_next_server_is_quick() {
    let kills = std::env::var("COMITY_CRASH_LOOP").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let text = "x".repeat(LETTER_BYTES);
    let (mut largest, mut restarts) = (0, Vec::new());
    for _ in 0..kills {
        let mut wire = Wire::connect(&place).asking_as(&ann);
        for _ in 0..LETTERS {
            wire.ask("mail_send", json!({ "to": ["ann"], "message": text })).expect("sent");
        }
        place.kill_server();
        let backlog = std::fs::metadata(place.home.join("log.db-wal")).map_or(0, |file| file.len());
        largest = largest.max(backlog);
        let killed = Instant::now();
        place.json(&["locks"]);
        restarts.push(killed.elapsed()); // clock: how long a restart takes is what is tested
    }
    restarts.sort_unstable();
    let (median, slowest) = (restarts[kills / 2], restarts[kills - 1]);
    println!(
        "crash loop: {kills} kills, the write-ahead log had {largest} bytes at most, back after {median:?}, {slowest:?}"
    );
    assert!(median < RESTART_MEDIAN_MAX && slowest < RESTART_MAX, "{restarts:?}");
    assert!(largest <= BACKLOG_BYTES_MAX, "{largest} bytes");
    let records = place.json(&["log", "verify"])["records"].as_u64().expect("a number");
    assert!(records > (kills * LETTERS) as u64, "{records} records");
}
