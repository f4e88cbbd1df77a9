//! Programs, servers and logs of several versions: who cannot understand whom says so, and what to do.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use comity_app::log::{Chain, Stored};
use serde_json::Value;
use support::mcp::Mcp;
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

/// Adds a record to a log or a backup as somebody would have written it.
fn add_record(file: &std::path::Path, event: &str) {
    let log = rusqlite::Connection::open(file).expect("a log");
    let last = "SELECT seq, now, wall_ms, hash FROM events ORDER BY seq DESC LIMIT 1";
    let (seq, now, wall_ms, hash): (i64, i64, i64, [u8; 32]) = log
        .query_row(last, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .expect("a record");
    let (seq, by) = (seq + 1, "comity");
    let stored = Stored { seq: seq as u64, now: now as u64, wall_ms, by, key: None, event, concerns: None };
    let hash = Chain(hash).add(&stored);
    let insert = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, NULL, ?5, ?6, NULL)";
    log.execute(insert, rusqlite::params![seq, now, wall_ms, by, event, hash]).expect("added");
}

const UNKNOWN: &str = r#"{"agent_cloned":{"agent":"agent_000000000001"}}"#;

#[test]
fn what_another_build_of_the_same_version_wrote_is_not_called_damage() {
    let place = Place::new();
    place.json(&["up"]);
    place.json(&["down"]);
    add_record(&place.home.join("log.db"), UNKNOWN);
    let up = place.run(&["up"]);
    assert_eq!(up.code, 1, "{up:?}");
    assert!(up.err.contains(&format!("another build of Comity {OWN} wrote this log")), "{up:?}");
    assert!(up.err.contains("agent_cloned") && !up.err.contains("recover"), "{up:?}");
}

#[test]
fn a_backup_that_cannot_be_read_leaves_the_log_where_it_is() {
    let place = Place::new();
    run_other(&place, NEWER, &["up", "--json"]).json();
    place.json(&["down"]);
    let before = std::fs::read(place.home.join("log.db")).expect("a log");
    let restore = |file: &str, expected: &str| {
        let restored = place.run(&["restore", file]);
        assert_eq!(restored.code, 1, "{restored:?}");
        assert!(restored.err.contains(expected), "{restored:?}");
        let after = std::fs::read(place.home.join("log.db")).expect("a log");
        assert!(after == before, "{expected}: it was changed");
        assert!(!place.home.join("set-aside").exists(), "{expected}");
    };
    for (number, expected) in ["agent_cloned", "this log was written by Comity 99.0.0"].iter().enumerate() {
        let file = place.dir().join(format!("backup-{number}"));
        let name = file.to_str().expect("a text");
        place.json(&["backup", name]);
        match number {
            0 => add_record(&file, UNKNOWN),
            _ => {
                let backup = rusqlite::Connection::open(&file).expect("a backup");
                let changed = backup.execute("UPDATE written_by SET form = form + 1", []);
                assert_eq!(changed, Ok(1), "a backup says who wrote the log");
            }
        }
        restore(name, expected);
    }
}

#[test]
fn a_log_that_was_put_back_or_recovered_says_who_wrote_it() {
    let writer = |place: &Place| {
        let log = rusqlite::Connection::open(place.home.join("log.db")).expect("a log");
        log.query_row("SELECT version FROM written_by", [], |row| row.get::<_, String>(0)).expect("a writer")
    };
    let place = Place::new();
    run_other(&place, NEWER, &["up", "--json"]).json();
    place.json(&["down"]);
    let file = place.dir().join("backup");
    let name = file.to_str().expect("a text");
    place.json(&["backup", name]);
    place.json(&["restore", name]);
    assert_eq!(writer(&place), NEWER);
    let place = Place::new();
    place.json(&["up"]);
    place.json(&["down"]);
    let last = "WHERE seq = (SELECT max(seq) FROM events)";
    change_log(
        &place,
        &format!("DROP TRIGGER events_are_final; UPDATE events SET wall_ms = wall_ms + 1 {last}"),
    );
    place.json(&["log", "recover"]);
    assert_eq!(writer(&place), OWN);
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
fn an_mcp_client_of_another_version_is_told() {
    let place = Place::new();
    place.json(&["up"]);
    for (client, advice) in [(NEWER, "restart it with: comity up"), (OLDER, "start it again, or update it")] {
        let mut mcp =
            Mcp::start(place.comity(&["mcp", "--name", "claude"]).env("COMITY_PRETEND_VERSION", client));
        let told = mcp.call("status", &serde_json::json!({}));
        let said = format!("the server is Comity {OWN}, and this program is {client}; {advice}");
        assert!(!told.is_error && told.text.contains(&said), "{}", told.text);
        let again = mcp.call("status", &serde_json::json!({}));
        assert!(!again.text.contains(&said), "once for each connection: {}", again.text);
    }
    let mut mcp = Mcp::start(&mut place.comity(&["mcp", "--name", "claude"]));
    let told = mcp.call("status", &serde_json::json!({}));
    assert!(!told.text.contains("this program is"), "{}", told.text);
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
    let said = format!("it was restarted, for it was version {OWN}.");
    assert!(up.code == 0 && up.out.contains(&said), "{up:?}");
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

#[test]
fn a_mistake_in_the_settings_stops_no_server() {
    let place = Place::new();
    place.json(&["up"]);
    let server = place.server().expect("a server");
    place.set("[lock]\nttl = \"a while\"\n");
    let refused = place.run(&["restart"]);
    assert!(refused.code != 0 && refused.err.contains("the server keeps running as it is"), "{refused:?}");
    assert_eq!(place.server(), Some(server));
    place.json(&["locks"]);
}
