//! Clients that do not read cost the server little, and leave nothing behind.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use comity_core::limits::RATIONALE_BYTES_MAX;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use socket2::{Domain, Socket, Type};

use crate::support::wire::Wire;
use crate::support::{HUMAN, Place, eventually};
use crate::{address, asking, websocket, write_letters};

/// Connections of each kind that do not read.
const DEAF: usize = 40;
/// Letters that are written meanwhile: many times as much as may be kept for anybody.
const LETTERS: usize = 100;
/// What all of them may cost together.
const COST_MAX_MB: u64 = 100;
/// What may stay of it.
const LEFT_MAX_MB: u64 = 32;

/// Clients over HTTP that ask, and do not read: what waits for all of them is more than twice what may.
const UNREAD_ANSWERS: usize = 200;
const UNREAD_STREAMS: usize = 400;
/// What they may cost, with what the answers cost while they are made.
const UNREAD_COST_MAX_MB: u64 = 140;
/// Decisions of the largest size: all of them are one answer.
const DECISIONS: usize = 60;
/// Letters of the largest size that follow each other on a stream.
const FEW_LETTERS: usize = 8;
/// What the system takes for each of them.
const NARROW_BYTES: usize = 4_096;
const NARROW_SEGMENT_BYTES: u32 = 536;

/// The memory of a process that is in use.
fn resident_mb(pid: u32) -> u64 {
    memory_mb(pid, "VmRSS:")
}

/// The most that ever was.
fn peak_mb(pid: u32) -> u64 {
    memory_mb(pid, "VmHWM:")
}

fn memory_mb(pid: u32, of: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix(of)).expect("its memory");
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

/// Whether the server has hung up, and nothing is on its way.
fn is_hung_up(stream: &TcpStream) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
}

/// A connection to the HTTP door whose system takes little of what comes, in small pieces: the server's does not keep
/// megabytes for it then.
pub(crate) fn narrow(address: &str) -> TcpStream {
    let address: SocketAddr = address.replace("localhost", "127.0.0.1").parse().expect("an address");
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(NARROW_BYTES).expect("a size");
    socket.set_tcp_mss(NARROW_SEGMENT_BYTES).expect("a size");
    socket.connect(&address.into()).expect("the HTTP door");
    socket.into()
}

/// What the kernel still has to deliver for connections to the server, by the client's port.
fn undelivered(server: u16) -> BTreeMap<u16, u64> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the connections");
    let hex = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let port = |address: &str| hex(address.rsplit(':').next().expect("a port")) as u16;
    let rows = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let own = rows.filter(|row| port(row[1]) == server && port(row[2]) != 0);
    own.map(|row| (port(row[2]), hex(row[4].split(':').next().expect("a queue")))).collect()
}

/// Clients that say something and then read nothing cost little, and nothing once they are gone.
#[track_caller]
fn check_unread(clients: usize, prepare: impl FnOnce(&Place), said: impl Fn(&str) -> String) {
    let place = Place::new();
    place.json(&["up"]);
    prepare(&place);
    let server = place.server().expect("a server");
    let http = address(&place);
    let port: u16 = http.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let said = said(&format!("Host: {http}\r\nAuthorization: Bearer {HUMAN}\r\n"));
    let (base, base_peak) = (resident_mb(server), peak_mb(server));
    let deaf: Vec<TcpStream> = (0..clients)
        .map(|_| {
            let mut stream = narrow(&http);
            stream.write_all(said.as_bytes()).expect("the request");
            stream
        })
        .collect();
    let mut before = BTreeMap::new();
    let mut is_still = false;
    while !is_still {
        eventually("more goes out, or nothing any more", || {
            let now = undelivered(port);
            let is_full = |stream: &TcpStream| {
                let port = stream.local_addr().expect("an address").port();
                now.get(&port).is_some_and(|bytes| *bytes > 0) || is_hung_up(stream)
            };
            is_still = now == before && deaf.iter().all(is_full);
            std::mem::replace(&mut before, now.clone()) != now || is_still
        });
    }
    let peak = peak_mb(server);
    drop(deaf);
    let mut after = peak;
    eventually("the memory is given back", || {
        after = resident_mb(server);
        after < base + LEFT_MAX_MB
    });
    eprintln!("{base} MB before, {peak} MB with {clients} that do not read, {after} MB after");
    assert!(
        peak < base_peak + UNREAD_COST_MAX_MB,
        "{peak} MB with clients that do not read, {base_peak} MB without"
    );
}

#[test]
fn rest_answers_that_nobody_reads_cost_little_memory() {
    let decide = |place: &Place| {
        let mut person = Wire::connect(place);
        let rationale = "x".repeat(RATIONALE_BYTES_MAX);
        for number in 0..DECISIONS {
            let decision = json!({ "title": format!("decision {number}"), "rationale": rationale });
            person.ask("decide", decision).expect("decided");
        }
    };
    check_unread(UNREAD_ANSWERS, decide, |lines| format!("GET /api/decisions HTTP/1.1\r\n{lines}\r\n"));
}

#[test]
fn server_sent_events_that_nobody_reads_cost_little_memory() {
    let write = |place: &Place| write_letters(place, ("bob", &place.join(&["bob"])), FEW_LETTERS);
    check_unread(UNREAD_STREAMS, write, |lines| {
        format!("GET /api/events?after=0 HTTP/1.1\r\n{lines}Accept: text/event-stream\r\n\r\n")
    });
}
