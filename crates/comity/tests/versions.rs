//! Programs, servers and logs of several versions: who cannot understand whom says so, and what to do.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::Value;
use support::{PATIENCE, Place, Ran};

const OWN: &str = env!("CARGO_PKG_VERSION");
const NEWER: &str = "99.0.0";
const OLDER: &str = "0.0.1";

/// Runs a command of a program that is another version.
fn run_other(place: &Place, version: &str, arguments: &[&str]) -> Ran {
    let mut command = place.comity(arguments);
    Ran::of(command.env("COMITY_PRETEND_VERSION", version).output().expect("comity runs"))
}

fn version(place: &Place) -> String {
    place.json(&["up"])["version"].as_str().expect("a version").to_owned()
}

/// Changes the log while no server runs.
fn change_log(place: &Place, sql: &str) {
    let log = rusqlite::Connection::open(place.home.join("log.db")).expect("a log");
    log.execute_batch(sql).expect("changed");
}

#[test]
fn a_log_of_a_newer_form_is_left_alone() {
    let place = Place::new();
    assert_eq!(run_other(&place, NEWER, &["up", "--json"]).json()["version"], NEWER);
    place.json(&["down"]);
    // Nothing in it is of a newer form yet.
    assert_eq!(version(&place), OWN);
    place.json(&["down"]);
    change_log(&place, "UPDATE written_by SET form = form + 1");
    let before = std::fs::read(place.home.join("log.db")).expect("a log");
    let up = place.run(&["up"]);
    assert_eq!(up.code, 1, "{up:?}");
    let said = format!("this log was written by Comity {NEWER}; use it or newer");
    assert!(up.err.contains(&said), "{up:?}");
    assert_eq!(std::fs::read(place.home.join("log.db")).expect("a log"), before, "nothing was written to it");
}

#[test]
fn a_record_with_something_unknown_in_it_is_not_read_without_it() {
    for (writer, event, said) in [
        (OWN, r#"{"agent_seen":{"agent":"agent_000000000001","mood":"good"}}"#, "unknown field `mood`"),
        (OWN, r#"{"agent_cloned":{"agent":"agent_000000000001"}}"#, "unknown variant `agent_cloned`"),
        (
            NEWER,
            r#"{"agent_cloned":{"agent":"agent_000000000001"}}"#,
            "this log was written by Comity 99.0.0",
        ),
    ] {
        let place = Place::new();
        run_other(&place, writer, &["up", "--json"]).json();
        place.json(&["down"]);
        change_log(
            &place,
            &format!(
                "INSERT INTO events SELECT seq + 1, now, wall_ms, 'comity', NULL, '{event}', hash, NULL
                 FROM events ORDER BY seq DESC LIMIT 1"
            ),
        );
        let up = place.run(&["up"]);
        assert_eq!(up.code, 1, "{event} by {writer}: {up:?}");
        assert!(up.err.contains(said), "{event} by {writer}: {up:?}");
    }
}

#[test]
fn a_client_of_another_version_is_told_what_to_do() {
    let place = Place::new();
    place.json(&["up"]);
    for (client, advice) in [(NEWER, "restart it with: comity up"), (OLDER, "start it again, or update it")] {
        let ran = run_other(&place, client, &["locks"]);
        let said = format!("the server is Comity {OWN}, and this program is {client}; {advice}");
        assert!(ran.code == 0 && ran.err.contains(&said), "{ran:?}");
    }
    assert_eq!(place.run(&["locks"]).err, "", "who is of the same version is told nothing");
}

#[test]
fn a_client_of_another_protocol_can_only_ask_how_the_server_is_and_end_it() {
    let place = Place::new();
    place.json(&["up"]);
    let ask = |op: &str| -> Value {
        let mut stream = UnixStream::connect(place.socket()).expect("a server");
        stream.set_read_timeout(Some(PATIENCE)).expect("a bound");
        let request = format!(
            "{{\"id\":1,\"op\":\"{op}\",\"token\":\"{}\",\"protocol\":99,\"version\":\"{NEWER}\"}}\n",
            support::HUMAN
        );
        stream.write_all(request.as_bytes()).expect("asked");
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("an answer");
        serde_json::from_str(&line).expect("JSON")
    };
    let refused = &ask("locks")["error"];
    assert_eq!(refused["code"], "other_version", "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("comity restart")), "{refused}");
    assert!(
        refused["message"].as_str().is_some_and(|said| said.contains(OWN) && said.contains(NEWER)),
        "{refused}"
    );
    assert_eq!(ask("status")["ok"]["version"], OWN);
    assert!(ask("$stop")["error"].is_null());
}

#[test]
fn up_restarts_an_older_server_that_nobody_uses() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let before = place.server().expect("a server");
    let older = run_other(&place, OLDER, &["up", "--json"]).json();
    assert_eq!(older["pid"].as_u64(), Some(before.into()), "an older program restarts nothing");
    let up = run_other(&place, NEWER, &["up"]);
    assert!(up.code == 0 && up.out.contains(&format!("restarted: it was Comity {OWN}")), "{up:?}");
    assert_eq!(version(&place), NEWER);
    assert_ne!(place.server(), Some(before));
    assert_eq!(place.json(&["locks"])["total"], 1, "nothing is lost");
}

#[test]
fn up_says_who_is_in_the_way_of_a_restart() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let (server, mut log) = (place.server(), place.follow());
    let waiting = place.start(&mut place.comity_as(&bob, &["lock", "src/a.rs", "--wait", "60s", "--json"]));
    log.until_action("wait_started");
    let up = run_other(&place, NEWER, &["up", "--json"]);
    assert_eq!(up.json()["version"], OWN);
    assert!(up.err.contains("bob waits for src/a.rs") && up.err.contains("comity restart"), "{up:?}");
    assert_eq!(place.server(), server, "it goes on");
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    waiting.finish().json();
    assert_eq!(run_other(&place, NEWER, &["up", "--json"]).json()["version"], NEWER, "now nobody is");
}

#[test]
fn restart_takes_no_regard_and_loses_nothing() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let (before, mut log) = (place.server(), place.follow());
    let waiting = place.start(&mut place.comity_as(&bob, &["lock", "src/a.rs", "--wait", "60s", "--json"]));
    log.until_action("wait_started");
    let restarted = place.json(&["restart"]);
    assert_ne!(restarted["pid"].as_u64(), before.map(u64::from));
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(waiting.finish().json()["locks"][0]["path"], "src/a.rs", "who waited waits on");
    let refused = place.run_as(&ann, &["restart", "--json"]).refusal();
    assert_eq!(refused["code"], "not_allowed", "an agent may not: {refused}");
}
