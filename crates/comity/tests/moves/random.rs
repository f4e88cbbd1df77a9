//! Agents commit while the server is killed at random moments; then the branch and the ledger must agree.
//!
//! `COMITY_MOVE_KILLS` says how often, `COMITY_MOVE_SEED` with which seed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::wire::{No, Wire};
use crate::support::{Agent, PATIENCE, Place, eventually, has_ended, kill};

const AGENTS: u64 = 4;
const KILLS: u64 = 40;

fn set(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Connects, however often the server is killed between its start and that.
fn connect(place: &Place) -> Wire {
    let mut wire = None;
    eventually("a server that is not killed at once", || {
        wire = Wire::try_connect(place).or_else(|| {
            place.run(&["up"]);
            Wire::try_connect(place)
        });
        wire.is_some()
    });
    wire.expect("a connection")
}

/// Commits one file after the other until it is enough; asks again if the server went away. Gives what it was told.
fn commit_in_turn(place: &Place, agent: &Agent, number: u64, is_enough: &AtomicBool) -> Vec<(String, Value)> {
    let mut wire = None;
    let mut ask = |op: &str, input: Value, key: Option<&str>| loop {
        let asking = wire.get_or_insert_with(|| connect(place).asking_as(agent));
        match asking.ask_with_key(op, input.clone(), key) {
            Ok(output) => return output,
            Err(No::Refused(error)) => panic!("{op} of agent{number}: {error}"),
            Err(No::Broken(_)) => wire = None,
        }
    };
    ask("lock", json!({ "paths": [format!("work/{number}/")] }), None);
    let dir = place.repo.join(format!("work/{number}"));
    std::fs::create_dir_all(&dir).expect("a directory");
    let mut told = Vec::new();
    while !is_enough.load(Ordering::Relaxed) {
        let path = format!("work/{number}/{}.txt", told.len());
        std::fs::write(place.repo.join(&path), "work\n").expect("written");
        // Every second agent has keys; the others are known by their messages.
        let key = number.is_multiple_of(2).then(|| format!("{path} of agent{number}"));
        let made = ask("commit", json!({ "message": path }), key.as_deref());
        told.push((path, made));
    }
    told
}

#[test]
fn the_branch_and_the_ledger_agree_however_often_the_server_is_killed() {
    let (kills, seed) =
        (set("COMITY_MOVE_KILLS", KILLS), set("COMITY_MOVE_SEED", u64::from(std::process::id())));
    eprintln!("COMITY_MOVE_SEED={seed} COMITY_MOVE_KILLS={kills}");
    let stage = Stage::new();
    let place = &stage.place;
    let agents: Vec<Agent> = (0..AGENTS).map(|number| place.join(&[&format!("agent{number}")])).collect();
    let (is_enough, under_way) = (AtomicBool::new(false), AtomicU64::new(AGENTS));
    let told: Vec<Vec<(String, Value)>> = std::thread::scope(|scope| {
        let (is_enough, under_way) = (&is_enough, &under_way);
        let working: Vec<_> = (0..AGENTS)
            .zip(&agents)
            .map(|(number, agent)| {
                scope.spawn(move || {
                    let told = commit_in_turn(place, agent, number, is_enough);
                    under_way.fetch_sub(1, Ordering::Relaxed);
                    told
                })
            })
            .collect();
        let mut random = Random(seed);
        for _ in 0..kills {
            assert_eq!(under_way.load(Ordering::Relaxed), AGENTS, "an agent has given up");
            std::thread::sleep(Duration::from_millis(random.below(400))); // sleeps: each kill is at another moment
            let Some(server) = place.server() else { continue };
            kill(server, Signal::KILL);
            assert!(has_ended(server, PATIENCE));
        }
        is_enough.store(true, Ordering::Relaxed);
        working.into_iter().map(|agent| agent.join().expect("no panic")).collect()
    });
    // One more start, so that nothing is open.
    place.json(&["up"]);
    let mut follower = place.follow();
    let mut open = BTreeSet::new();
    let mut recorded: BTreeMap<String, u64> = BTreeMap::new();
    let (head, mut found) = (place.json(&["status"])["head"].as_u64().expect("a number"), 0);
    loop {
        let entry = follower.until(|_| true);
        let id = |at: &Value| at.as_str().expect("an id").to_owned();
        let details = &entry["details"];
        match entry["action"].as_str().expect("an action") {
            "move_intended" => drop(open.insert(id(&details["new"]))),
            "move_undone" => drop(open.remove(&id(&details["commit"]))),
            "file_commit" => {
                found += u64::from(details["recovered"] == json!(true));
                open.remove(&id(&details["commit"]["id"]));
                *recorded.entry(id(&details["commit"]["id"])).or_default() += 1;
            }
            _ => {}
        }
        if entry["seq"].as_u64() >= Some(head) && open.is_empty() {
            break;
        }
    }
    let on_branch: BTreeSet<String> =
        stage.git(&["rev-list", "HEAD"]).lines().rev().skip(1).map(str::to_owned).collect();
    let all = recorded.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(on_branch, all, "every commit of the branch is in the ledger, and no other");
    assert!(recorded.values().all(|times| *times == 1), "each once: {recorded:?}");
    for (path, made) in told.iter().flatten() {
        let commit = made["commit"].as_str().unwrap_or_else(|| panic!("{path}: told {made}"));
        assert_eq!(made["files"], json!([{"path": path, "change": "added"}]), "{path}: {made}");
        assert_eq!(stage.git(&["show", "--format=", "--name-only", commit]).trim(), path);
    }
    let made = told.iter().map(Vec::len).sum::<usize>();
    assert_eq!(made, on_branch.len(), "nothing was committed twice");
    assert_eq!(stage.git(&["status", "--porcelain"]), "", "nothing is left");
    eprintln!("{kills} kills, {made} commits, {found} of them found on the branch by the next server");
    place.json(&["log", "verify"]);
}
