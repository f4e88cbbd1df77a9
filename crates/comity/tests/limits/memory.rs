//! Clients that do not read cost the server little, and leave nothing behind.

use std::io::Write;
use std::net::TcpStream;

use serde_json::json;

use crate::support::wire::Wire;
use crate::support::{HUMAN, PATIENCE, Place, eventually, is_readable};
use crate::{address, asking, websocket, write_letters};

/// Connections of each kind that do not read.
const DEAF: usize = 40;
/// Letters that are written meanwhile: many times as much as may be kept for anybody.
const LETTERS: usize = 100;
/// What all of them may cost together.
const COST_MAX_MB: u64 = 100;
/// What may stay of it.
const LEFT_MAX_MB: u64 = 32;

/// Clients over HTTP that ask, and do not read.
const UNREAD: usize = 200;
/// Requests of each: the kernel holds the answers to some of them.
const UNREAD_REQUESTS: usize = 40;

/// The memory of a process that is in use.
fn resident_mb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
}

#[test]
fn clients_that_do_not_read_cost_little_memory_and_leave_none_behind() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    let server = place.server().expect("a server");
    write_letters(&place, ("bob", &bob), LETTERS);
    let base = resident_mb(server);
    let http = address(&place);
    let head = Wire::connect(&place).ask("status", json!({})).expect("a status")["head"].as_u64();
    let deaf: Vec<_> = (0..DEAF)
        .map(|number| {
            let follow = [("$follow", json!({ "after": 0 }))];
            let many = vec![("log", json!({ "limit": 10_000 })); 100];
            let asked: &[_] = if number % 2 == 0 { &follow } else { &many };
            let after = if number % 2 == 0 { Some(0) } else { head };
            (websocket(&http, after.expect("a number")), asking(&place, asked))
        })
        .collect();
    write_letters(&place, ("bob", &bob), LETTERS);
    let during = resident_mb(server);
    assert!(during < base + COST_MAX_MB, "{during} MB with clients that do not read, {base} MB without");
    drop(deaf);
    let mut after = during;
    eventually("the memory is given back", || {
        after = resident_mb(server);
        after < base + LEFT_MAX_MB
    });
    eprintln!("{base} MB before, {during} MB with {DEAF} of each kind, {after} MB after");
}

#[test]
fn rest_answers_that_nobody_reads_cost_little_memory() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    let server = place.server().expect("a server");
    write_letters(&place, ("bob", &bob), LETTERS);
    let http = address(&place);
    let base = resident_mb(server);
    let asked = format!(
        "GET /api/coordination/activity?limit=1000 HTTP/1.1\r\nHost: {http}\r\nAuthorization: Bearer {HUMAN}\r\n\r\n"
    );
    let asked = asked.repeat(UNREAD_REQUESTS);
    let deaf: Vec<TcpStream> = (0..UNREAD)
        .map(|_| {
            let mut stream = TcpStream::connect(&http).expect("the HTTP door");
            stream.write_all(asked.as_bytes()).expect("the requests");
            stream
        })
        .collect();
    for stream in &deaf {
        assert!(is_readable(stream, PATIENCE), "an answer is there");
    }
    let during = resident_mb(server);
    eprintln!("{base} MB before, {during} MB with {UNREAD} that do not read their answers");
    assert!(during < base + COST_MAX_MB, "{during} MB with clients that do not read, {base} MB without");
}
