//! Letters of the largest size, more of them than one answer can carry.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::http::request;
use crate::support::{Agent, HUMAN, Place, Running};
use crate::{address, asking, websocket, write_letters};

/// Letters that together are more than a line of the protocol can have.
const LETTERS: usize = 70;

fn full_log() -> (Place, Agent) {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    write_letters(&place, ("bob", &bob), LETTERS);
    (place, bob)
}

fn head(place: &Place) -> u64 {
    place.json(&["status"])["head"].as_u64().expect("a number")
}

fn numbers(entries: &Value) -> Vec<u64> {
    let entries = entries.as_array().expect("entries");
    entries.iter().map(|entry| entry["seq"].as_u64().expect("a number")).collect()
}

#[test]
fn the_command_shows_all_that_was_asked_for() {
    let (place, _bob) = full_log();
    let shown = place.run(&["log", "--type", "mail:sent"]);
    assert_eq!((shown.code, shown.out.lines().count()), (0, 50), "{}", shown.err);
    let head = head(&place);
    let newest = place.json(&["log"]);
    assert_eq!(numbers(&newest["entries"]), (head - 49..=head).collect::<Vec<_>>());
    for arguments in [&["log", "--limit", "10000"][..], &["log", "--after", "0", "--limit", "10000"]] {
        let all = place.json(arguments);
        assert_eq!(numbers(&all["entries"]), (1..=head).collect::<Vec<_>>(), "{arguments:?}");
        assert_eq!(all["cursor"], head);
    }
}

#[test]
fn the_command_follows() {
    let (place, bob) = full_log();
    let mut command = place.comity(&["log", "-f", "--json", "--limit", "1000"]);
    let mut following = Running(command.stdout(Stdio::piped()).spawn().expect("comity runs"));
    let mut lines = BufReader::new(following.0.stdout.take().expect("a pipe")).lines();
    let mut next = || -> u64 {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str::<Value>(&line).expect("JSON")["seq"].as_u64().expect("a number")
    };
    let old = head(&place);
    assert_eq!((1..=old).map(|_| next()).collect::<Vec<_>>(), (1..=old).collect::<Vec<_>>());
    // It does not read while all of this is written, and gets it all.
    write_letters(&place, ("bob", &bob), LETTERS);
    let new = head(&place);
    assert_eq!((old..new).map(|_| next()).collect::<Vec<_>>(), (old + 1..=new).collect::<Vec<_>>());
}

#[test]
fn rest_gives_it_in_pages() {
    let (place, _bob) = full_log();
    let head = head(&place);
    let (mut seen, mut before) = (BTreeSet::new(), head + 1);
    while before > 1 {
        let target = format!("/api/coordination/activity?limit=1000&before={before}");
        let response = request(&place, Some(HUMAN), "GET", &target, None);
        assert!(response.body.len() < 4 << 20, "{} bytes in one answer", response.body.len());
        let page = numbers(&response.json()["entries"]);
        assert_eq!(page.last(), Some(&(before - 1)));
        before = page[0];
        seen.extend(page);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), (1..=head).collect::<Vec<_>>());
}

/// The next message of a WebSocket.
fn message(stream: &mut impl Read) -> Value {
    let mut bytes = |count: usize| {
        let mut bytes = vec![0; count];
        stream.read_exact(&mut bytes).expect("a frame");
        bytes
    };
    let number = |bytes: Vec<u8>| bytes.iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte));
    let length = match bytes(2)[1] {
        126 => number(bytes(2)),
        127 => number(bytes(8)),
        length => usize::from(length),
    };
    serde_json::from_slice(&bytes(length)).expect("JSON")
}

fn skip_head(stream: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        stream.read_line(&mut line).expect("a head");
    }
}

#[test]
fn a_follower_that_falls_behind_gets_all_of_it_once() {
    let (place, bob) = full_log();
    let mut web = BufReader::new(websocket(&address(&place), 0));
    let local = BufReader::new(asking(&place, &[("$follow", json!({ "after": 0 }))]));
    write_letters(&place, ("bob", &bob), LETTERS);
    let all: Vec<u64> = (1..=head(&place)).collect();
    skip_head(&mut web);
    assert_eq!(message(&mut web)["type"], "hello");
    let got: Vec<u64> = all.iter().map(|_| message(&mut web)["seq"].as_u64().expect("a number")).collect();
    assert_eq!(got, all);
    let lines =
        local.lines().map(|line| serde_json::from_str::<Value>(&line.expect("a line")).expect("JSON"));
    let got = lines.filter_map(|reply| reply["event"]["seq"].as_u64()).take(all.len());
    assert_eq!(got.collect::<Vec<_>>(), all);
}
