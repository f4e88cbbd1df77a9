//! `comity doctor` where no server can start: it names the file or the disk, and ends with 1.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use rustix::process::Signal;
use support::{BINARY, PATIENCE, Place, Ran, has_ended, has_program, is_root, kill, skip};

/// Something bad was found, with all of these parts in what is said about it.
fn check_bad(ran: &Ran, what: &str, parts: &[&str]) {
    assert_eq!(ran.code, 1, "{ran:?}");
    let mut lines = ran.out.lines().skip_while(|line| !line.starts_with(&format!("BAD  {what}")));
    let found = format!("{}\n{}", lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    assert!(parts.iter().all(|part| found.contains(part)), "{what} {parts:?}: {ran:?}");
}

/// A place with a state directory that has nothing in it.
fn empty_state() -> Place {
    let place = Place::without_state();
    fs::create_dir(&place.home).expect("made");
    fs::set_permissions(&place.home, fs::Permissions::from_mode(0o700)).expect("private");
    place
}

/// What the doctor says where something is mounted as the state directory, for it alone.
fn mounted(test: &str, options: &str, then: &str) -> Option<(Place, Ran)> {
    let place = empty_state();
    let is_possible =
        place.program("unshare").args(["-rm", "true"]).status().is_ok_and(|done| done.success());
    if !is_possible {
        skip(test, "namespaces are not allowed here");
        return None;
    }
    let script =
        format!("mount -t tmpfs -o mode=700,{options} tmpfs \"$COMITY_HOME\" && {then} exec \"$0\" doctor");
    let mut unshare = place.program("unshare");
    let ran = Ran::of(unshare.args(["-rm", "sh", "-c", &script, BINARY]).output().expect("it runs"));
    Some((place, ran))
}

#[test]
fn a_full_disk_is_found() {
    let fill = "{ cat /dev/zero >\"$COMITY_HOME/filler\" 2>/dev/null; };";
    let Some((place, ran)) = mounted("a_full_disk_is_found", "size=128k", fill) else { return };
    check_bad(&ran, "disk", &[&place.home.display().to_string(), "full", "make room"]);
}

#[test]
fn a_read_only_disk_is_found() {
    let Some((place, ran)) = mounted("a_read_only_disk_is_found", "ro", "") else { return };
    check_bad(&ran, "disk", &[&place.home.display().to_string(), "read-only"]);
}

#[test]
fn a_log_that_is_no_database_is_found() {
    let place = empty_state();
    let log = place.home.join("log.db");
    fs::write(&log, "x".repeat(8_000)).expect("written");
    let ran = place.run(&["doctor"]);
    check_bad(&ran, "state files", &[&log.display().to_string(), "a database", "backup"]);
    check_bad(&ran, "server", &[&log.display().to_string()]);
}

#[test]
fn a_directory_in_the_place_of_a_file_is_found() {
    for name in
        ["log.db", "secret", "server.lock", "start.lock", "server.log", "environment.json", "comity.toml"]
    {
        let place = empty_state();
        let path = place.home.join(name);
        fs::create_dir(&path).expect("made");
        let ran = place.run(&["doctor"]);
        check_bad(&ran, "state files", &[&path.display().to_string(), "is a directory", "move it away"]);
        if name != "environment.json" {
            check_bad(&ran, "server", &[]);
        }
    }
    for name in ["log.witness", "log.fences-4096"] {
        let place = empty_state();
        let path = place.home.join(name);
        fs::create_dir(&path).expect("made");
        check_bad(&place.run(&["doctor"]), "state files", &[&path.display().to_string(), "is a directory"]);
    }
    let place = empty_state();
    fs::write(place.home.join("ledger"), "").expect("written");
    check_bad(&place.run(&["doctor"]), "state files", &["ledger is not a directory"]);
}

#[test]
fn a_file_of_another_user_is_found() {
    if !is_root() {
        return skip("a_file_of_another_user_is_found", "only root can give files away");
    }
    let place = Place::new();
    place.json(&["up"]);
    place.json(&["down"]);
    let log = place.home.join("log.db");
    chown(&log, Some(12_345), Some(12_345)).expect("given away");
    let ran = place.run(&["doctor"]);
    check_bad(&ran, "state files", &[&log.display().to_string(), "belongs to user 12345", "chown"]);
}

#[test]
fn an_unknown_event_in_the_log_is_found() {
    if !has_program("python3") {
        return skip("an_unknown_event_in_the_log_is_found", "no python3");
    }
    let place = Place::new();
    place.json(&["up"]);
    place.json(&["down"]);
    let log = place.home.join("log.db");
    let insert = "import sqlite3, sys\nlog = sqlite3.connect(sys.argv[1])\n\
        log.execute(\"insert into events select max(seq) + 1, now, wall_ms, by, null, '{\\\"from_the_future\\\":{}}', \
        hash, null from events\")\nlog.commit()\n";
    let done = place.program("python3").args(["-c", insert]).arg(&log).status().expect("python");
    assert!(done.success());
    let ran = place.run(&["doctor"]);
    check_bad(&ran, "server", &[&log.display().to_string(), "record", "event"]);
}

#[test]
fn settings_of_the_project_are_checked() {
    let place = Place::new();
    let file = place.repo.join("comity.toml");
    let named = file.display().to_string();
    for (text, part) in [
        ("[lock]\nttl = \"2d\"\n", "lock.ttl"),
        ("[lock]\nttl = \"soon\"\n", ":2: "),
        ("[lock]\ntll = \"5m\"\n", "tll"),
        ("[pools.build]\ncapacity = 0\n", "pools"),
        ("[worktree]\nlinks = [\"../out\"]\n", "worktree.links"),
    ] {
        fs::write(&file, text).expect("written");
        check_bad(&place.run(&["doctor"]), "project", &[&named, part]);
    }
    fs::write(&file, "[lock]\nttl = \"15m\"\n").expect("written");
    let ran = place.run(&["doctor"]);
    assert!(ran.out.contains(&format!("{named} is in order")), "{ran:?}");
}

#[test]
fn settings_of_the_user_are_checked() {
    for (text, part) in
        [("[lock]\nttl = \"2d\"\n", "lock.ttl"), ("[pools.build]\ncapacity = 0\n", "pools.build")]
    {
        let place = Place::new();
        place.set(text);
        check_bad(&place.run(&["doctor"]), "settings", &[part, "fix it"]);
    }
}

#[test]
fn a_socket_that_was_removed_is_found() {
    let place = Place::new();
    place.json(&["up"]);
    let server = place.server().expect("a server");
    let socket = place.socket();
    fs::remove_file(&socket).expect("removed");
    let ran = place.run(&["doctor"]);
    check_bad(&ran, "server", &[&socket.display().to_string(), "gone", &format!("kill {server}")]);
    kill(server, Signal::TERM);
    assert!(has_ended(server, PATIENCE));
    assert_eq!(place.run(&["doctor"]).code, 0);
}
