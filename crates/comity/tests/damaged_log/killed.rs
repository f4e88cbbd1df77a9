//! Recoveries and restores that are killed, or find no room, at one system call after the other.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sealed::{seal, sealed};
use crate::support::{BINARY, HUMAN, Place, eventually, has_program, skip};
use crate::{kill_with_backlog, quiet, recover, send};

/// What a command does to files, by system call.
const RENAMES: &str = "?rename,?renameat,?renameat2";
const DIRECTORIES: &str = "?mkdir,?mkdirat";
const WRITES: &str = "?write,?pwrite64";

/// What happens to a call.
#[derive(Clone, Copy)]
enum Blow {
    Kill,
    NoRoom,
}

/// Runs a command under a blow at its `at`-th call; gives whether it came that far.
fn is_hit(place: &Place, (calls, blow): (&str, Blow), at: usize, arguments: &[&str]) -> bool {
    let trace = place.dir().join("trace");
    let effect = match blow {
        Blow::Kill => "signal=KILL",
        Blow::NoRoom => "error=ENOSPC",
    };
    let mut command: Command = place.program("strace");
    command.args(["-f", "-qq", "-o", trace.to_str().expect("a text"), "-e", &format!("trace={calls}")]);
    command.args(["-e", &format!("inject={calls}:{effect}:when={at}"), BINARY]).args(arguments);
    let ended = command.output().expect("strace runs");
    match blow {
        Blow::Kill => ended.status.signal() == Some(9),
        Blow::NoRoom => fs::read_to_string(&trace).expect("a trace").contains("INJECTED"),
    }
}

/// Makes the state directory what it was.
fn reset(place: &Place, template: &Path) {
    let _ = fs::remove_dir_all(&place.home);
    copy(place, template, &place.home);
    know_the_token(place);
}

/// What is lost may be the tests' token, too.
fn know_the_token(place: &Place) {
    let hash = comity_app::tokens::hash(HUMAN).to_string();
    fs::write(place.home.join("first-token"), hash).expect("written");
}

fn copy(place: &Place, from: &Path, to: &Path) {
    let copied = place.program("cp").arg("-a").args([from, to]).output().expect("cp runs");
    assert!(copied.status.success(), "{copied:?}");
}

/// What the letters in the log say.
fn letters(place: &Place) -> Vec<String> {
    let sent = place.json(&["log", "--type", "message_sent", "--limit", "10000"]);
    let text = |entry: &Value| entry["details"]["text"].as_str().map(str::to_owned);
    sent["entries"].as_array().expect("entries").iter().filter_map(text).collect()
}

/// Whether some file below a directory has these bytes.
fn is_below(dir: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).any(|path| {
        let has = |file: Vec<u8>| file.windows(bytes.len()).any(|part| part == bytes);
        if path.is_dir() { is_below(&path, bytes) } else { fs::read(&path).is_ok_and(has) }
    })
}

/// A recovery after whatever happened: afterwards the log is whole, and a server starts.
fn gets_whole(place: &Place, what: &str) {
    if place.run(&["up"]).code != 0 {
        let refused = place.run(&["up"]);
        assert!(refused.err.contains("comity log recover"), "{what}: {refused:?}");
        recover(place, &["--json"]).json();
        place.json(&["up"]);
    }
    place.json(&["log", "verify"]);
}

fn stop(place: &Place) {
    place.json(&["down"]);
    eventually("the server is gone", || place.server().is_none());
}

/// Kills `comity log recover` at each call that changes files, and compares with one that was left alone.
fn recovers_at_every_kill(place: &Place, what: &str, sent: &[String], calls: &[&str]) {
    let damaged = place.dir().join("damaged");
    let _ = fs::remove_dir_all(&damaged);
    copy(place, &place.home, &damaged);
    let undisturbed = recover(place, &["--json"]).json();
    know_the_token(place);
    let kept = letters(place);
    stop(place);
    assert_eq!(undisturbed["whole"], false, "{what}: {undisturbed}");
    let mut kills = 0;
    for calls in calls {
        for at in 1.. {
            reset(place, &damaged);
            if !is_hit(place, (calls, Blow::Kill), at, &["log", "recover", "--json"]) {
                break;
            }
            kills += 1;
            let what = format!("{what}, killed at {calls} {at}");
            gets_whole(place, &what);
            let found = letters(place);
            assert_eq!(found, kept, "{what}");
            let aside = place.home.join("set-aside");
            let gone = |text: &&String| !found.contains(text) && !is_below(&aside, text.as_bytes());
            assert_eq!(sent.iter().find(gone), None, "{what}: a letter is gone for good");
            stop(place);
            assert_eq!(recover(place, &["--json"]).json()["whole"], true, "{what}");
        }
    }
    assert!(kills > 5, "{what}: only {kills} kills");
}

#[test]
fn a_recovery_that_is_killed_anywhere_can_be_repeated_and_nothing_is_gone() {
    let test = "a_recovery_that_is_killed_anywhere_can_be_repeated_and_nothing_is_gone";
    if !has_program("strace") {
        return skip(test, "strace is not installed");
    }
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 2] = [
        ("a bit of the backlog is another one", |home| {
            let mut bytes = fs::read(home.join("log.db-wal")).expect("read");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(home.join("log.db-wal"), bytes).expect("written");
        }),
        ("the log is gone beside its backlog", |home| {
            fs::remove_file(home.join("log.db")).expect("removed");
        }),
    ];
    for (what, damage) in damages {
        let place = Place::new();
        place.join(&["ann"]);
        let mut sent = Vec::new();
        kill_with_backlog(&place, || {
            for _ in 0..5 {
                sent.push(format!("letter {}.", sent.len()));
                send(&place, sent.last().expect("a letter"));
            }
        });
        damage(&place.home);
        recovers_at_every_kill(&place, what, &sent, &[RENAMES, DIRECTORIES, "fsync"]);
    }
}

#[test]
fn a_recovery_of_sealed_parts_that_is_killed_anywhere_can_be_repeated() {
    let test = "a_recovery_of_sealed_parts_that_is_killed_anywhere_can_be_repeated";
    if !has_program("strace") {
        return skip(test, "strace is not installed");
    }
    let place = Place::new();
    place.join(&["ann"]);
    send(&place, "letter 0.");
    seal(&place);
    send(&place, "letter 1.");
    quiet(&place);
    stop(&place);
    let newest = sealed(&place).pop().expect("a world");
    fs::remove_file(&newest).expect("removed");
    let end = newest.file_stem().and_then(|name| name.to_str()).expect("a number").to_owned();
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(&format!("-{end}.jsonl"));
    let entries = fs::read_dir(place.home.join("ledger")).expect("a directory").flatten();
    let part = entries.map(|entry| entry.path()).find(is_it).expect("a part");
    let text = fs::read_to_string(&part).expect("read");
    fs::write(&part, text.replacen("src/7.rs", "src/8.rs", 1)).expect("changed");
    let sent = ["letter 0.", "letter 1."].map(str::to_owned);
    recovers_at_every_kill(&place, "a sealed part was changed", &sent, &[RENAMES]);
}

#[test]
fn a_restore_that_is_killed_or_has_no_room_loses_nothing() {
    let test = "a_restore_that_is_killed_or_has_no_room_loses_nothing";
    if !has_program("strace") {
        return skip(test, "strace is not installed");
    }
    let place = Place::new();
    place.join(&["ann"]);
    send(&place, "letter 0.");
    let file = place.dir().join("backup");
    let file = file.to_str().expect("a text");
    assert_eq!(place.run(&["backup", file]).code, 0);
    send(&place, "letter 1.");
    stop(&place);
    let before = place.dir().join("before");
    copy(&place, &place.home, &before);
    let mut ends = [0, 0];
    for hit in [
        (RENAMES, Blow::Kill),
        (DIRECTORIES, Blow::Kill),
        ("fsync", Blow::Kill),
        (RENAMES, Blow::NoRoom),
        (DIRECTORIES, Blow::NoRoom),
        (WRITES, Blow::NoRoom),
    ] {
        for at in 1.. {
            reset(&place, &before);
            if !is_hit(&place, hit, at, &["restore", file, "--json"]) {
                break;
            }
            let what = format!("{} {at}", hit.0);
            gets_whole(&place, &what);
            let found = letters(&place);
            let is_old = found == ["letter 0.", "letter 1."];
            assert!(is_old || found == ["letter 0."], "{what}: {found:?}");
            ends[usize::from(is_old)] += 1;
            let aside = place.home.join("set-aside");
            assert!(is_old || is_below(&aside, b"letter 1."), "{what}: what was there is gone");
            send(&place, "letter 2.");
            stop(&place);
            // Nothing that was left takes the place of what came since.
            assert_eq!(recover(&place, &["--json"]).json()["whole"], true, "{what}");
            assert!(letters(&place).contains(&"letter 2.".to_owned()), "{what}");
            stop(&place);
        }
    }
    assert!(ends.iter().all(|count| *count > 3), "{ends:?}: both ends are reached");
}

#[test]
fn what_was_never_put_in_place_does_not_replace_a_log_that_is_whole() {
    let place = Place::new();
    place.join(&["ann"]);
    stop(&place);
    let (log, waiting) = (place.home.join("log.db"), place.home.join("log.recovered"));
    fs::create_dir(&waiting).expect("made");
    fs::copy(&log, waiting.join("log.db")).expect("copied");
    fs::copy(&log, place.home.join("log.db.recovered")).expect("copied");
    place.json(&["up"]);
    assert!(!waiting.exists() && is_below(&place.home.join("set-aside"), b"SQLite format 3"));
    send(&place, "letter 0.");
    stop(&place);
    fs::create_dir(&waiting).expect("made");
    fs::copy(place.home.join("log.db.recovered"), waiting.join("log.db")).expect("copied");
    for arguments in [&["--dry-run", "--json"][..], &["--json"]] {
        let said = recover(&place, arguments).json();
        assert!(said["whole"] == true && said["set_aside"].is_null(), "{said}");
        assert!(waiting.exists(), "nothing was changed");
    }
    assert_eq!(letters(&place), ["letter 0."]);
}
