//! Looking at the files of lapsed locks: one look for all of a project, and no project waits for another.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;
use support::{Agent, Place, Ran, eventually};

/// Counts how often it is asked for the status, and hangs in a repository that says so.
const GIT: &str = r#"#!/bin/sh
case " $* " in
    *" status "*)
        echo >> DIR/calls
        if [ "$1" = -C ] && [ -e "$2/.git/hang" ]; then exec sleep 60; fi ;;
esac
exec 'REAL' "$@"
"#;

fn place() -> (Place, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let own = dir.path().join("git");
    fs::create_dir(&own).expect("a directory");
    let path = std::env::var_os("PATH").expect("a path");
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let script = GIT
        .replace("REAL", real.expect("git").to_str().expect("text"))
        .replace("DIR", own.to_str().expect("text"));
    fs::write(own.join("git"), script).expect("written");
    fs::set_permissions(own.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
    let (home, git) = (dir.path().join("state"), own.join("git"));
    (Place::at(dir, home, &[("COMITY_GIT_PROGRAM", git.to_str().expect("text"))]), own)
}

#[test]
fn locks_of_one_project_are_looked_at_together() {
    let (place, git) = place();
    let ann = place.join(&["ann"]);
    let files: Vec<String> = (0..30).map(|number| format!("src/{number}.rs")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    fs::write(place.repo.join("src/7.rs"), "half done\n").expect("written");
    let mut log = place.follow_on();
    place.json_as(&ann, &[&["lock", "--ttl", "1s"], &files[..]].concat());
    let _ = fs::remove_file(git.join("calls"));
    let orphaned = log.until_action("lock_orphaned");
    assert_eq!(orphaned["details"]["files"], json!(["src/7.rs"]), "{orphaned}");
    eventually("what is clean is free", || place.json(&["status"])["locks"] == 1);
    let calls = fs::read_to_string(git.join("calls")).expect("calls").lines().count();
    assert!(calls <= 3, "{calls} looks at 30 locks");
}

#[test]
fn a_repository_that_hangs_delays_no_other_and_is_told_of_later() {
    let (place, _) = place();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let other = place.dir().join("other");
    let copied = place.program("cp").arg("-r").arg(&place.repo).arg(&other).status().expect("cp runs");
    assert!(copied.success());
    fs::write(place.repo.join(".git/hang"), "").expect("written");
    fs::write(place.repo.join("src/a.rs"), "half done\n").expect("written");
    let lock_in = |dir: &PathBuf, agent: &Agent, file: &str, ttl: &str| {
        let mut lock = place.comity_as(agent, &["lock", file, "--ttl", ttl, "--json"]);
        Ran::of(lock.current_dir(dir).output().expect("comity runs")).json();
    };
    let mut log = place.follow_on();
    lock_in(&place.repo, &ann, "src/a.rs", "1s");
    log.until_action("lock_lapsed");
    lock_in(&other, &bob, "src/b.rs", "1s");
    log.until_action("lock_lapsed");
    // In this order: the other repository does not wait for the one that hangs.
    log.until_action("lock_expired");
    let orphaned = log.until_action("lock_orphaned");
    assert_eq!(orphaned["details"]["files"], json!(null), "nobody could tell: {orphaned}");
    fs::remove_file(place.repo.join(".git/hang")).expect("removed");
    let known = log.until_action("lock_orphaned");
    assert_eq!(known["details"]["files"], json!(["src/a.rs"]), "{known}");
}
