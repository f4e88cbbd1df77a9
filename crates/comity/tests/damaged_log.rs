//! A log that lost something says so: the server does not start with less, and `comity log recover` keeps the rest.

#[path = "damaged_log/killed.rs"]
mod killed;
#[path = "damaged_log/sealed.rs"]
mod sealed;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use support::wire::Wire;
use support::{HUMAN, PATIENCE, Place, Ran, eventually, has_ended};

/// The names of the witness.
const WITNESSES: [&str; 2] = ["log.witness", "ledger/witness"];

/// Sends a letter, which is safe once it is answered. As the human: whoever acts as an agent here may not recover a log.
fn send(place: &Place, text: &str) {
    Wire::connect(place).ask("mail_send", json!({ "to": ["ann"], "message": text })).expect("sent");
}

/// Kills the server while something is only in its write-ahead log.
fn kill_with_backlog(place: &Place, mut work: impl FnMut()) {
    loop {
        work();
        place.kill_server();
        if fs::metadata(place.home.join("log.db-wal")).is_ok_and(|file| file.len() > 0) {
            return;
        }
        // It was quiet for a moment: all of it is in the log itself.
    }
}

/// Waits until all of the log is in one file.
fn quiet(place: &Place) {
    let wal = place.home.join("log.db-wal");
    eventually("the log is quiet", || fs::metadata(&wal).is_ok_and(|file| file.len() == 0));
}

fn head(place: &Place) -> u64 {
    place.json(&["status"])["head"].as_u64().expect("a number")
}

/// Whatever is asked says that the log is not whole, and what to do; nothing is changed by that.
fn is_noticed(place: &Place, what: &str) {
    let before = files(&place.home);
    for arguments in [&["up"][..], &["log", "verify"], &["locks"]] {
        let ran = place.run(arguments);
        assert_ne!(ran.code, 0, "{what}: {arguments:?}: {ran:?}");
        let says = ["the log is not whole", "comity log recover"];
        assert!(says.iter().all(|part| ran.err.contains(part)), "{what}: {arguments:?}: {ran:?}");
    }
    let doctor = place.run(&["doctor"]);
    let is_bad = doctor.out.lines().any(|line| line.starts_with("BAD  ledger") && line.contains("not whole"));
    assert!(doctor.code == 1 && is_bad, "{what}: {doctor:?}");
    assert_eq!(files(&place.home), before, "{what}: nothing was changed");
}

/// The log's files and their sizes.
fn files(home: &Path) -> Vec<(PathBuf, u64)> {
    let of = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = of(home).chain(of(&home.join("ledger")));
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // The index of the write-ahead log is made by whoever looks.
        (name.starts_with("log.") && name != "log.db-shm") || path.parent() == Some(&home.join("ledger"))
    };
    let mut found: Vec<_> = all
        .filter(is_log)
        .map(|path| (path.clone(), fs::metadata(&path).map_or(0, |file| file.len())))
        .collect();
    // Where there is no write-ahead log, an empty one is the same.
    found.retain(|(path, bytes)| !path.ends_with("log.db-wal") || *bytes > 0);
    found.sort();
    found
}

/// What a person would call the log: everything of that name.
fn log_files(home: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("log.")).map(|entry| entry.path())
}

fn recover(place: &Place, arguments: &[&str]) -> Ran {
    let arguments = [&["log", "recover"], arguments].concat();
    Ran::of(place.comity_as_whoever(&arguments).output().expect("comity runs"))
}

/// Keeps what is left; gives the last record that was kept.
fn is_recovered(place: &Place, what: &str, written: u64) -> u64 {
    let before = files(&place.home);
    let would = recover(place, &["--dry-run", "--json"]).json();
    assert_eq!(files(&place.home), before, "{what}: a dry run changes nothing");
    assert!(would["written"].is_null() || would["written"] == written, "{what}: {would}");
    let done = recover(place, &["--json"]).json();
    assert_eq!(done["kept"], would["kept"], "{what}: {done}");
    let aside = PathBuf::from(done["set_aside"].as_str().expect("a directory"));
    assert!(fs::read_dir(&aside).expect("a directory").count() > 0, "{what}: the old files are there");
    let kept = done["kept"].as_u64().expect("a number");
    let verified = place.json(&["log", "verify"]);
    assert!(verified["records"].as_u64() > Some(kept), "{what}: the server goes on: {verified}");
    let whole = place.run(&["doctor"]);
    assert!(whole.out.lines().any(|line| line.starts_with("ok   ledger")), "{what}: {whole:?}");
    kept
}

#[test]
fn a_lost_backlog_is_noticed() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 3] = [
        ("deleted", |wal| fs::remove_file(wal).expect("deleted")),
        ("cut off", |wal| {
            let file = fs::File::options().write(true).open(wal).expect("opens");
            file.set_len(file.metadata().expect("a size").len() / 2).expect("cut off");
        }),
        ("with another bit", |wal| {
            let mut bytes = fs::read(wal).expect("read");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(wal, bytes).expect("written");
        }),
    ];
    for (what, damage) in damages {
        let place = Place::new();
        place.join(&["ann"]);
        quiet(&place);
        let mut last = 0;
        kill_with_backlog(&place, || {
            (0..5).for_each(|number| send(&place, &format!("letter {number}")));
            last = head(&place);
        });
        damage(&place.home.join("log.db-wal"));
        is_noticed(&place, what);
        assert!(is_recovered(&place, what, last) < last, "{what}");
    }
}

#[test]
fn a_witness_that_is_lost_with_the_backlog_is_no_loss() {
    for lost in [&["log.witness"][..], &["log.witness", "log.db-shm", "log.fences-"]] {
        let place = Place::new();
        place.join(&["ann"]);
        quiet(&place);
        let mut last = 0;
        kill_with_backlog(&place, || {
            (0..5).for_each(|number| send(&place, &format!("letter {number}")));
            last = head(&place);
        });
        fs::remove_file(place.home.join("log.db-wal")).expect("deleted");
        let gone = log_files(&place.home).filter(|file| {
            let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
            lost.iter().any(|lost| name.starts_with(lost))
        });
        gone.for_each(|file| fs::remove_file(file).expect("deleted"));
        is_noticed(&place, "without its first name");
        let kept = is_recovered(&place, "without its first name", last);
        assert!(kept < last, "{kept} of {last}");
    }
    // Alone it comes back, and nothing else is said.
    let place = Place::new();
    place.join(&["ann"]);
    send(&place, "a letter");
    place.kill_server();
    fs::remove_file(place.home.join(WITNESSES[0])).expect("deleted");
    place.json(&["up"]);
    let inode = |name: &str| fs::metadata(place.home.join(name)).expect("there").ino();
    assert_eq!(inode(WITNESSES[0]), inode(WITNESSES[1]), "one file with two names");
    place.json(&["log", "verify"]);
}

#[test]
fn what_only_the_backlog_has_is_kept_though_the_log_itself_was_lost() {
    for (is_removed, has_witness) in [(false, true), (true, true), (false, false), (true, false)] {
        let place = loop {
            let place = Place::new();
            place.join(&["ann"]);
            send(&place, "a letter");
            place.kill_server();
            // Nothing was moved into the log itself yet.
            let moved = fs::metadata(place.home.join("log.db")).expect("a log").len() > 4096;
            if !moved {
                break place;
            }
        };
        let log = place.home.join("log.db");
        match is_removed {
            true => fs::remove_file(&log).expect("removed"),
            false => fs::write(&log, "").expect("emptied"),
        }
        if !has_witness {
            WITNESSES.iter().for_each(|name| fs::remove_file(place.home.join(name)).expect("removed"));
        }
        is_noticed(&place, "only the backlog is left");
        let done = recover(&place, &["--json"]).json();
        assert!(done["kept"].as_u64() > Some(0), "{done}");
        assert_eq!(done["kept"] == done["written"], has_witness, "{done}");
        assert_eq!(place.log_of("agent_joined").len(), 1, "removed: {is_removed}");
        place.json(&["log", "verify"]);
    }
}

/// Cuts a file of the log to so many bytes while its server runs, with a letter in it that was just sent.
fn cut_under_server(name: &str, bytes: u64) -> (Place, u64) {
    let place = Place::new();
    place.join(&["ann"]);
    quiet(&place);
    send(&place, "a letter");
    let last = head(&place);
    let file = fs::File::options().write(true).open(place.home.join(name)).expect("opens");
    assert!(file.metadata().expect("a size").len() > bytes, "{name} has something to lose");
    file.set_len(bytes).expect("cut");
    (place, last)
}

/// What can be kept is, and a server starts from there.
fn has_a_way_out(place: &Place, what: &str, last: u64) {
    let before = files(&place.home);
    let would = recover(place, &["--dry-run", "--json"]).json();
    assert_eq!(files(&place.home), before, "{what}: a dry run changes nothing");
    let done = recover(place, &["--json"]).json();
    assert!(done["kept"].as_u64() <= Some(last) && done["kept"] == would["kept"], "{what}: {done}");
    // It may have lost the tests' token with all the rest.
    let hash = comity_app::tokens::hash(HUMAN).to_string();
    fs::write(place.home.join("first-token"), hash).expect("written");
    place.json(&["log", "verify"]);
}

const CUTS: [(&str, u64); 3] = [("log.db", 0), ("log.db", 8192), ("log.db-wal", 0)];

#[test]
fn a_server_whose_log_is_cut_acknowledges_nothing_more() {
    for (name, bytes) in CUTS {
        let (place, last) = cut_under_server(name, bytes);
        let what = format!("{name} cut to {bytes}");
        let server = place.server().expect("a server");
        let answer = Wire::connect(&place).ask("mail_send", json!({ "to": ["ann"], "message": "lost" }));
        assert!(answer.is_err(), "{what}: {answer:?}");
        assert!(has_ended(server, PATIENCE), "{what}: the server goes on");
        let said = fs::read_to_string(place.home.join("server.log")).expect("a file");
        assert!(said.contains("was cut from") && said.contains("comity log recover"), "{what}: {said}");
        is_noticed(&place, &what);
        has_a_way_out(&place, &what, last);
    }
}

#[test]
fn a_server_whose_log_is_cut_is_not_stopped_as_if_nothing_was_lost() {
    for (name, bytes) in CUTS {
        let (place, last) = cut_under_server(name, bytes);
        let what = format!("{name} cut to {bytes}");
        let down = place.run(&["down"]);
        assert!(down.code != 0 && down.err.contains("the log is not whole"), "{what}: {down:?}");
        is_noticed(&place, &what);
        has_a_way_out(&place, &what, last);
    }
}

#[test]
fn locks_that_were_never_synced_are_missed_as_long_as_the_machine_runs() {
    let place = Place::new();
    place.join(&["ann"]);
    let (mut before, mut last) = (0, 0);
    // The first lock makes the repository known, and that is synced.
    place.json(&["lock", "src/b.rs"]);
    kill_with_backlog(&place, || {
        // Everything before is in the log itself: only the lock is lost.
        place.json(&["up"]);
        before = head(&place);
        quiet(&place);
        Wire::connect(&place).ask("lock", json!({ "paths": "src/a.rs" })).expect("granted");
        last = head(&place);
    });
    assert!(before > 0 && before < last);
    fs::remove_file(place.home.join("log.db-wal")).expect("deleted");
    is_noticed(&place, "a lock");
    assert_eq!(is_recovered(&place, "a lock", last), before);
}

#[test]
fn another_log_is_noticed() {
    let place = Place::new();
    place.join(&["ann"]);
    place.json(&["down"]);
    let (log, older) = (place.home.join("log.db"), place.dir().join("older.db"));
    fs::copy(&log, &older).expect("copied");
    send(&place, "one more");
    let last = head(&place);
    place.json(&["down"]);
    let witness = place.home.join("log.witness");
    let whole: Vec<_> = log_files(&place.home).map(|path| (fs::read(&path).expect("read"), path)).collect();
    type Damage<'a> = &'a dyn Fn();
    let damages: [(&str, Damage<'_>); 7] = [
        ("deleted", &|| fs::remove_file(&log).expect("deleted")),
        ("empty", &|| fs::write(&log, "").expect("written")),
        ("older", &|| assert!(fs::copy(&older, &log).is_ok())),
        ("the witness is garbage", &|| fs::write(&witness, "garbage").expect("written")),
        ("deleted with its witness", &|| {
            [&log, &witness].iter().for_each(|file| fs::remove_file(file).expect("deleted"));
        }),
        ("empty, without its witness", &|| {
            fs::write(&log, "").expect("written");
            fs::remove_file(&witness).expect("deleted");
        }),
        ("rm log.*", &|| log_files(&place.home).for_each(|file| fs::remove_file(file).expect("deleted"))),
    ];
    for (what, damage) in damages {
        damage();
        is_noticed(&place, what);
        let token = Ran::of(place.comity_as_whoever(&["token", "first"]).output().expect("comity runs"));
        assert_ne!(token.code, 0, "{what}: the directory is not new: {token:?}");
        whole.iter().for_each(|(bytes, path)| fs::write(path, bytes).expect("put back"));
        let _ = fs::remove_file(place.home.join("log.db-wal"));
        assert_eq!(recover(&place, &["--json"]).json()["whole"], true, "{what}: nothing is missing any more");
    }
    fs::copy(&older, &log).expect("copied");
    assert!(is_recovered(&place, "older", last) < last);
    send(&place, "it goes on");
}

#[test]
fn a_log_of_another_state_directory_is_noticed() {
    let filled = |letters: usize| {
        let place = Place::new();
        place.join(&["ann"]);
        (0..letters).for_each(|number| send(&place, &format!("letter {number} of {letters}")));
        let last = head(&place);
        place.json(&["down"]);
        (place, last)
    };
    let (place, last) = filled(3);
    let own = fs::read(place.home.join("log.db")).expect("read");
    for (what, (other, its_last)) in [("as long", filled(3)), ("longer", filled(20))] {
        assert_eq!(
            (its_last - last).min(1),
            u64::from(what == "longer"),
            "{what}: {its_last} and {last} records"
        );
        fs::copy(other.home.join("log.db"), place.home.join("log.db")).expect("copied");
        is_noticed(&place, what);
        let said = place.run(&["up"]).err;
        assert!(said.contains("is not the one that was written"), "{what}: {said}");
    }
    fs::write(place.home.join("log.db"), own).expect("put back");
    let _ = fs::remove_file(place.home.join("log.db-wal"));
    send(&place, "it goes on");
}
