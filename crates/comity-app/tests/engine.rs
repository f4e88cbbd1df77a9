//! The engine: nothing is answered before it is written, a failed write changes nothing, a repeat is done once.

mod support;

use std::sync::mpsc;

use comity_app::engine::{Job, JobAnswer, ReplyTo};
use comity_core::agents::{AgentAsk, Ending};
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

impl ReplyTo for CountAtAnswer {
    fn answer(self: Box<Self>, _: JobAnswer<'_>) {
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
        let reply_to = Box::new(CountAtAnswer { log: log.clone(), counted: counted.clone() });
        let asks = vec![Ask::Agent(AgentAsk::Idle { agent: *id, idle: true })];
        app.app.engine().submit(Job { who: (*agent).into(), asks, key: None, reply_to });
    }
    assert_eq!(counts.try_iter().count(), 0, "submitting answers nothing");
    app.app.engine().run_pending();
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

impl ReplyTo for Panics {
    fn answer(self: Box<Self>, _: JobAnswer<'_>) {
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
    let idle = || Ask::Agent(AgentAsk::Idle { agent: id, idle: true });
    engine.submit(Job { who: ann.into(), asks: vec![idle()], key: None, reply_to: Box::new(Panics) });
    let driven = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| engine.run_pending()));
    assert!(driven.is_err(), "it panics");
    let written = log.records();
    let refused = app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect_err("the engine is broken");
    assert!(refused.contains("a bug has stopped the engine"), "{refused}");
    engine.pass_time();
    assert_eq!(log.records(), written, "nothing goes on from a world that nobody knows");
    assert!(written.iter().zip(1..).all(|(record, seq)| record.seq == seq), "the log has no gap");
}

#[test]
fn a_thread_that_must_not_wait_leaves_what_waits_for_the_disk_to_the_engine() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let ann = app.join("ann");
    let Principal::Agent(id) = ann else { panic!("an agent") };
    let engine = app.app.engine();
    let (counted, counts) = mpsc::channel();
    let submit = |ask| {
        let reply_to = Box::new(CountAtAnswer { log: log.clone(), counted: counted.clone() });
        engine.submit(Job { who: ann.into(), asks: vec![ask], key: None, reply_to });
    };
    let before = log.records().len();

    submit(Ask::Agent(AgentAsk::Idle { agent: id, idle: true }));
    engine.run_pending_without_waiting();
    assert_eq!(counts.try_iter().collect::<Vec<_>>(), [before + 1], "it does not wait for the disk");

    // The end of an agent does; what comes after it is decided after it.
    submit(Ask::Agent(AgentAsk::End { agent: id, ending: Ending::Completed, cause: "done".into() }));
    engine.run_pending_without_waiting();
    submit(Ask::Agent(AgentAsk::Idle { agent: id, idle: false }));
    engine.run_pending_without_waiting();
    assert_eq!((counts.try_iter().count(), log.records().len()), (0, before + 1), "nothing is written here");
    assert!(engine.world().agents.living(id).is_ok(), "nor seen");

    engine.pass_time();
    assert_eq!(counts.try_iter().collect::<Vec<_>>(), [before + 2; 2], "written once, and the other refused");
    assert!(engine.world().agents.living(id).is_err());
}

#[test]
fn what_was_decided_is_written_before_the_log_is_closed() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let Principal::Agent(id) = app.join("ann") else { panic!("an agent") };
    let engine = app.app.engine();
    let before = log.records().len();
    engine.tell(
        Principal::System,
        vec![Ask::Agent(AgentAsk::End { agent: id, ending: Ending::Failed, cause: "gone".into() })],
    );
    engine.run_pending_without_waiting();
    assert_eq!(log.records().len(), before);
    engine.close_log();
    assert_eq!(log.records().len(), before + 1);
}

#[test]
fn a_batch_left_to_the_engine_that_cannot_be_written_changes_nothing() {
    let place = Place::new();
    let (app, log) = place.open_in_memory();
    let Principal::Agent(id) = app.join("ann") else { panic!("an agent") };
    let engine = app.app.engine();
    let before = app.facts();
    log.set_failing(true);
    engine.tell(
        Principal::System,
        vec![Ask::Agent(AgentAsk::End { agent: id, ending: Ending::Failed, cause: "gone".into() })],
    );
    engine.run_pending_without_waiting();
    engine.pass_time();
    assert_eq!(app.facts(), before);
    log.set_failing(false);
    assert!(app.ask(Principal::Agent(id), "lock", json!({ "paths": ["src/a.rs"] })).is_ok());
}
