//! A server that is killed again and again under load: its write-ahead log stays small, so the next one starts quickly.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::json;
use support::Place;
use support::wire::Wire;

const KILLS: usize = 12;
/// Letters that each server takes, and how long they are.
const LETTERS: usize = 40;
const LETTER_BYTES: usize = 100_000;
const BACKLOG_BYTES_MAX: u64 = 32 << 20;

#[test]
fn the_write_ahead_log_stays_bounded() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let text = "x".repeat(LETTER_BYTES);
    let mut largest = 0;
    for _ in 0..KILLS {
        let mut wire = Wire::connect(&place).asking_as(&ann);
        for _ in 0..LETTERS {
            wire.ask("mail_send", json!({ "to": ["ann"], "message": text })).expect("sent");
        }
        place.kill_server();
        let backlog = std::fs::metadata(place.home.join("log.db-wal")).map_or(0, |file| file.len());
        largest = largest.max(backlog);
    }
    println!("crash loop: {KILLS} kills, the write-ahead log had {largest} bytes at most");
    assert!(largest <= BACKLOG_BYTES_MAX, "{largest} bytes");
    let records = place.json(&["log", "verify"])["records"].as_u64().expect("a number");
    assert!(records > (KILLS * LETTERS) as u64, "{records} records");
}
