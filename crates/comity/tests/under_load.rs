//! One server under load that does not end: its write-ahead log stays bounded, its witness is synced, and a newer program
//! takes its place without anybody noticing.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use support::wire::Wire;
use support::{BINARY, PATIENCE, Place, Ran, Running, eventually, has_ended, has_program, skip};

/// What the write-ahead log may have: what one server lets it come to, and what is written while it is moved.
const BACKLOG_BYTES_MAX: u64 = 192 << 20;
/// Checkpoints that are waited for.
const CHECKPOINTS: usize = 1;
const LETTER_BYTES: usize = 250_000;
const WRITERS: usize = 3;

/// How often the witness is synced at least while there are writes: every half second, and what a busy machine adds.
const SYNCED_WITHIN: Duration = Duration::from_secs(2);
/// How long is written for that.
const WRITING: Duration = Duration::from_secs(5);

fn bytes(place: &Place, file: &str) -> u64 {
    fs::metadata(place.home.join(file)).map_or(0, |file| file.len())
}

#[test]
fn the_write_ahead_log_is_moved_while_nobody_stops_writing() {
    let place = Place::new();
    let writers: Vec<_> = (0..WRITERS).map(|number| place.join(&[&format!("writer{number}")])).collect();
    let server = place.server();
    let (is_over, letters) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut largest, mut moved, begun) = (0, 0, Instant::now());
    std::thread::scope(|scope| {
        for (number, agent) in writers.iter().enumerate() {
            let (place, is_over, letters) = (&place, &is_over, &letters);
            scope.spawn(move || {
                let mut wire = Wire::connect(place).asking_as(agent);
                let letter = json!({ "to": format!("writer{number}"), "message": "x".repeat(LETTER_BYTES) });
                while !is_over.load(Ordering::Relaxed) {
                    wire.ask("mail_send", letter.clone()).expect("sent");
                    let receipt = wire.ask("mail_read", json!({})).expect("a letter")["receipt"].as_u64();
                    wire.ask("mail_ack", json!({ "receipt": receipt })).expect("taken");
                    letters.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let (mut size, mut settled) = (bytes(&place, "log.db"), letters.load(Ordering::Relaxed));
        while moved < CHECKPOINTS && largest <= BACKLOG_BYTES_MAX && begun.elapsed() < PATIENCE * 4 {
            largest = largest.max(bytes(&place, "log.db-wal"));
            let (now, sent) = (bytes(&place, "log.db"), letters.load(Ordering::Relaxed));
            // It grows in steps, while one checkpoint is made.
            if now > size && sent > settled + 100 {
                (moved, settled) = (moved + 1, sent);
            }
            size = now;
            std::thread::sleep(Duration::from_millis(5)); // sleeps: samples sizes that nobody tells of
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let letters = letters.into_inner();
    println!("load: {letters} letters, {moved} checkpoints, the write-ahead log had {largest} bytes at most");
    assert!(largest <= BACKLOG_BYTES_MAX, "{largest} bytes after {letters} letters");
    assert_eq!(moved, CHECKPOINTS, "after {letters} letters");
    assert_eq!(place.server(), server, "all that was one server");
}

#[test]
fn the_witness_is_synced_at_a_bounded_interval() {
    let test = "the_witness_is_synced_at_a_bounded_interval";
    if !has_program("strace") {
        return skip(test, "strace is not installed");
    }
    for is_durable in [false, true] {
        let place = Place::new();
        let trace = place.dir().join("trace");
        let mut command = place.program("strace");
        command.args(["-f", "-qq", "-y", "-ttt", "-e", "trace=fdatasync,fsync"]).arg("-o").arg(&trace);
        command.args([BINARY, "serve"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = Running(command.spawn().expect("strace runs"));
        let mut line = String::new();
        BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut line).expect("a server");
        let mut wire = Wire::connect(&place);
        let begun = Instant::now();
        let from = seconds();
        // clock: an interval is what is measured
        while begun.elapsed() < WRITING {
            if is_durable {
                wire.ask("decide", json!({ "title": "go on" })).expect("decided");
            } else {
                wire.ask("lock", json!({ "paths": "src/a.rs" })).expect("locked");
                wire.ask("unlock", json!({ "paths": "src/a.rs" })).expect("unlocked");
            }
        }
        let to = seconds();
        // What was written last is synced, too, before the server stops.
        let syncs = || synced_at(&fs::read_to_string(&trace).expect("a trace"));
        eventually("the last write is synced", || syncs().last().is_some_and(|at| *at > to - 0.5));
        let inner: Vec<f64> = syncs().into_iter().filter(|at| *at > from && *at < to).collect();
        let all = [&[from], &inner[..], &[to]].concat();
        let longest = all.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        println!(
            "witness: {} syncs in {WRITING:?} of writes (durable: {is_durable}), {longest:.2}s apart at most",
            inner.len()
        );
        assert!(longest < SYNCED_WITHIN.as_secs_f64(), "durable: {is_durable}: {longest}s without a sync");
        place.json(&["down"]);
        assert!(has_ended(server.pid(), PATIENCE));
    }
}

fn seconds() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.expect("a time").as_secs_f64()
}

/// When the witness was synced, as strace tells it: `PID SECONDS fdatasync(5</…/log.witness>) = 0`.
fn synced_at(trace: &str) -> Vec<f64> {
    let of_witness = trace.lines().filter(|line| line.contains("/log.witness>"));
    of_witness.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok()).collect()
}

#[test]
fn up_takes_an_older_servers_place_beside_work_that_goes_on() {
    const AGENTS: usize = 3;
    const NEWER: &str = "99.0.0";
    let place = Place::new();
    let agents: Vec<_> = (0..AGENTS).map(|number| place.join(&[&format!("agent{number}")])).collect();
    let kept = place.join(&["kept"]);
    place.json_as(&kept, &["lock", "src/kept.rs"]);
    let mut following = place.start(&mut place.comity(&["log", "--follow", "--json"]));
    let (is_over, locked) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (number, agent) in agents.iter().enumerate() {
            let (place, is_over, locked) = (&place, &is_over, &locked);
            scope.spawn(move || {
                let path = format!("src/{number}.rs");
                while !is_over.load(Ordering::Relaxed) {
                    place.json_as(agent, &["lock", &path]);
                    place.json_as(agent, &["unlock", &path]);
                    locked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        eventually("there is work", || locked.load(Ordering::Relaxed) > 5);
        // A call that is under way is in the way; it is over in a moment.
        eventually("the newer one runs", || {
            let up = Ran::of(
                place
                    .comity(&["up", "--json"])
                    .env("COMITY_PRETEND_VERSION", NEWER)
                    .output()
                    .expect("comity runs"),
            );
            up.json()["version"] == NEWER
        });
        let then = locked.load(Ordering::Relaxed);
        eventually("the work goes on", || locked.load(Ordering::Relaxed) > then + 5);
        is_over.store(true, Ordering::Relaxed);
    });
    let locked = locked.into_inner() as usize;
    assert_eq!(place.log_of("lock_acquired").len(), locked + 1, "each is done, once");
    assert_eq!(place.log_of("lock_released").len(), locked, "each is done, once");
    assert_eq!(place.json(&["locks"])["locks"][0]["path"], "src/kept.rs", "who did nothing has what it had");
    assert!(following.is_running(), "who follows goes on");
    let head = place.json(&["status"])["head"].as_u64().expect("a number");
    let mut lines = BufReader::new(following.0.stdout.take().expect("a pipe")).lines();
    let last = lines.find(|line| {
        let entry: serde_json::Value = serde_json::from_str(line.as_ref().expect("a line")).expect("JSON");
        entry["seq"].as_u64() >= Some(head)
    });
    assert!(last.is_some(), "who follows got all of it");
    place.json(&["log", "verify"]);
}
