//! Crowds at the socket shut nobody out.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::wire::{No, Wire};
use crate::support::{Agent, BINARY, HUMAN, PATIENCE, Place, Running, eventually, kill};
use crate::{asking, crowd_size};

fn next_line(stream: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a line");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

/// The person and an agent's hook, by both programs, at the door.
struct AtTheDoor {
    person: Running,
    hooks: Vec<Running>,
}

/// The person gets in, and so do the hooks.
fn check_open(place: &Place, agent: &Agent) {
    come(place, agent).get_in(place);
}

fn come(place: &Place, agent: &Agent) -> AtTheDoor {
    let person = place.start(&mut place.comity(&["status"]));
    let payload = json!({
        "session_id": agent.id, "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": place.repo.join("src/b.rs"), "content": "new" },
    });
    let mut program = place.program(Path::new(BINARY).with_file_name("comity-hook"));
    program.arg("claude").env("COMITY_TOKEN", &agent.token);
    let hooks = [place.comity_as(agent, &["hook", "claude"]), program].map(|mut hook| {
        let mut child = place.start(hook.stdin(Stdio::piped()));
        let mut input = child.0.stdin.take().expect("an input");
        input.write_all(payload.to_string().as_bytes()).expect("written");
        child
    });
    AtTheDoor { person, hooks: hooks.into() }
}

impl AtTheDoor {
    fn get_in(self, place: &Place) {
        let shown = self.person.finish();
        assert_eq!(shown.code, 0, "the person: {shown:?}");
        for hook in self.hooks {
            let said = hook.finish();
            assert!(
                said.code == 0 && said.err.is_empty() && !said.out.contains("deny"),
                "the hook: {said:?}"
            );
        }
        let locks = place.json(&["locks"]);
        let is_its = |lock: &Value| lock["path"] == "src/b.rs";
        assert!(
            locks["locks"].as_array().is_some_and(|locks| locks.iter().any(is_its)),
            "it was heard: {locks}"
        );
    }
}

#[test]
fn idle_connections_shut_nobody_out() {
    let Some(size) = crowd_size("idle_connections_shut_nobody_out") else { return };
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let mut holder = Wire::connect(&place).asking_as(&ann);
    holder.ask("lock", json!({ "paths": ["src/a.rs"] })).expect("locked");
    let mut follower = BufReader::new(asking(&place, &[("$follow", json!({}))]));
    assert!(next_line(&mut follower)["ok"].is_object());
    let mut waiter = UnixStream::connect(place.socket()).expect("the socket");
    waiter.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let lock = json!({ "id": 1, "op": "lock", "input": { "paths": ["src/a.rs"], "wait": "10m" },
        "token": bob.token, "cwd": place.repo, "protocol": 1 });
    writeln!(waiter, "{lock}").expect("sent");
    while next_line(&mut follower)["event"]["action"] != "wait_started" {}

    let status = [("status", json!({}))];
    let crowd: Vec<UnixStream> = (0..size)
        .map(|number| match number % 2 {
            0 => UnixStream::connect(place.socket()).expect("the socket"),
            _ => asking(&place, &status),
        })
        .collect();
    check_open(&place, &bob);
    let checked = Wire::connect(&place).asking_as(&bob).ask("check", json!({ "path": "src/a.rs" }));
    assert!(matches!(checked, Err(No::Refused(_))), "an agent: {checked:?}");

    // Who waits and who follows has kept its connection.
    Wire::connect(&place).asking_as(&ann).ask("unlock", json!({ "all": true })).expect("unlocked");
    assert!(next_line(&mut BufReader::new(waiter))["ok"].is_object());
    while next_line(&mut follower)["event"]["action"] != "lock_released" {}
    drop(crowd);
}

#[test]
fn requests_that_are_sent_by_half_shut_nobody_out() {
    let Some(size) = crowd_size("requests_that_are_sent_by_half_shut_nobody_out") else { return };
    let size = size + 300;
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let half = |_| {
        let mut stream = UnixStream::connect(place.socket()).ok()?;
        stream.write_all(b"{\"id\":1,\"op\":").ok()?;
        Some(stream)
    };
    let crowd: Vec<UnixStream> = (0..size).filter_map(half).collect();
    eventually("somebody gets in", || place.run(&["status"]).code == 0);
    check_open(&place, &ann);
    drop(crowd);
}

#[test]
fn calls_that_wait_shut_nobody_out() {
    let Some(size) = crowd_size("calls_that_wait_shut_nobody_out") else { return };
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let wait = [("mail_read", json!({ "wait": "10m" }))];
    let mut crowd: Vec<UnixStream> = (0..size).map(|_| asking(&place, &wait)).collect();
    check_open(&place, &ann);
    let refused = next_line(&mut BufReader::new(crowd.pop().expect("the last one")));
    assert_eq!(refused["error"]["code"], "limit_reached", "{refused}");
    let first = crowd.swap_remove(0);
    Wire::connect(&place)
        .asking_as(&ann)
        .ask("mail_send", json!({ "to": "human", "message": "hello" }))
        .expect("sent");
    let got = next_line(&mut BufReader::new(first));
    assert_eq!(got["ok"]["messages"][0]["text"], "hello", "{got}");
    drop(crowd);
}

#[test]
fn a_full_backlog_shuts_nobody_out() {
    let Some(size) = crowd_size("a_full_backlog_shuts_nobody_out") else { return };
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let server = place.server().expect("a server");
    kill(server, Signal::STOP);
    let address = SocketAddrUnix::new(place.socket()).expect("an address");
    let connected = |_| -> Option<OwnedFd> {
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None);
        let socket = socket.expect("a socket");
        connect(&socket, &address).is_ok().then_some(socket)
    };
    let backlog: Vec<OwnedFd> = (0..size).map_while(connected).collect();
    assert!(!backlog.is_empty());
    let waiting = come(&place, &ann);
    kill(server, Signal::CONT);
    waiting.get_in(&place);
    drop(backlog);
}

#[test]
fn a_client_that_asks_a_lot_gets_all_answers_once_it_reads() {
    let place = Place::new();
    place.json(&["up"]);
    let many = 5_000;
    let mut stream = asking(&place, &[]);
    let reading = stream.try_clone().expect("a socket");
    let writer = std::thread::spawn(move || {
        for id in 1..=many {
            let ask = json!({ "id": id, "op": "openings", "token": HUMAN, "protocol": 1 });
            writeln!(stream, "{ask}").expect("sent");
        }
    });
    let lines = BufReader::new(reading).lines().take(many);
    let ids = lines.map(|line| {
        let reply: Value = serde_json::from_str(&line.expect("an answer")).expect("JSON");
        reply["id"].as_u64().expect("a number") as usize
    });
    assert_eq!(ids.collect::<Vec<_>>(), (1..=many).collect::<Vec<_>>());
    writer.join().expect("sent");
}
