//! A full disk: writes fail clearly, reads go on, nothing told is lost, and it heals without a restart.

#[path = "moves/stage.rs"]
#[expect(dead_code, reason = "each test uses a part of it")]
mod stage;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use stage::Stage;
use support::wire::{No, Wire};
use support::{Agent, Place, has_program, is_root, skip};

/// A file system in memory with room for little.
struct SmallDisk {
    dir: tempfile::TempDir,
}

impl SmallDisk {
    fn mount(size: &str) -> Option<SmallDisk> {
        let dir = tempfile::tempdir().expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=0700"), "tmpfs"]).arg(dir.path());
        let is_mounted = mount.output().is_ok_and(|done| done.status.success());
        is_mounted.then_some(SmallDisk { dir })
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut filler =
            std::fs::OpenOptions::new().append(true).create(true).open(self.filler()).expect("a file");
        for size in [64 * 1024, 4096, 512, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
    }

    fn filler(&self) -> PathBuf {
        self.dir.path().join("filler")
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).expect("removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.dir.path()).status();
    }
}

fn small_disk(test: &str) -> Option<SmallDisk> {
    if !is_root() || !has_program("mount") {
        skip(test, "only root can mount a small disk");
        return None;
    }
    let disk = SmallDisk::mount("2m");
    if disk.is_none() {
        skip(test, "a small disk can't be mounted here");
    }
    disk
}

/// A small disk, and a place whose state is on it; the place is dropped first, and so its server ends first.
fn place_on_small_disk(test: &str) -> Option<(SmallDisk, Place)> {
    let disk = small_disk(test)?;
    let home = disk.dir.path().join("state");
    let place = Place::at(tempfile::tempdir().expect("a directory"), home, &[]);
    Some((disk, place))
}

/// Locks one file after the other until the disk is full; gives the fences that were told.
fn lock_until_full(place: &Place, agent: &Agent) -> (Vec<u64>, support::Ran) {
    let mut told = Vec::new();
    for number in 0..2_000 {
        let ran = place.run_as(agent, &["lock", &format!("src/{number}.rs"), "--json"]);
        match ran.code {
            0 => told.push(ran.json()["locks"][0]["fence"].as_u64().expect("a fence")),
            _ => return (told, ran),
        }
    }
    panic!("the disk does not get full");
}

fn fences(place: &Place) -> Vec<u64> {
    let acquired = place.log_of("lock_acquired");
    acquired.iter().filter_map(|entry| entry["details"]["fence"].as_u64()).collect()
}

#[test]
fn a_full_disk_fails_clearly_and_heals() {
    let Some((disk, place)) = place_on_small_disk("a_full_disk_fails_clearly_and_heals") else { return };
    let ann = place.join(&["ann"]);
    let server = place.server();
    for round in 0..3 {
        disk.fill();
        let (told, failed) = lock_until_full(&place, &ann);
        assert_eq!(failed.code, 1, "{failed:?}");
        let error = failed.document()["error"].clone();
        assert_eq!(error["code"], "fault");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("disk is full")), "{error}");
        let said = place.run_as(&ann, &["lock", "src/more.rs"]);
        assert!(said.code == 1 && said.err.contains("disk is full"), "{said:?}");
        // Reads go on.
        place.json(&["log", "verify"]);
        let kept = fences(&place);
        assert!(told.iter().all(|fence| kept.contains(fence)), "round {round}");
        assert_eq!(place.json(&["locks"])["total"], told.len(), "round {round}");
        disk.free();
        place.json_as(&ann, &["lock", "src/healed.rs"]);
        place.json_as(&ann, &["unlock", "src/healed.rs"]);
        place.join(&[&format!("bob{round}")]);
        place.json_as(&ann, &["unlock", "--all"]);
        assert_eq!(place.server(), server, "without a restart");
    }
    let before = place.log();
    place.kill_server();
    let after = place.log();
    assert_eq!(after[..before.len()], before, "and everything is there after a restart");
    place.json(&["log", "verify"]);
}

#[test]
fn a_server_does_not_burn_while_the_disk_is_full() {
    let name = "a_server_does_not_burn_while_the_disk_is_full";
    let Some((disk, place)) = place_on_small_disk(name) else { return };
    let ann = place.join(&["ann"]);
    // So many that what is due at their end does not fit into what room there may be left.
    let paths: Vec<String> = (0..200).map(|number| format!("src/x{number}.rs")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    place.json_as(&ann, &[&["lock", "--ttl", "1s"], &paths[..]].concat());
    disk.fill();
    lock_until_full(&place, &ann);
    std::thread::sleep(Duration::from_millis(1_500)); // sleeps: the lock's time is to run out
    assert!(place.log_of("lock_lapsed").is_empty(), "that could not be written");
    let server = place.server().expect("a server");
    let (before, start) = (cpu_ticks(server), Instant::now());
    std::thread::sleep(Duration::from_secs(1)); // sleeps: what the server does by itself is measured
    let (used, took) = (cpu_ticks(server) - before, start.elapsed()); // clock: of the processor, which burning uses
    assert!(used <= 20, "{used} ticks of processor time in {took:?}, with nothing that can be done");
    disk.free();
    let mut log = place.follow();
    log.until(|entry| entry["action"] == "lock_expired" || entry["action"] == "lock_orphaned");
}

#[test]
fn a_commit_that_cannot_be_announced_is_not_made() {
    let Some(disk) = small_disk("a_commit_that_cannot_be_announced_is_not_made") else { return };
    let stage = Stage::with_state(Some(disk.dir.path().join("state")));
    stage.lock_and_change(&["src/a.rs"]);
    let head = stage.git(&["rev-parse", "HEAD"]);
    disk.fill();
    lock_until_full(&stage.place, &stage.ann);
    let failed = stage.place.run_as(&stage.ann, &["commit", "-m", "Change a", "--json"]);
    let error = failed.document()["error"].clone();
    assert!(failed.code == 1 && error["code"] == "fault", "{failed:?}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("disk is full")), "{error}");
    assert_eq!(stage.git(&["rev-parse", "HEAD"]), head, "the branch is where it was");
    disk.free();
    let made = stage.place.json_as(&stage.ann, &["commit", "-m", "Change a"]);
    assert_eq!(stage.place.log_of("file_commit")[0]["details"]["commit"]["id"], made["commit"]);
}

#[test]
fn a_commit_that_cannot_be_recorded_is_recorded_once_there_is_room() {
    let name = "a_commit_that_cannot_be_recorded_is_recorded_once_there_is_room";
    let Some(disk) = small_disk(name) else { return };
    let stage = Stage::with_state(Some(disk.dir.path().join("state")));
    stage.fill_with(&disk.filler());
    // So many files that the record does not fit into what room the log may have left.
    let paths: Vec<String> = (0..400).map(|number| format!("src/{number:0>100}.rs")).collect();
    stage.place.json_as(&stage.ann, &["lock", "src/"]);
    paths.iter().for_each(|path| stage.change(path, "new\n"));
    stage.plant("full");
    let server = stage.place.server();
    let mut log = stage.place.follow();
    let made = stage.place.json_as(&stage.ann, &["commit", "-m", "Add many"]);
    let said = made["warnings"][0].as_str().unwrap_or_default();
    assert!(said.contains("it is recorded as soon as the log can be written"), "{said}");
    assert_eq!(stage.git(&["rev-parse", "HEAD"]).trim(), made["commit"].as_str().expect("a commit"));
    let entry =
        log.until(|entry| ["move_intended", "file_commit"].contains(&entry["action"].as_str().unwrap_or("")));
    assert_eq!(entry["action"], "move_intended");
    assert!(stage.place.log_of("file_commit").is_empty(), "there is no room yet");
    disk.free();
    let found = log.until_action("file_commit");
    assert_eq!(found["details"]["commit"]["id"], made["commit"]);
    assert_eq!((&found["actor"], &found["details"]["recovered"]), (&"ann".into(), &true.into()));
    assert_eq!(stage.place.server(), server, "without a restart");
    assert_eq!(stage.place.log_of("file_commit").len(), 1);
}

/// Processor time that a process has used, in ticks of 10 ms.
fn cpu_ticks(pid: u32) -> u64 {
    let stat =
        std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).expect("a process");
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    fields.split(' ').skip(12).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

#[test]
fn a_limit_on_the_size_of_files_is_like_a_full_disk() {
    let place = Place::new();
    let mut up = place.program("bash");
    up.args(["-c", "ulimit -f 300; exec \"$0\" up", support::BINARY]).env("COMITY_TOKEN", support::HUMAN);
    assert!(up.status().expect("bash runs").success());
    let (server, mut wire) = (place.server(), Wire::connect(&place));
    let decision = json!({ "title": "go on", "rationale": "x".repeat(15_000) });
    let (mut made, mut problem) = (0, None);
    while problem.is_none() {
        match wire.ask("decide", decision.clone()) {
            Ok(_) => made += 1,
            Err(No::Refused(error)) => problem = Some(error),
            Err(broken) => panic!("the server is gone: {broken:?}"),
        }
    }
    assert_eq!(problem.map(|error| error["code"].clone()), Some(json!("fault")));
    assert_eq!(place.server(), server, "it goes on");
    place.json(&["log", "verify"]);
    place.kill_server();
    Wire::connect(&place).ask("decide", decision).expect("without the limit it works again");
    assert_eq!(place.log_of("decision_made").len(), made + 1);
}
