//! A server that has no file descriptors left helps itself.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::asking;
use crate::support::http::request;
use crate::support::{BINARY, HUMAN, PATIENCE, Place, Running, eventually};

/// Files that the server may have open.
const FILES: usize = 96;
/// Files that it keeps free, to see who asks.
const KEPT_FREE: usize = 8;
/// Connections, more than there are files for.
const CROWD: usize = 150;

/// A server that may have few files open.
fn starved_server(place: &Place) -> Running {
    let mut command = place.program("sh");
    command.args(["-c", &format!("ulimit -n {FILES}; exec \"$0\" serve"), BINARY]);
    let server = place.start(&mut command);
    eventually("the server is there", || place.server().is_some());
    server
}

/// The processor time that a process has used.
fn used(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let fields: Vec<&str> = stat[stat.rfind(')').expect("a name") + 2..].split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
}

#[test]
fn idle_connections_go_when_there_are_no_file_descriptors() {
    let place = Place::new();
    let server = starved_server(&place);
    let crowd: Vec<UnixStream> =
        (0..CROWD).map(|_| UnixStream::connect(place.socket()).expect("the socket")).collect();
    let shown = place.run(&["status"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(request(&place, Some(HUMAN), "GET", "/api/status", None).status, 200);
    drop(crowd);
    assert!(server.is_running());
}

#[test]
fn it_waits_for_file_descriptors_without_spinning_and_goes_on() {
    let place = Place::new();
    let server = starved_server(&place);
    // All of them wait for something, so none of them may go.
    let wait = [("mail_read", json!({ "wait": "10m" }))];
    let mut crowd: Vec<UnixStream> = (0..CROWD).map(|_| asking(&place, &wait)).collect();
    let open = || std::fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("its files").count();
    eventually("all files are open", || open() >= FILES - KEPT_FREE);
    // The kernel has nothing that tells of processor time that was not used.
    let (before, begun) = (used(server.pid()), Instant::now());
    std::thread::sleep(Duration::from_secs(1)); // sleeps: the time itself is measured
    let (cost, elapsed) = (used(server.pid()) - before, begun.elapsed()); // clock: of the processor, which spinning uses
    assert!(cost < elapsed / 4, "{cost:?} of processor time in {elapsed:?}");
    for (at, stream) in crowd.iter_mut().enumerate() {
        stream.set_nonblocking(true).expect("a stream");
        let answer = stream.read(&mut [0; 200]).map_err(|error| error.kind());
        assert_eq!(answer, Err(ErrorKind::WouldBlock), "{at} waits: nobody was unproven or sent away");
        stream.set_nonblocking(false).expect("a stream");
    }
    // The last one is not let in yet: it is once others have gone, without anybody else having come.
    let mut last = crowd.pop().expect("the last");
    crowd.truncate(10);
    last.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    writeln!(last, "{}", json!({ "id": 2, "op": "status", "token": HUMAN, "protocol": 1 })).expect("sent");
    let mut line = String::new();
    BufReader::new(last).read_line(&mut line).expect("an answer");
    assert!(line.contains("\"id\":2"), "{line}");
    assert_eq!(place.run(&["status"]).code, 0);
    assert!(server.is_running());
}

#[test]
fn the_server_raises_its_limit_and_git_keeps_the_old_one() {
    let place = Place::new();
    // What git starts tells its limit.
    let hook = place.repo.join(".git/hooks/pre-commit");
    let told = place.dir().join("told");
    std::fs::write(&hook, format!("#!/bin/sh\nulimit -n >{}\n", told.display())).expect("a hook");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let mut command = place.program("sh");
    command.args(["-c", "ulimit -S -n 200; exec \"$0\" serve", BINARY]);
    let server = place.start(&mut command);
    eventually("the server is there", || place.server().is_some());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).expect("limits");
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).expect("a limit");
    let limit: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(limit[0], limit[1].min(65_536), "{line}");

    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    std::fs::write(place.repo.join("src/a.rs"), "fn main() { }\n").expect("written");
    place.json_as(&ann, &["commit", "-m", "one", "--hooks"]);
    assert_eq!(std::fs::read_to_string(&told).expect("the hook ran").trim(), "200");
}
