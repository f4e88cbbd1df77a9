//! What operations alone do not bring about: locks that run out, waits, commits, merges, programs and a start, for the kept
//! log.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::wire::Wire;
use crate::support::{Agent, BINARY, Place, Ran, eventually};

/// Lets all of that happen.
pub(crate) fn happen(place: &Place) {
    place.json(&["agent", "limit", "20"]);
    let (ken, zoe) = (place.join(&["ken"]), place.join(&["zoe"]));
    run_out(place, &ken);
    wait(place, &ken, &zoe);
    commit(place, &zoe);
    merge(place, &zoe);
    repeat(place, &ken);
    tasks(place, &ken);
    shutdowns(place);
    programs(place);
    place.kill_server();
    place.json_as(&ken, &["locks"]);
    resumed(place);
    place.json(&["mail", "send", "zoe", "--message", "nobody reads this any more"]);
    place.json_as(&zoe, &["agent", "bye"]);
}

fn tasks(place: &Place, ken: &Agent) {
    place.json_as(ken, &["task", "add", "write the guide to locks", "--id", "kept-1"]);
    place.json_as(ken, &["task", "add", "write the guide to locks", "--id", "kept-2"]);
    place.json_as(ken, &["task", "update", "kept-2", "--depends-on", "kept-1"]);
    place.json_as(ken, &["task", "cancel", "kept-1"]);
    place.run_as(ken, &["task", "claim", "--wait", "1s"]);
}

/// One crashes, and one runs on.
fn programs(place: &Place) {
    let mut log = place.follow_on();
    place.json(&["spawn", "developer", "--name", "crasher", "--agent", "exit 3"]);
    log.until_action("run_retried");
    place.json(&["stop", "crasher"]);
    let hook = r#"{"hook_event_name":"SessionStart","session_id":"kept"}"#;
    let talks = format!("echo '{hook}' | {BINARY} hook claude; exit 3");
    place.json(&["spawn", "developer", "--name", "talker", "--agent", &talks, "--worktree"]);
    log.until_action("worktree_passed_on");
    place.json(&["stop", "talker", "--force"]);
    place.json(&["spawn", "developer", "--name", "unstarted", "--agent", "/no/such/program"]);
    log.until(|entry| entry["action"] == "run_over" && entry["summary"].to_string().contains("unstarted"));
    place.json(&["agent", "dismiss", "unstarted"]);
    place.json(&["spawn", "developer", "--name", "paneless", "--agent", "sleep 1000", "--backend", "tmux"]);
    log.until_action("run_fell_back");
    place.json(&["stop", "paneless", "--force"]);
    place.json(&["spawn", "developer", "--name", "runner", "--agent", "sleep 1000"]);
    log.until(|entry| entry["action"] == "run_started" && entry["summary"].to_string().contains("runner"));
}

/// What the server's end interrupted goes on, and is stopped.
fn resumed(place: &Place) {
    let mut log = place.follow();
    let is_runners = |summary: &str| summary.starts_with("runner ");
    log.until(|entry| {
        entry["action"] == "run_interrupted" && entry["summary"].as_str().is_some_and(is_runners)
    });
    place.json(&["resume", "runner"]);
    log.until_action("run_started");
    place.json(&["stop", "runner", "--force"]);
    log.until_action("run_over");
}

/// One agrees to end, and one does not answer in time.
fn shutdowns(place: &Place) {
    let (max, _) = (place.join(&["max"]), place.join(&["moe"]));
    let asked = place.json(&["shutdown", "request", "max"]);
    let request = asked["request"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    place.run_as(&max, &["shutdown", "approve", &request]);
    let mut log = place.follow_on();
    place.json(&["shutdown", "request", "moe", "--within", "1s"]);
    log.until_action("shutdown_overdue");
}

fn run_out(place: &Place, ken: &Agent) {
    let mut log = place.follow_on();
    place.json_as(ken, &["lock", "src/clean.rs", "src/dirty.rs", "--ttl", "1s"]);
    fs::write(place.repo.join("src/dirty.rs"), "half done\n").expect("written");
    log.until_action("lock_orphaned");
    eventually("what is clean is free", || {
        !place.json(&["locks"])["locks"].to_string().contains("src/clean.rs")
    });
    place.json_as(ken, &["lock", "src/dirty.rs"]);
}

fn wait(place: &Place, ken: &Agent, zoe: &Agent) {
    let mut log = place.follow_on();
    let waiting = place.start(&mut place.comity_as(zoe, &["lock", "src/dirty.rs", "--wait", "1m"]));
    log.until_action("wait_started");
    place.json_as(ken, &["unlock", "--all"]);
    assert_eq!(waiting.finish().code, 0);
}

fn commit(place: &Place, zoe: &Agent) {
    place.json_as(zoe, &["commit", "-m", "Finish it"]);
}

fn merge(place: &Place, zoe: &Agent) {
    for branch in ["whole", "other"] {
        place.git(&["branch", branch]);
    }
    let made = place.json_as(zoe, &["worktree", "add"]);
    let tree = Path::new(made["path"].as_str().expect("a path"));
    let run = |arguments: &[&str]| {
        Ran::of(place.comity_as(zoe, arguments).current_dir(tree).output().expect("comity runs"))
    };
    run(&["lock", "src/dirty.rs", "--json"]).json();
    fs::write(tree.join("src/dirty.rs"), "in a worktree\n").expect("written");
    run(&["commit", "-m", "Change it", "--json"]).json();
    run(&["worktree", "merge", "zoe", "--into", "whole", "--json"]).json();
    let at = place.dir().join("other");
    place.git(&["worktree", "add", "--quiet", at.to_str().expect("text"), "other"]);
    fs::write(at.join("src/dirty.rs"), "another way\n").expect("written");
    place.git(&["-C", at.to_str().expect("text"), "commit", "--quiet", "--all", "--message=Another way"]);
    let conflict = run(&["worktree", "merge", "zoe", "--into", "other", "--json"]);
    assert_ne!(conflict.code, 0, "{conflict:?}");
    fs::write(tree.join("src/dirty.rs"), "not committed\n").expect("written");
    let mut log = place.follow_on();
    run(&["worktree", "remove", "zoe", "--json"]);
    log.until_action("worktree_kept");
}

fn repeat(place: &Place, ken: &Agent) {
    let mut wire = Wire::connect(place).asking_as(ken);
    let key = Some("the key of the kept log");
    wire.ask_with_key("unlock", json!({ "all": true }), key).expect("nothing to unlock");
    let reused = wire.ask_with_key("lock", json!({ "paths": ["src/a.rs"] }), key);
    assert!(reused.is_err(), "{reused:?}");
}
