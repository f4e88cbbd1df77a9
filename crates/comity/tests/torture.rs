//! Kills the real server again and again under load, and checks everything that its clients were told.
//!
//! `COMITY_TORTURE_KILLS` sets how often (50, and 25 for mail), `COMITY_TORTURE_SEED` repeats a run's choices.

#[path = "torture/checker.rs"]
mod checker;
#[path = "torture/clients.rs"]
mod clients;
#[path = "torture/letters.rs"]
mod letters;
#[path = "torture/mail.rs"]
mod mail;
#[path = "torture/random.rs"]
mod random;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clients::{History, Load};
use mail::Post;
use random::Random;
use rustix::process::Signal;
use support::{Agent, PATIENCE, Place, has_ended, kill};

const KILLS: u64 = 50;
const MAIL_KILLS: u64 = 25;
/// The longest life that the nemesis grants a server, in microseconds.
const LIFE_US_MAX: u64 = 30_000;

#[test]
fn nothing_that_was_told_is_lost() {
    let kills = setting("COMITY_TORTURE_KILLS").unwrap_or(KILLS);
    let seed = setting("COMITY_TORTURE_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("torture: seed {seed}, {kills} kills");
    let mut random = Random(seed);
    let load = Load { place: Place::new(), is_over: false.into(), answers: 0.into() };
    let names = ["ann", "bob", "cat", "dan", "eve", "fay"];
    let agents: Vec<Agent> = names.iter().map(|name| load.place.join(&[name])).collect();
    let [ann, bob, cat, dan, eve, fay] = &agents[..] else { panic!("six agents") };

    let histories: Vec<History> = std::thread::scope(|scope| {
        let (load, mut fork) = (&load, || random.fork());
        let (r1, r2, r3, r4, r5, r6) = (fork(), fork(), fork(), fork(), fork(), fork());
        let clients = [
            scope.spawn(move || clients::wire(load, ann, None, r1)),
            scope.spawn(move || clients::wire(load, bob, None, r2)),
            scope.spawn(move || clients::wire(load, cat, Some("200ms"), r3)),
            scope.spawn(move || clients::wire(load, dan, Some("20s"), r4)),
            scope.spawn(move || clients::command_line(load, eve, "300ms", r5)),
            scope.spawn(move || clients::mcp(load, fay, r6)),
        ];
        let killed = std::panic::catch_unwind(|| nemesis(load, kills, Random(seed ^ 1)));
        load.is_over.store(true, Ordering::Relaxed);
        let histories = clients.map(|client| client.join().expect("a client that does not panic"));
        killed.expect("a nemesis that does not panic");
        histories.into_iter().collect()
    });

    let told: Vec<_> = histories.iter().flat_map(|history| history.told.clone()).collect();
    let wrong: Vec<_> = histories.iter().flat_map(|history| &history.wrong).collect();
    let worst = histories.iter().map(|history| history.worst_reconnect).max().unwrap_or_default();
    let findings = checker::check(&told, &load.place.log());
    println!(
        "torture: {kills} kills, {} acked, {} lost, {} duplicates, {} broken, {} wrong, worst reconnect {} ms",
        told.len(),
        findings.lost.len(),
        findings.duplicates.len(),
        findings.broken.len(),
        wrong.len(),
        worst.as_millis()
    );
    assert!(findings.is_empty() && wrong.is_empty(), "seed {seed}: {findings:#?}, wrong: {wrong:#?}");
    assert_eq!(load.place.json(&["locks"])["total"], 0, "whoever got a lock knew of it");
    let verified = load.place.json(&["log", "verify"]);
    assert_eq!(verified["records"], load.place.json(&["status"])["head"], "the whole chain holds");
    assert!(told.len() as u64 > kills, "there was a load: {} answers", told.len());
}

#[test]
fn no_acknowledged_mail_is_lost() {
    let kills = setting("COMITY_TORTURE_KILLS").unwrap_or(MAIL_KILLS);
    let seed = setting("COMITY_TORTURE_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("torture of mail: seed {seed}, {kills} kills");
    let mut random = Random(seed);
    let load = Load { place: Place::new(), is_over: false.into(), answers: 0.into() };
    let all_sent = AtomicBool::new(false);
    let names = ["ann", "bob", "cat", "dan", "rex", "sue"];
    let agents: Vec<Agent> = names.iter().map(|name| load.place.join(&[name])).collect();
    let [ann, bob, cat, dan, rex, sue] = &agents[..] else { panic!("six agents") };

    let posts: Vec<Post> = std::thread::scope(|scope| {
        let (load, all_sent, mut fork) = (&load, &all_sent, || random.fork());
        let (r1, r2, r3, r4, r5) = (fork(), fork(), fork(), fork(), fork());
        let senders = [
            scope.spawn(move || mail::send_by_wire(load, ann, "ann", r1)),
            scope.spawn(move || mail::send_by_wire(load, bob, "bob", r2)),
            scope.spawn(move || mail::send_by_command_line(load, cat, "cat", r3)),
            scope.spawn(move || mail::send_by_mcp(load, dan, "dan", r4)),
        ];
        let receivers = [
            scope.spawn(move || mail::receive_by_wire(load, rex, "rex", r5, all_sent)),
            scope.spawn(move || mail::receive_by_command_line(load, sue, "sue", all_sent)),
        ];
        let killed = std::panic::catch_unwind(|| nemesis(load, kills, Random(seed ^ 1)));
        load.is_over.store(true, Ordering::Relaxed);
        let sent = senders.map(|sender| sender.join());
        all_sent.store(true, Ordering::Relaxed);
        let received = receivers.map(|receiver| receiver.join());
        killed.expect("a nemesis that does not panic");
        let posts = sent.into_iter().chain(received);
        posts.map(|post| post.expect("a client that does not panic")).collect()
    });

    let sent: Vec<_> = posts.iter().flat_map(|post| post.sent.clone()).collect();
    let arrived: Vec<_> = posts.iter().flat_map(|post| post.arrived.clone()).collect();
    let wrong: Vec<_> = posts.iter().flat_map(|post| &post.wrong).collect();
    let worst = posts.iter().map(|post| post.worst_reconnect).max().unwrap_or_default();
    let findings = letters::check(&sent, &arrived, &load.place.log());
    println!(
        "torture of mail: {kills} kills, {} sent, {} arrived, {} again, {} findings, {} wrong, worst reconnect {} ms",
        sent.len(),
        arrived.len(),
        arrived.iter().filter(|one| one.again).count(),
        findings.len(),
        wrong.len(),
        worst.as_millis()
    );
    assert!(findings.is_empty() && wrong.is_empty(), "seed {seed}: {findings:#?}, wrong: {wrong:#?}");
    assert_eq!(load.place.json(&["mail", "boxes"])["boxes"], serde_json::json!([]), "every box is empty");
    load.place.json(&["log", "verify"]);
    assert!(sent.len() as u64 > kills, "there was a load: {} letters", sent.len());
}

/// Lets a server live a random while, then kills it like a power cut would; clients bring up the next one.
fn nemesis(load: &Load, kills: u64, mut random: Random) {
    let mut last = 0;
    for _ in 0..kills {
        let start = Instant::now();
        let pid = loop {
            assert!(start.elapsed() < PATIENCE, "no server comes up by itself");
            match load.place.server().filter(|pid| *pid != last) {
                Some(pid) => break pid,
                None => std::thread::sleep(Duration::from_millis(1)), // sleeps: a server tells only who started it
            }
        };
        // Most servers get some work done; some are killed as soon as they answer.
        let before = load.answers.load(Ordering::Relaxed);
        let quota = random.below(20);
        while load.answers.load(Ordering::Relaxed) < before + quota && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(200)); // sleeps: counts answers of other threads
        }
        std::thread::sleep(Duration::from_micros(random.below(LIFE_US_MAX))); // sleeps: the moment is to be random
        kill(pid, Signal::KILL);
        assert!(has_ended(pid, PATIENCE), "the server did not die");
        last = pid;
    }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
