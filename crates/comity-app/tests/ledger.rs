//! The ledger: the chain notices every change, looking back is exact, sealing loses nothing.

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use comity_app::log::{SEGMENT_RECORDS, SqliteLog, StartPoint};
use comity_core::agents::AgentAsk;
use comity_core::server::ServerAsk;
use comity_core::{Ask, Principal};
use serde_json::json;
use support::{App, Place};

/// How long something may take that is sure to happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fills the log until it has at least `count` records.
fn fill(app: &App, count: u64) {
    let Principal::Agent(agent) = app.join("filler") else { panic!("an agent") };
    let mut idle = true;
    while app.app.engine().world().head < count {
        for _ in 0..500 {
            app.app.engine().tell(Principal::System, vec![Ask::Agent(AgentAsk::Idle { agent, idle })]);
            idle = !idle;
        }
        app.app.engine().run_pending();
    }
}

#[test]
fn a_changed_record_is_named() {
    let place = Place::new();
    let app = place.open();
    app.join("ann");
    app.join("bob");
    assert!(app.ask(Principal::Human, "log_verify", json!({})).is_ok());
    let database = rusqlite::Connection::open(place.home().join("log.db")).expect("opens");
    let change = "UPDATE events SET event = replace(event, 'bob', 'eve') WHERE seq = 3";
    assert!(database.execute(change, []).is_err(), "the table itself refuses");
    database.execute_batch("DROP TRIGGER events_are_final").expect("dropped");
    assert_eq!(database.execute(change, []).expect("changed"), 1);
    drop(database);
    let (output, _) = app.app.call_and_wait(
        &comity_app::Caller::human(place.repo()),
        comity_app::OperationCall { op: "log_verify", ..comity_app::OperationCall::default() },
    );
    let problem = output.expect_err("the change is noticed").to_text(comity_app::Wording::Commands);
    assert!(problem.contains("record 3 is not what was written"), "{problem}");
    drop(app);
    let problem = SqliteLog::open(&place.home(), Default::default()).err().expect("and no server starts");
    assert!(problem.contains("record 3 is not what was written"), "{problem}");
}

#[test]
fn whom_a_record_concerns_is_part_of_the_chain_and_of_sealed_records() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect("granted");
    app.ask(Principal::Human, "release", json!({ "paths": ["src/a.rs"], "from": "ann" })).expect("released");
    let released = json!({ "agent": "ann", "type": "lock_released" });
    let found = |app: &App| {
        let page = app.ask(Principal::Human, "log", released.clone()).expect("a page");
        page["entries"].as_array().expect("entries").len()
    };
    assert_eq!(found(&app), 1, "the human acted, and it was ann's");
    fill(&app, SEGMENT_RECORDS as u64 + 200);
    assert!(app.reader.clone().expect("a reader").seal_next().expect("sealed"));
    drop(app);
    let app = place.open();
    assert_eq!(found(&app), 1, "and so it is in a sealed segment");
    assert!(app.ask(Principal::Human, "log_verify", json!({})).is_ok());
    app.ask(ann, "lock", json!({ "paths": ["src/b.rs"] })).expect("granted");
    app.ask(Principal::Human, "release", json!({ "paths": ["src/b.rs"], "from": "ann" })).expect("released");
    drop(app);
    let database = rusqlite::Connection::open(place.home().join("log.db")).expect("opens");
    database.execute_batch("DROP TRIGGER events_are_final").expect("dropped");
    let change = "UPDATE events SET concerns = NULL WHERE concerns IS NOT NULL";
    assert!(database.execute(change, []).expect("changed") > 0);
    drop(database);
    assert!(SqliteLog::open(&place.home(), Default::default()).is_err(), "the change is noticed");
}

#[test]
fn a_log_of_the_first_form_is_read_and_written_on() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).expect("granted");
    drop(app);
    let database = rusqlite::Connection::open(place.home().join("log.db")).expect("opens");
    // As it was before records named whom they concern; none of these had to.
    database
        .execute_batch(
            "DROP TRIGGER events_are_final; ALTER TABLE events DROP COLUMN concerns; PRAGMA user_version = 1;
            CREATE TRIGGER events_are_final BEFORE UPDATE ON events BEGIN SELECT raise(ABORT, 'never'); END;",
        )
        .expect("changed");
    drop(database);
    let app = place.open();
    assert!(app.ask(Principal::Human, "log_verify", json!({})).is_ok(), "its chain is as it was");
    app.ask(Principal::Human, "release", json!({ "paths": ["src/a.rs"], "from": "ann" })).expect("released");
    let page =
        app.ask(Principal::Human, "log", json!({ "agent": "ann", "type": "lock_released" })).expect("a page");
    assert_eq!(page["entries"][0]["concerns"][0]["name"], "ann", "{page}");
}

#[test]
fn looking_back_is_exact_before_and_after_sealing() {
    let place = Place::new();
    let app = place.open();
    let ann = app.join("ann");
    let mut seen = Vec::new();
    for n in 0..40 {
        app.ask(ann, "lock", json!({ "paths": [format!("src/{n}.rs")] })).expect("granted");
        if n % 3 == 0 {
            app.ask(ann, "unlock", json!({ "paths": [format!("src/{n}.rs")] })).expect("given back");
        }
        let past = app
            .ask(Principal::Human, "log_replay", json!({ "at": app.app.engine().world().head }))
            .expect("past");
        seen.push((past["seq"].as_u64().expect("a number"), past["hash"].clone()));
    }
    fill(&app, SEGMENT_RECORDS as u64 + 200);
    let reader = app.reader.clone().expect("a reader");
    assert!(reader.seal_next().expect("sealed"), "there is enough to seal");
    let head = app.app.engine().world().head;
    drop(app);

    // The restart drops the sealed rows and begins from the sealed world.
    let app = place.open();
    assert!(app.app.engine().world().head > head);
    for (seq, hash) in seen {
        let past = app.ask(Principal::Human, "log_replay", json!({ "at": seq })).expect("past");
        assert_eq!((past["seq"].as_u64(), &past["hash"]), (Some(seq), &hash));
    }
    let verified = app.ask(Principal::Human, "log_verify", json!({})).expect("as written");
    assert_eq!(verified["records"].as_u64(), Some(app.app.engine().world().head));
    let mut numbers: Vec<u64> = Vec::new();
    while numbers.len() < 10_000 {
        let after = numbers.last().copied().unwrap_or(0);
        let limit = 10_000 - numbers.len();
        let page =
            app.ask(Principal::Human, "log", json!({ "after": after, "limit": limit })).expect("a page");
        let entries = page["entries"].as_array().expect("entries");
        assert!(!entries.is_empty(), "nothing after {after}");
        numbers.extend(entries.iter().filter_map(|entry| entry["seq"].as_u64()));
    }
    let gap = numbers.iter().zip(1..).find(|(number, expected)| *number != expected);
    assert_eq!(gap, None, "gap-free across the seam");
}

#[test]
fn entries_are_found_by_agent_type_and_time() {
    let place = Place::new();
    let app = place.open();
    let (ann, bob) = (app.join("ann"), app.join("bob"));
    for (who, path) in [(ann, "a"), (bob, "b"), (ann, "c")] {
        app.ask(who, "lock", json!({ "paths": [path], "reason": "key sk-abcDEF0123456789xyz" }))
            .expect("granted");
    }
    let count = |filter| {
        let page = app.ask(Principal::Human, "log", filter).expect("a page");
        page["entries"].as_array().expect("entries").len()
    };
    assert_eq!(count(json!({ "type": "lock_acquired" })), 3);
    assert_eq!(count(json!({ "agent": "ann", "type": "lock:acquired" })), 2);
    assert_eq!(count(json!({ "agentId": "bob", "type": "lock_acquired" })), 1);
    assert_eq!(count(json!({ "limit": 2 })), 2);
    assert_eq!(count(json!({ "since": app.app.engine().world().head.to_string() })), 1);
    assert_eq!(app.ask(Principal::Human, "log", json!({ "limit": 0 })), Err("bad_input".into()));
    let page = app.ask(Principal::Human, "log", json!({})).expect("a page").to_string();
    assert!(!page.contains("abcDEF0123456789"), "secrets are taken out before they are stored");
}

#[test]
fn a_second_writer_is_fenced_off() {
    let place = Place::new();
    let (zombie, app) = (place.open(), place.open());
    let ann = app.join("ann");
    let late =
        zombie.ask(Principal::Human, "agent_join", json!({ "name": "late" })).expect_err("the log moved on");
    assert!(late.contains("another server"), "{late}");
    assert!(app.ask(ann, "lock", json!({ "paths": ["src/a.rs"] })).is_ok(), "the newer one goes on");
}

#[test]
fn a_log_of_a_newer_program_is_refused() {
    let place = Place::new();
    drop(place.open());
    let database = rusqlite::Connection::open(place.home().join("log.db")).expect("opens");
    database.pragma_update(None, "user_version", 99).expect("set");
    drop(database);
    let problem = SqliteLog::open(&place.home(), Default::default()).err().expect("refused");
    assert!(problem.contains("newer comity"), "{problem}");
}

#[test]
fn what_the_settings_do_not_keep_goes_and_the_rest_is_proven_and_looked_back_at() {
    let place = Place::new();
    let app = place.open();
    app.join("ann");
    let reader = app.reader.clone().expect("a reader");
    let segment = SEGMENT_RECORDS as u64;
    fill(&app, 3 * segment + 200);
    let past = app.ask(Principal::Human, "log_replay", json!({ "at": 2 * segment + 50 })).expect("past");
    while reader.seal_next().expect("sealed") {}
    assert_eq!(reader.segments().ranges().expect("ranges").len(), 3);
    assert_eq!(reader.segments().keep_newest(5).expect("kept"), 0, "there are fewer");
    assert_eq!(reader.segments().keep_newest(1).expect("dropped"), 2);
    assert_eq!(reader.segments().ranges().expect("ranges"), [(2 * segment + 1, 3 * segment)]);
    // What is sealed is in the table too, until it is quiet.
    app.app.engine().drop_all_sealed();
    let look = |at: u64| app.ask(Principal::Human, "log_replay", json!({ "at": at }));
    assert_eq!(look(2 * segment + 50).expect("past")["hash"], past["hash"], "what is kept is exact");
    assert!(look(segment).expect_err("gone").starts_with("not_found"));
    let proven = app.ask(Principal::Human, "log_verify", json!({})).expect("the chain holds from there");
    assert_eq!(proven["first"], 2 * segment + 1);
    drop((app, reader));
    let app = place.open();
    assert!(app.app.engine().world().head > 3 * segment, "and a start needs no more than that");
}

#[test]
fn what_is_sealed_stays_in_the_table_while_the_segments_are_away() {
    let place = Place::new();
    let app = place.open();
    let reader = app.reader.clone().expect("a reader");
    fill(&app, SEGMENT_RECORDS as u64 + 200);
    assert_eq!(reader.seal_next(), Ok(true));
    let (ledger, away) = (place.home().join("ledger"), place.home().join("away"));
    std::fs::rename(&ledger, &away).expect("moved");
    app.app.engine().drop_all_sealed();
    let facts = app.facts();
    drop((app, reader));
    let StartPoint { world, .. } = SqliteLog::open(&place.home(), Default::default()).expect("a start");
    let there = serde_json::to_string(&comity_core::snapshot::Snapshot::of(&world)).expect("JSON");
    assert_eq!(there, facts, "all of it is in the table still");
}

#[test]
fn a_backup_has_the_sealed_parts_too() {
    let place = Place::new();
    let app = place.open();
    let segment = SEGMENT_RECORDS as u64;
    fill(&app, 3 * segment + 200);
    let reader = app.reader.clone().expect("a reader");
    while reader.seal_next().expect("sealed") {}
    assert_eq!(reader.segments().keep_newest(2).expect("dropped"), 1);
    app.app.engine().drop_all_sealed();
    let (facts, proven) = (app.facts(), app.ask(Principal::Human, "log_verify", json!({})).expect("proven"));
    let file = place.dir.path().join("backup");
    let made = comity_app::log::back_up(&place.home(), &file).expect("a backup");
    assert_eq!((Some(made.verified.records), made.verified.first), (proven["records"].as_u64(), segment + 1));
    let other = Place::new();
    comity_app::log::restore(&other.home(), &file).expect("put back");
    let StartPoint { world, .. } = SqliteLog::open(&other.home(), Default::default()).expect("a start");
    let there = serde_json::to_string(&comity_core::snapshot::Snapshot::of(&world)).expect("JSON");
    assert_eq!(there, facts, "the world is the same");
    let again = other.open().ask(Principal::Human, "log_verify", json!({})).expect("proven");
    assert_eq!(again["records"].as_u64(), proven["records"].as_u64().map(|records| records + 1));
}

#[test]
fn who_is_killed_again_and_again_starts_with_few_records_that_are_not_sealed() {
    let place = Place::new();
    let app = place.open();
    fill(&app, 25_000);
    let reader = app.reader.clone().expect("a reader");
    assert_eq!(reader.segments().sealed_up_to(), 0);
    // Nothing is written from here on: it is not its first quiet moment that does it.
    let house = app.app.engine().run_housekeeping(Arc::clone(&reader), None).expect("a thread");
    let begun = Instant::now();
    while reader.segments().sealed_up_to() == 0 {
        assert!(begun.elapsed() < PATIENCE, "nothing was sealed");
        std::thread::yield_now();
    }
    app.app.engine().stop();
    house.join().expect("it ends with the engine");
}

#[test]
fn a_server_whose_directory_was_moved_writes_nothing_into_its_successors() {
    let place = Place::new();
    let stale = place.open();
    fill(&stale, 25_000);
    let moved = place.home().with_extension("old");
    std::fs::rename(place.home(), &moved).expect("moved");
    std::fs::create_dir(place.home()).expect("made");
    let successor = place.open();
    successor.join("bob");
    let files = || {
        let mut files: Vec<_> = ["", "ledger"]
            .iter()
            .flat_map(|dir| std::fs::read_dir(place.home().join(dir)).expect("read"))
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        files
    };
    let before = files();
    let reader = stale.reader.clone().expect("a reader");
    assert_eq!(reader.seal_next(), Ok(true), "into its own");
    assert_eq!(reader.seal_next(), Ok(true));
    assert_eq!(reader.segments().keep_newest(1), Ok(1));
    assert_eq!(reader.segments().ranges().expect("read").len(), 1);
    // So many that the ceiling of fences has to be raised.
    let raised = comity_core::Fence(1 << 60);
    let start =
        Ask::Server(ServerAsk::Start { fence_floor: raised, version: "1".into(), boot: None, uptime: None });
    stale.app.engine().ask(Principal::System, start).expect("written");
    let file = place.repo().join("src/a.rs");
    std::fs::write(&file, "x").expect("written");
    let content = comity_app::contents::StoredContent::read(&file).expect("read").expect("a content");
    stale.app.contents().keep(&content);
    assert_eq!(files(), before);
    assert!(moved.join(format!("contents/{}", content.hash)).exists());
    assert!(successor.ask(Principal::Human, "log_verify", json!({})).is_ok());
}
