//! The engine: nothing is answered before it is written, a failed write changes nothing, a repeat is done once.

mod support;

use std::sync::mpsc;

use comity_app::engine::{Answer, Asker, Job};
use comity_core::{Ask, Millis, Principal};
use serde_json::json;
use support::Place;

#[test]
fn a_failed_write_changes_nothing_and_heals() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let ann = app.join("ann");
    let before = (app.facts(), log.records().len());

    log.set_failing(true);
    let refused = app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect_err("the disk is full");
    assert!(refused.starts_with("fault: the disk is full"), "{refused}");
    assert_eq!((app.facts(), log.records().len()), before, "nothing changed");
    assert!(app.ask(ann, "locks", json!({})).is_ok(), "questions are still answered");

    log.set_failing(false);
    assert!(
        app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).is_ok(),
        "it works again without a restart"
    );
}

/// Tells, at the moment of the answer, how many records the log has.
struct CountAtAnswer {
    log: comity_app::log::MemoryLog,
    counted: mpsc::Sender<usize>,
}

impl Asker for CountAtAnswer {
    fn answer(self: Box<Self>, _: Answer<'_>) {
        let _ = self.counted.send(self.log.records().len());
    }
}

#[test]
fn nothing_is_answered_before_it_is_written_and_a_batch_is_one_append() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let agents: Vec<Principal> = (0..5).map(|n| app.join(&format!("agent{n}"))).collect();
    let before = log.records().len();
    let (counted, counts) = mpsc::channel();
    for agent in &agents {
        let Principal::Agent(id) = agent else { panic!("an agent") };
        let asker = Box::new(CountAtAnswer { log: log.clone(), counted: counted.clone() });
        app.app.engine().submit(Job {
            who: (*agent).into(),
            asks: vec![Ask::Idle { agent: *id, idle: true }],
            key: None,
            asker,
        });
    }
    assert_eq!(counts.try_iter().count(), 0, "submitting answers nothing");
    app.app.engine().drive();
    let counts: Vec<usize> = counts.try_iter().collect();
    assert_eq!(counts, vec![before + 5; 5], "the whole batch was written before the first answer");
}

#[test]
fn a_repeat_with_the_same_key_gets_the_first_answer_also_after_a_restart() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    let input = json!({ "paths": ["src/a.rs"] });
    let first = app.ask_keyed(ann, "lock", input.clone(), Some("k1")).expect("granted");
    let head = app.app.engine().world().head;
    let second = app.ask_keyed(ann, "lock", input.clone(), Some("k1")).expect("granted");
    assert_eq!(first["locks"][0]["fence"], second["locks"][0]["fence"]);
    assert_eq!(app.app.engine().world().head, head, "a repeat writes nothing");

    let join = |app: &support::App| {
        let key = Some("b0b0b0b0-0000-4000-8000-00000000000b");
        app.ask_keyed(Principal::Human, "agent_join", json!({ "name": "bob" }), key).expect("joined")
    };
    let joined = join(&app);
    drop(app);
    let app = place.open();
    let third = app.ask_keyed(ann, "lock", input, Some("k1")).expect("granted");
    assert_eq!(first["locks"][0]["fence"], third["locks"][0]["fence"]);
    assert_eq!(joined, join(&app), "the same id and the same token");
}

#[test]
fn the_world_after_a_restart_is_the_world_before() {
    let place = Place::new();
    let app = place.open();
    let (ann, bob) = (app.join("ann"), app.join("bob"));
    app.ask(ann, "lock", json!({ "paths": ["src/**", "docs/"], "reason": "moving" })).expect("granted");
    app.ask(bob, "lock", json!({ "paths": ["src/a.rs"] })).expect_err("held");
    app.ask(bob, "lock", json!({ "paths": ["x/{a,b}"], "shared": true, "ttl": "2m" })).expect("granted");
    let before = app.app.engine().world().clone();
    drop(app);
    let app = place.open();
    let after = app.app.engine().world();
    let facts = |world: &comity_core::World| {
        let mut facts = serde_json::to_value(comity_core::snapshot::Snapshot::of(world)).expect("JSON");
        // The start itself is a record, raises the floor of fences and counts as a sign of life.
        for moved in ["head", "fence", "now"] {
            facts[moved] = serde_json::Value::Null;
        }
        facts
    };
    assert_eq!(facts(&after), facts(&before));
    assert!(after.fence.0 >= before.fence.0 + 1_000, "no fence repeats");
}

#[test]
fn a_lock_outlives_the_time_that_no_server_ran() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    app.ask(ann, "lock", json!({ "paths": ["src/a.rs"], "ttl": "10s" })).expect("granted");
    app.pass(Millis::seconds(9));
    drop(app);
    let app = place.open();
    app.pass(Millis::seconds(9));
    assert_eq!(app.app.engine().world().locks.len(), 1, "the restart counts as a sign of life");
    app.pass(Millis::seconds(2));
    assert!(app.app.engine().world().locks.lapsed().next().is_some(), "now its time is over");
}

#[test]
fn a_project_sets_how_long_its_locks_last_and_nothing_else() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    let file = place.repo().join("comity.toml");
    std::fs::write(&file, "[lock]\nttl = \"15m\"\n").expect("written");
    let granted = app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect("granted");
    assert_eq!(granted["locks"][0]["expires_in_ms"], 900_000);

    let other = Place::new();
    std::fs::write(other.repo().join("comity.toml"), "[http]\nport = 80\n").expect("written");
    let app = other.open();
    let bob = app.join("bob");
    assert_eq!(app.ask(bob, "lock", json!({ "paths": ["src/b.rs"] })), Err("bad_input".into()));
}

/// Panics where its answer is made.
struct Panics;

impl Asker for Panics {
    fn answer(self: Box<Self>, _: Answer<'_>) {
        panic!("a bug, on purpose");
    }
}

#[test]
fn after_a_panic_in_a_batch_nothing_is_written_and_nobody_hangs() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let ann = app.join("ann");
    let Principal::Agent(id) = ann else { panic!("an agent") };
    let engine = app.app.engine().clone();
    let idle = || Ask::Idle { agent: id, idle: true };
    engine.submit(Job { who: ann.into(), asks: vec![idle()], key: None, asker: Box::new(Panics) });
    let driven = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| engine.drive()));
    assert!(driven.is_err(), "it panics");
    let written = log.records();
    let refused = app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect_err("the engine is broken");
    assert!(refused.contains("a bug has stopped the engine"), "{refused}");
    engine.pass_time();
    assert_eq!(log.records(), written, "nothing goes on from a world that nobody knows");
    assert!(written.iter().zip(1..).all(|(record, seq)| record.seq == seq), "the log has no gap");
}
