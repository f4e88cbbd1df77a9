//! A state directory that is moved or removed under its server: that one ends, and never stands beside its successor.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::wire::{No, Wire};
use support::{HUMAN, PATIENCE, Place, has_ended, kill};

/// What happens to the directory.
type Blow = fn(&Path);

const BLOWS: [(&str, Blow); 5] = [
    ("removed", |home| std::fs::remove_dir_all(home).expect("removed")),
    ("moved", |home| std::fs::rename(home, home.with_extension("old")).expect("moved")),
    ("a directory above moved", |home| {
        let above = home.parent().expect("a directory");
        std::fs::rename(above, above.with_extension("old")).expect("moved");
    }),
    ("its log removed", |home| std::fs::remove_file(home.join("log.db")).expect("removed")),
    ("its write-ahead log removed", |home| std::fs::remove_file(home.join("log.db-wal")).expect("removed")),
];

/// A place whose state directory has a directory of its own above it.
fn place() -> Place {
    let dir = tempfile::tempdir().expect("a directory");
    let home = dir.path().join("above").join("state");
    Place::at(dir, home, &[])
}

/// An empty directory for the next server, which knows the tests' token.
fn make_anew(home: &Path) {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home).expect("a state directory");
    if !home.join("log.db").exists() {
        let hash = comity_app::tokens::hash(HUMAN).to_string();
        std::fs::write(home.join("first-token"), hash).expect("written");
    }
}

#[test]
fn a_server_without_its_directory_ends_by_itself() {
    for (what, blow) in BLOWS {
        let place = place();
        let ann = place.join(&["ann"]);
        let server = place.server().expect("a server");
        let mut wire = Wire::connect(&place).asking_as(&ann);
        wire.ask("lock", json!({ "paths": ["src/a.rs"] })).expect("granted");
        blow(&place.home);
        assert!(has_ended(server, Duration::from_secs(1)), "{what}: the server goes on");
        let later = wire.ask("locks", json!({}));
        assert!(matches!(later, Err(No::Broken(_))), "{what}: {later:?}");
    }
}

#[test]
fn what_was_in_a_write_ahead_log_that_is_removed_is_saved() {
    let place = place();
    let ann = place.join(&["ann"]);
    let server = place.server().expect("a server");
    place.json_as(&ann, &["lock", "src/a.rs"]);
    std::fs::remove_file(place.home.join("log.db-wal")).expect("removed");
    assert!(has_ended(server, PATIENCE), "the server goes on");
    assert_eq!(place.json(&["locks"])["total"], 1);
    place.json(&["log", "verify"]);
}

#[test]
fn a_stale_server_grants_nothing_and_leaves_its_successors_files_alone() {
    for (what, blow) in BLOWS {
        let place = place();
        let ann = place.join(&["ann"]);
        let stale = place.server().expect("a server");
        let mut wire = Wire::connect(&place).asking_as(&ann);
        // It sleeps while its directory goes, and wakes beside its successor, with a question at its door.
        kill(stale, Signal::STOP);
        blow(&place.home);
        let question = std::thread::spawn(move || wire.ask("lock", json!({ "paths": ["src/a.rs"] })));
        let _ = std::fs::remove_dir_all(&place.home);
        make_anew(&place.home);
        let bob = place.join(&["bob"]);
        place.json_as(&bob, &["lock", "src/a.rs"]);
        let successor = place.server().expect("a successor");
        let port = std::fs::read_to_string(place.home.join("http.port")).expect("a port");
        kill(stale, Signal::CONT);
        assert!(has_ended(stale, PATIENCE), "{what}: the stale server goes on");
        let granted = question.join().expect("an answer or none");
        assert!(granted.is_err(), "{what}: held twice: {granted:?}");
        assert_eq!(place.server(), Some(successor), "{what}: its successor goes on");
        assert_eq!(std::fs::read_to_string(place.home.join("http.port")).expect("a port"), port, "{what}");
        assert_eq!(place.json(&["locks"])["total"], 1, "{what}");
        place.json(&["log", "verify"]);
    }
}

#[test]
fn a_stale_server_that_is_told_to_stop_leaves_its_successors_socket() {
    // So long a path that the socket is elsewhere, where both servers have it by the same name.
    let dir = tempfile::tempdir().expect("a directory");
    let home = dir.path().join("x".repeat(100)).join("state");
    let place = Place::at(dir, home, &[]);
    let pid = || u32::try_from(place.json(&["up"])["pid"].as_u64().expect("a number")).expect("a process");
    let stale = pid();
    let socket = place.json(&["status"])["socket"].as_str().map(std::path::PathBuf::from).expect("a path");
    assert!(!socket.starts_with(&place.home), "{}", socket.display());
    kill(stale, Signal::STOP);
    std::fs::rename(&place.home, place.home.with_extension("old")).expect("moved");
    std::fs::remove_file(&socket).expect("somebody cleans up");
    make_anew(&place.home);
    let successor = pid();
    kill(stale, Signal::TERM);
    kill(stale, Signal::CONT);
    assert!(has_ended(stale, PATIENCE), "the stale server goes on");
    assert!(socket.exists(), "its successor's socket is gone");
    assert_eq!(pid(), successor, "its successor answers");
}

#[test]
fn a_stale_server_does_not_end_its_successors_firefox() {
    let place = place();
    place.json(&["up"]);
    let stale = place.server().expect("a server");
    kill(stale, Signal::STOP);
    std::fs::rename(&place.home, place.home.with_extension("old")).expect("moved");
    make_anew(&place.home);
    place.json(&["up"]);
    // What its successor would have written down of a Firefox.
    let firefox = place.start(place.program("sleep").arg("600"));
    let process = comity_browser::FirefoxProcess::identify(firefox.pid()).expect("a process");
    let profile = place.home.join("firefox");
    std::fs::create_dir(&profile).expect("made");
    let record = profile.join("comity-firefox.json");
    std::fs::write(&record, serde_json::to_string(&process).expect("JSON")).expect("written");
    kill(stale, Signal::CONT);
    assert!(has_ended(stale, PATIENCE), "the stale server goes on");
    assert!(
        firefox.is_running() && record.exists(),
        "it was ended or forgotten by a server that is not its own"
    );
}
