//! Cuts the power under a real server: every letter whose sending was answered is there afterwards, and the log is whole.
//!
//! `COMITY_POWER_CUTS` sets how often (8), `COMITY_TORTURE_SEED` repeats a run's choices.

#[path = "power_cut/disk.rs"]
mod disk;
#[path = "torture/letters.rs"]
mod letters;
#[expect(dead_code, reason = "each test uses a part of it")]
#[path = "torture/random.rs"]
mod random;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "power_cut/writer.rs"]
mod writer;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use disk::Disk;
use letters::{Arrived, Sent};
use random::Random;
use rustix::process::Signal;
use serde_json::json;
use support::wire::{No, Wire};
use support::{Agent, PATIENCE, Place, has_ended, kill};

const CUTS: u64 = 8;
const SENDERS: [&str; 4] = ["ann", "bob", "cat", "dan"];
/// Cuts for each setting of the plain writer.
const WRITER_CUTS: u64 = 3;
/// The power is cut this long after there was some work, at most, in microseconds.
const LIFE_US_MAX: u64 = 50_000;

#[test]
fn a_power_cut_loses_no_acknowledged_mail() {
    let Some(disk) = Disk::new("a_power_cut_loses_no_acknowledged_mail") else { return };
    let (cuts, mut random) = (setting("COMITY_POWER_CUTS").unwrap_or(CUTS), random());
    let place = Place::at(tempfile::tempdir().expect("a directory"), disk.path().join("state"), &[]);
    let agents: Vec<Agent> = SENDERS.iter().map(|name| place.join(&[name])).collect();
    let rex = place.join(&["rex"]);
    let mut sent: Vec<Vec<Sent>> = vec![vec![]; SENDERS.len()];
    let mut arrived = Vec::new();
    for _ in 0..cuts {
        let server = place.json(&["status"])["pid"]
            .as_u64()
            .and_then(|pid| u32::try_from(pid).ok())
            .expect("a server");
        let answers = AtomicU64::new(0);
        let cut = std::thread::scope(|scope| {
            for ((agent, name), sent) in agents.iter().zip(SENDERS).zip(&mut sent) {
                let (place, answers) = (&place, &answers);
                scope.spawn(move || send_until_the_cut(place, agent, name, sent, answers));
            }
            wait_for_work(&answers, &mut random);
            // Not a word more is said: a sync that goes on while the power fails may look as if it had worked.
            kill(server, Signal::STOP);
            let cut = disk.cut();
            kill(server, Signal::KILL);
            cut
        });
        cut.expect("a cut");
        assert!(has_ended(server, PATIENCE), "the server did not die");
        disk.power_on();
        place.json(&["log", "verify"]);
        receive_all(&place, &rex, &mut arrived);
    }
    let sent: Vec<Sent> = sent.into_iter().flatten().collect();
    let acked = sent.iter().filter(|letter| !letter.told.is_empty()).count();
    let findings = letters::check(&sent, &arrived, &place.log());
    println!("power cut: {cuts} cuts, {acked} acked, {} arrived, {} findings", arrived.len(), findings.len());
    assert!(findings.is_empty(), "{findings:#?}");
    assert!(acked as u64 > cuts * 10, "there was a load: {acked} letters");
}

/// Sends one letter after the other; the one that a cut leaves unanswered is sent again, first of all, after the next start.
fn send_until_the_cut(place: &Place, agent: &Agent, name: &str, sent: &mut Vec<Sent>, answers: &AtomicU64) {
    let Some(mut wire) = Wire::try_connect(place).map(|wire| wire.asking_as(agent)) else { return };
    loop {
        if sent.last().is_none_or(|letter| !letter.told.is_empty()) {
            let text = format!("{name}-{}", sent.len() + 1);
            sent.push(Sent { from: name.into(), to: vec!["rex".into()], text, told: vec![] });
        }
        let Some(letter) = sent.last_mut() else { return };
        let input = json!({ "to": "rex", "message": letter.text, "client_id": letter.text });
        match wire.ask("mail_send", input) {
            Ok(answer) => letter.told.push(answer["id"].as_str().expect("a number").to_owned()),
            Err(No::Broken(_)) => return,
            Err(No::Refused(error)) => panic!("refused: {error}"),
        }
        answers.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads the box until it is empty.
fn receive_all(place: &Place, agent: &Agent, arrived: &mut Vec<Arrived>) {
    let mut wire = Wire::connect(place).asking_as(agent);
    loop {
        let inbox = wire.ask("next", json!({})).expect("an answer");
        let Some(receipt) = inbox["receipt"].as_u64() else { return };
        arrived.extend(Arrived::all("rex", &inbox));
        wire.ask("mail_ack", json!({ "receipt": receipt })).expect("acknowledged");
    }
}

/// The same cuts under a plain writer: whoever does not sync loses what it told, and whoever does loses nothing.
#[test]
fn a_careless_writer_loses_what_it_acknowledged() {
    let Some(disk) = Disk::new("a_careless_writer_loses_what_it_acknowledged") else { return };
    let mut random = random();
    let mut lost = |synchronous: &str| -> u64 {
        let cut = |number| {
            let path = disk.path().join(format!("{synchronous}-{number}.db"));
            writer::create(&path);
            let (acked, is_stopped) = (AtomicU64::new(0), AtomicBool::new(false));
            let cut = std::thread::scope(|scope| {
                scope.spawn(|| writer::append(&path, synchronous, &acked, &is_stopped));
                wait_for_work(&acked, &mut random);
                is_stopped.store(true, Ordering::SeqCst);
                disk.cut()
            });
            cut.expect("a cut");
            disk.power_on();
            let (acked, kept) = (acked.into_inner(), writer::kept(&path));
            println!("power cut: {synchronous}: {acked} acked, {kept} kept");
            acked.saturating_sub(kept)
        };
        (0..WRITER_CUTS).map(cut).sum()
    };
    assert!(lost("OFF") > 0, "a cut takes what was never synced");
    assert!(lost("NORMAL") > 0, "a cut takes what is synced now and then");
    assert_eq!(lost("FULL"), 0, "a cut takes nothing that was synced");
}

/// Waits for some answers, if they come, and then a random while.
fn wait_for_work(answers: &AtomicU64, random: &mut Random) {
    let (start, quota) = (Instant::now(), 20 + random.below(100));
    while answers.load(Ordering::Relaxed) < quota && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_micros(200)); // sleeps: counts answers of other threads
    }
    std::thread::sleep(Duration::from_micros(random.below(LIFE_US_MAX))); // sleeps: the moment is to be random
}

fn random() -> Random {
    let seed = setting("COMITY_TORTURE_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("power cut: seed {seed}");
    Random(seed)
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
