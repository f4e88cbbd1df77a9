//! Letters and decisions of the largest size, more of them than one answer can carry.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::http::request;
use crate::support::wire::Wire;
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
    let newest = place.json(&["log", "--all"]);
    assert_eq!(numbers(&newest["entries"]), (head - 49..=head).collect::<Vec<_>>());
    let forwards = ["log", "--after", "0", "--limit", "10000"];
    for arguments in [&["log", "--all", "--limit", "10000"][..], &forwards] {
        let all = place.json(arguments);
        assert_eq!(numbers(&all["entries"]), (1..=head).collect::<Vec<_>>(), "{arguments:?}");
        assert_eq!(all["cursor"], head);
    }
}

#[test]
fn the_command_follows() {
    let (place, bob) = full_log();
    let mut command = place.comity(&["log", "-f", "--all", "--json", "--limit", "1000"]);
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
        let target = format!("/api/coordination/activity?all=true&limit=1000&before={before}");
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

#[test]
fn decisions_come_in_pages() {
    const DECISIONS: u64 = 130;
    let place = Place::new();
    let mut person = Wire::connect(&place);
    let rationale = "x".repeat(comity_core::limits::RATIONALE_BYTES_MAX);
    for number in 1..=DECISIONS {
        let title = format!("decision {number}");
        person.ask("decide", json!({ "title": title, "rationale": rationale })).expect("decided");
    }
    let newest = place.json(&["decisions"]);
    assert_eq!(
        newest["decisions"].as_array().map(Vec::len),
        Some(50),
        "what is asked for if nothing is said"
    );
    assert_eq!(
        (&newest["decisions"][49]["id"], &newest["more"]),
        (&json!(format!("d{DECISIONS}")), &json!(true))
    );
    let listed = place.run(&["decisions"]).out;
    let last = listed.lines().last().expect("a line");
    assert_eq!(last, "there are older ones: comity decision list --before d81");
    let (mut seen, mut input) = (Vec::new(), json!({ "limit": 1_000 }));
    loop {
        let page = person.ask("decisions", input.clone()).expect("a page");
        assert!(page.to_string().len() < 1_100_000, "a page has a bound");
        let ids = page["decisions"].as_array().expect("a list").iter();
        let ids: Vec<String> = ids.map(|one| one["id"].as_str().expect("a number").to_owned()).collect();
        input["before"] = json!(ids.first().expect("a page is not empty"));
        seen.splice(0..0, ids);
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(seen, (1..=DECISIONS).map(|number| format!("d{number}")).collect::<Vec<_>>());
    assert_eq!(place.run(&["decisions", "--limit", "0"]).code, 3);
}
