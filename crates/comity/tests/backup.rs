//! The log is in one piece after a stop, and in one file by `comity backup`, which can be put back.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::wire::Wire;
use support::{Agent, Place, Ran, eventually, skip};

/// A command on another state directory of the same place.
fn at(place: &Place, home: &Path, arguments: &[&str]) -> Ran {
    let mut command = place.comity(arguments);
    Ran::of(command.env("COMITY_HOME", home).output().expect("comity runs"))
}

fn new_home(place: &Place, name: &str) -> std::path::PathBuf {
    let home = place.dir().join(name);
    fs::DirBuilder::new().mode(0o700).create(&home).expect("a directory");
    home
}

/// What the letters in a log say.
fn letters(log: &Value) -> Vec<String> {
    let entries = log["entries"].as_array().expect("entries").iter();
    entries.filter_map(|entry| entry["details"]["text"].as_str().map(str::to_owned)).collect()
}

fn restore(place: &Place, home: &Path, file: &Path) -> Ran {
    let mut command =
        place.comity_as_whoever(&["restore", file.to_str().expect("a text"), "--force", "--json"]);
    Ran::of(command.env("COMITY_HOME", home).output().expect("comity runs"))
}

#[test]
fn a_stopped_server_leaves_its_log_in_one_piece() {
    let place = Place::new();
    place.join(&["ann"]);
    let letter = json!({ "to": ["ann"], "message": "the last one" });
    Wire::connect(&place).ask("mail_send", letter).expect("sent");
    place.json(&["down"]);
    eventually("the server is gone", || place.server().is_none());
    for gone in ["log.db-wal", "log.db-shm"] {
        assert!(!place.home.join(gone).exists(), "{gone} is there");
    }
    let copy = new_home(&place, "copy");
    fs::copy(place.home.join("log.db"), copy.join("log.db")).expect("copied");
    let log = at(&place, &copy, &["log", "--json"]).json();
    assert!(log.to_string().contains("the last one"), "{log}");
}

#[test]
fn a_backup_has_all_that_was_acknowledged_and_can_be_put_back() {
    let place = Place::new();
    place.join(&["ann"]);
    let file = place.dir().join("backup");
    let name = file.to_str().expect("a text");
    let (is_over, acked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acked_before = std::thread::scope(|scope| {
        scope.spawn(|| {
            // As the human: whoever acts as an agent here may not put a log back.
            let mut wire = Wire::connect(&place);
            while !is_over.load(Ordering::Relaxed) {
                let text = format!("letter {}.", acked.load(Ordering::Relaxed));
                wire.ask("mail_send", json!({ "to": ["ann"], "message": text })).expect("sent");
                acked.fetch_add(1, Ordering::SeqCst);
            }
        });
        eventually("some letters are sent", || acked.load(Ordering::SeqCst) > 50);
        let before = acked.load(Ordering::SeqCst);
        let made = place.run(&["backup", name]);
        is_over.store(true, Ordering::Relaxed);
        assert!(made.code == 0 && made.out.contains(&format!("comity restore {name}")), "{made:?}");
        before
    });
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&file).expect("read");
    let again = place.run(&["backup", name]);
    assert!(again.code == 1 && again.err.contains("exists already"), "{again:?}");
    assert_eq!(fs::read(&file).expect("read"), bytes, "nothing is written over");
    let running = restore(&place, &place.home, &file);
    assert!(running.code == 3 && running.out.contains("may stop the server"), "{running:?}");

    let elsewhere = new_home(&place, "elsewhere");
    let put_back = restore(&place, &elsewhere, &file).json();
    let log = at(&place, &elsewhere, &["log", "--limit", "10000", "--json"]).json();
    let found = letters(&log);
    for number in 0..acked_before {
        assert!(
            found.contains(&format!("letter {number}.")),
            "letter {number} of {acked_before} is lost: {put_back}"
        );
    }
    let verified = at(&place, &elsewhere, &["log", "verify", "--json"]).json();
    assert!(verified["records"].as_u64() > put_back["records"].as_u64(), "{verified}");
    at(&place, &elsewhere, &["down", "--json"]).json();

    // Over a log that goes on: what was there is set aside.
    place.json(&["down"]);
    let put_back = restore(&place, &place.home, &file).json();
    let aside = Path::new(put_back["set_aside"].as_str().expect("a directory"));
    assert!(aside.join("log.db").exists() && aside.join("log.witness").exists());
    let records = put_back["records"].as_u64().expect("a number");
    assert_eq!(place.json(&["log", "verify"])["records"], records + 1, "the server started with it");

    let mut damaged = bytes;
    let copies = damaged.windows(9).enumerate().filter(|(_, text)| *text == b"letter 3.");
    let copies: Vec<usize> = copies.map(|(at, _)| at).collect();
    copies.into_iter().for_each(|at| damaged[at] = b'L');
    let bad = place.dir().join("bad");
    fs::write(&bad, damaged).expect("written");
    let empty = new_home(&place, "empty");
    let refused = restore(&place, &empty, &bad);
    assert!(refused.code == 1 && refused.out.contains("not what was written"), "{refused:?}");
    assert!(!empty.join("log.db").exists(), "nothing is put back that is not whole");
}

#[test]
fn a_backup_that_was_killed_is_not_in_the_way_of_the_next_one() {
    let place = Place::new();
    place.json(&["up"]);
    let file = place.dir().join("backup");
    let name = file.to_str().expect("a text");
    // What is left of it: its place, and a part.
    fs::write(&file, "").expect("written");
    fs::write(place.dir().join("backup.unfinished"), "half").expect("written");
    place.json(&["backup", name]);
    restore(&place, &new_home(&place, "new"), &file).json();
    let refused = place.run(&["backup", name]);
    assert!(refused.code == 1 && refused.err.contains("exists already"), "{refused:?}");
}

/// A backup holds everybody's letters.
#[test]
fn a_backup_is_for_a_person_and_not_for_agents() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let file = place.dir().join("backup");
    let name = file.to_str().expect("a text");
    let refused = |ran: Ran, what: &str| {
        assert!(ran.code == 3 && ran.err.contains("everybody's mail"), "{what}: {ran:?}");
        assert!(ran.err.contains("ask your human to run it"), "{what}: {ran:?}");
        assert!(!file.exists(), "{what}: nothing is written");
    };
    refused(place.run_as(&ann, &["backup", name]), "an agent");
    let mut nobody = place.comity_as_whoever(&["backup", name]);
    nobody.env("CLAUDECODE", "1");
    refused(Ran::of(nobody.output().expect("comity runs")), "nobody");
    place.json(&["down"]);
    eventually("the server is gone", || place.server().is_none());
    refused(place.run_as(&ann, &["backup", name]), "an agent, without a server");
    let person = Ran::of(place.comity_as_whoever(&["backup", name]).output().expect("comity runs"));
    assert!(person.code == 0 && file.exists(), "a person, without a server: {person:?}");
}

/// Moves the wall clock of a program.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    if (id == CLOCK_REALTIME) now->tv_sec += atol(getenv("CLOCK_DAYS")) * 86400;
    return result;
}
"#;

/// A library that moves the clock of whoever loads it.
fn clock(place: &Place) -> Option<std::path::PathBuf> {
    let (source, library) = (place.dir().join("clock.c"), place.dir().join("clock.so"));
    fs::write(&source, CLOCK).expect("written");
    let mut cc = place.program("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    cc.output().is_ok_and(|made| made.status.success()).then_some(library)
}

/// The fence of a lock that is taken and given back, with the clock where it is told to be.
fn fence(place: &Place, agent: &Agent, clock: &Path, days: i64) -> u64 {
    let mut server = place.comity(&["up"]);
    server.env("LD_PRELOAD", clock).env("CLOCK_DAYS", days.to_string());
    let up = Ran::of(server.output().expect("it runs"));
    assert_eq!(up.code, 0, "{up:?}");
    let locked = place.json_as(agent, &["lock", "src/a.rs"]);
    place.json_as(agent, &["unlock", "src/a.rs"]);
    let started = place.log_of("server_started").pop().expect("a start")["at_ms"].as_i64().expect("a time");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_millis();
    let moved = (started - now as i64) / 86_400_000;
    assert!((moved - days).abs() <= 1, "the clock is moved: by {moved} days, not {days}");
    place.json(&["down"]);
    locked["locks"][0]["fence"].as_u64().expect("a fence")
}

#[test]
fn fences_grow_though_the_log_and_the_clock_are_set_back() {
    let test = "fences_grow_though_the_log_and_the_clock_are_set_back";
    let place = Place::new();
    let Some(clock) = clock(&place) else { return skip(test, "there is no C compiler") };
    let ann = place.join(&["ann"]);
    let file = place.dir().join("backup");
    let made = place.run(&["backup", file.to_str().expect("a text")]);
    assert_eq!(made.code, 0, "{made:?}");
    place.json(&["down"]);
    let (home, old) = (place.home.to_str().expect("a text"), place.dir().join("old"));
    let copy = |from: &str, to: &str| {
        let copied = place.program("cp").args(["-a", from, to]).output().expect("cp runs");
        assert!(copied.status.success(), "{copied:?}");
    };
    let old = old.to_str().expect("a text");
    copy(home, old);

    let mut last = fence(&place, &ann, &clock, 100);
    let mut grows = |what: &str, days: i64| {
        let next = fence(&place, &ann, &clock, days);
        assert!(next > last, "{what}: {next} after {last}");
        last = next;
    };
    grows("the clock is set back", 0);
    restore(&place, &place.home, &file).json();
    grows("a backup is put back", -100);
    fs::remove_dir_all(&place.home).expect("removed");
    copy(old, home);
    grows("the whole directory is put back by hand", -100);
    fs::remove_file(place.home.join("log.witness")).expect("deleted");
    grows("nothing remembers", -200);
}

#[test]
fn a_backup_is_put_back_though_a_server_runs_and_agents_go_on() {
    let place = Place::new();
    place.join(&["ann"]);
    let file = place.dir().join("backup");
    assert_eq!(place.run(&["backup", file.to_str().expect("a text")]).code, 0);
    place.join(&["bob"]);
    let server = place.server().expect("a server");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // As the hooks of agents do: whoever finds no server starts one.
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                place.run(&["locks"]);
            }
        });
        let mut restore = place.comity(&["restore", file.to_str().expect("a text"), "--force", "--json"]);
        let ran = Ran::of(restore.output().expect("comity runs"));
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(ran.code, 0, "{ran:?}");
    });
    let agents = place.json(&["agent", "list"]);
    let names: Vec<&str> = agents["agents"]
        .as_array()
        .expect("agents")
        .iter()
        .filter_map(|agent| agent["name"].as_str())
        .collect();
    assert_eq!(names, ["ann"], "{agents}");
    assert_ne!(place.server(), Some(server));
    place.json(&["log", "verify"]);
}

#[test]
fn no_server_is_stopped_for_a_file_that_is_no_backup() {
    let place = Place::new();
    place.join(&["ann"]);
    let server = place.server();
    let file = place.dir().join("backup");
    fs::write(&file, "x").expect("written");
    let ran = place.run(&["restore", file.to_str().expect("a text")]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("name a file that comity backup has made"), "{ran:?}");
    assert_eq!(place.server(), server);
}

#[test]
fn no_agent_is_cut_off_unless_that_is_said() {
    let place = Place::new();
    let file = place.dir().join("backup");
    let name = file.to_str().expect("a text");
    place.join(&["ann"]);
    place.json(&["backup", name]);
    let server = place.server();
    let refused = place.run(&["restore", name]);
    assert!(refused.code == 3 && refused.err.contains("ann is here, and would lose"), "{refused:?}");
    assert!(refused.err.contains(&format!("comity restore {name} --force")), "{refused:?}");
    assert_eq!(place.server(), server, "it goes on");
    let done = place.run(&["restore", name, "--force"]);
    assert!(done.code == 0 && done.out.ends_with("start the server with: comity up\n"), "{done:?}");
}
