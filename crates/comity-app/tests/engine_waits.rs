//! The engine on both logs: batches, waits and how they end, what nobody came back for, and who reads along.

mod support;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use comity_app::engine::WaitPlace;
use comity_app::log::MemoryLog;
use comity_app::page_size::PageSize;
use comity_app::{Caller, Failure, OperationCall, Rendered, Responder};
use comity_core::{Millis, Principal, limits};
use serde_json::{Value, json};
use support::{App, Place};

/// A state directory with one of the logs; a server can be started on it again and again.
struct Store {
    place: Place,
    memory: Option<MemoryLog>,
}

impl Store {
    fn open(&self) -> App {
        match &self.memory {
            Some(log) => self.place.open_on(log),
            None => self.place.open(),
        }
    }
}

/// Runs a test on each log.
fn for_both(test: impl Fn(&Store)) {
    test(&Store { place: Place::new(), memory: Some(MemoryLog::default()) });
    test(&Store { place: Place::new(), memory: None });
}

/// Hears where a call waits, and its answer or the code of its refusal.
struct Ears {
    places: Sender<WaitPlace>,
    answers: Sender<Result<Value, String>>,
}

/// A call that was asked.
struct Asked {
    places: Receiver<WaitPlace>,
    answers: Receiver<Result<Value, String>>,
}

impl Responder for Ears {
    fn parked(&mut self, place: WaitPlace) {
        let _ = self.places.send(place);
    }

    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, _: Vec<String>) {
        let _ = self.answers.send(match output {
            Ok(rendered) => Ok(serde_json::from_str(&rendered.json).expect("JSON")),
            Err(Failure::Refused(refusal)) => Err(refusal.code().into()),
            Err(Failure::Fault(problem)) => Err(problem),
        });
    }
}

/// Hands a call to the engine, and lets nothing run yet.
fn submit(app: &App, store: &Store, who: Principal, op: &str, input: Value, key: Option<&str>) -> Asked {
    let ((places, waits), (answers, answered)) = (channel(), channel());
    let call = OperationCall { op, input: input.into(), key, ..OperationCall::default() };
    let caller = Caller::new(who, Some(store.place.repo()));
    app.app.call(&caller, call, Box::new(Ears { places, answers }));
    Asked { places: waits, answers: answered }
}

fn wait_for_lock(app: &App, store: &Store, who: Principal) -> Asked {
    let input = json!({ "paths": ["src/a.rs"], "wait": "30s" });
    let asked = submit(app, store, who, "lock", input, Some("the same call"));
    app.app.engine().run_pending();
    asked
}

impl Asked {
    fn answer(&self) -> Option<Result<Value, String>> {
        self.answers.try_recv().ok()
    }

    fn place(&self) -> WaitPlace {
        self.places.try_recv().expect("it waits")
    }
}

fn lock(app: &App, who: Principal) -> u64 {
    let granted = app.ask(who, "lock", json!({ "paths": ["src/a.rs"] })).expect("granted");
    granted["locks"][0]["fence"].as_u64().expect("a fence")
}

fn unlock(app: &App, who: Principal) {
    app.ask(who, "unlock", json!({ "all": true })).expect("given back");
}

fn waits(app: &App) -> usize {
    app.app.engine().world().locks.waits().count()
}

fn holder(app: &App) -> Option<Principal> {
    app.app.engine().world().locks.iter().next().map(|lock| lock.holder)
}

#[test]
fn a_batch_decides_in_order_and_answers_all() {
    for_both(|store| {
        let app = store.open();
        let agents: Vec<Principal> = (0..4).map(|number| app.join(&format!("agent{number}"))).collect();
        let ask = |who: &Principal| submit(&app, store, *who, "lock", json!({ "paths": ["src/a.rs"] }), None);
        let asked: Vec<Asked> = agents.iter().map(ask).collect();
        assert!(asked.iter().all(|asked| asked.answer().is_none()), "nothing was decided yet");
        app.app.engine().run_pending();
        let codes = asked.iter().map(|asked| asked.answer().expect("an answer").err());
        let locked = Some("locked".to_owned());
        assert_eq!(codes.collect::<Vec<_>>(), [None, locked.clone(), locked.clone(), locked]);
        assert_eq!(holder(&app), Some(agents[0]));
    });
}

#[test]
fn who_waits_is_answered_by_the_batch_that_makes_room() {
    for_both(|store| {
        let app = store.open();
        let (ann, bob) = (app.join("ann"), app.join("bob"));
        let before = lock(&app, ann);
        let asked = wait_for_lock(&app, store, bob);
        assert!(matches!(asked.place(), WaitPlace::InLine(_)) && asked.answer().is_none());
        unlock(&app, ann);
        let granted = asked.answer().expect("an answer").expect("granted");
        assert!(granted["locks"][0]["fence"].as_u64() > Some(before), "{granted}");
        assert_eq!((holder(&app), waits(&app)), (Some(bob), 0));
    });
}

#[test]
fn a_wait_ends_when_its_time_is_up_and_not_before() {
    for_both(|store| {
        let app = store.open();
        let (ann, bob) = (app.join("ann"), app.join("bob"));
        lock(&app, ann);
        let asked = wait_for_lock(&app, store, bob);
        app.pass(Millis::seconds(29));
        assert_eq!(asked.answer(), None);
        app.pass(Millis::seconds(1));
        assert_eq!(asked.answer(), Some(Err("wait_timed_out".into())));
        assert_eq!((holder(&app), waits(&app)), (Some(ann), 0));
    });
}

#[test]
fn who_gives_up_gets_nothing_later() {
    for_both(|store| {
        let app = store.open();
        let (ann, bob) = (app.join("ann"), app.join("bob"));
        lock(&app, ann);
        let asked = wait_for_lock(&app, store, bob);
        app.app.engine().give_up(bob, asked.place());
        app.app.engine().run_pending();
        assert_eq!(waits(&app), 0);
        unlock(&app, ann);
        assert_eq!(holder(&app), None);
        assert!(asked.answer().is_none_or(|answer| answer.is_err()));
    });
}

#[test]
fn a_wait_outlives_its_server_for_who_comes_back() {
    for_both(|store| {
        let app = store.open();
        let (ann, bob) = (app.join("ann"), app.join("bob"));
        lock(&app, ann);
        let lost = wait_for_lock(&app, store, bob);
        lost.place();
        drop(app);
        let app = store.open();
        assert_eq!(waits(&app), 1);
        let again = wait_for_lock(&app, store, bob);
        assert_eq!((again.answer(), waits(&app)), (None, 1), "it waits in its old place");
        app.pass(limits::DISCONNECT_GRACE);
        unlock(&app, ann);
        assert!(again.answer().is_some_and(|answer| answer.is_ok()) && holder(&app) == Some(bob));
    });
}

#[test]
fn what_nobody_comes_back_for_ends() {
    for_both(|store| {
        let app = store.open();
        let (ann, bob) = (app.join("ann"), app.join("bob"));
        lock(&app, ann);
        wait_for_lock(&app, store, bob).place();
        drop(app);
        let app = store.open();
        // Granted while nobody was there to hear of it.
        unlock(&app, ann);
        assert_eq!((holder(&app), waits(&app)), (Some(bob), 0));
        app.pass(Millis(limits::DISCONNECT_GRACE.0 - 1));
        assert_eq!(holder(&app), Some(bob), "it may still come back");
        app.pass(Millis(1));
        assert_eq!(holder(&app), None, "given back");
    });
}

#[test]
fn subscribers_read_by_cursor_and_miss_nothing() {
    for_both(|store| {
        let app = store.open();
        let ann = app.join("ann");
        let feed = app.app.engine().feed();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let heard = heads.clone();
        let waker = feed.wake(Arc::new(move |head| heard.lock().expect("free").push(head)));
        let start = feed.head();
        for _ in 0..20 {
            lock(&app, ann);
            unlock(&app, ann);
        }
        feed.forget(waker);
        lock(&app, ann);
        let heads = heads.lock().expect("free").clone();
        assert!(heads.windows(2).all(|pair| pair[0] < pair[1]), "each wake-up says more: {heads:?}");
        assert!(heads.last().is_some_and(|last| *last < feed.head()), "and none comes after the end");
        // Late or not, in small pages or not, everybody reads the same.
        let (mut cursor, mut read) = (start, Vec::new());
        while let Some(page) = feed.recent(cursor, PageSize { records: 3, bytes: usize::MAX }) {
            let Some(last) = page.last() else { break };
            assert!(page.len() <= 3);
            cursor = last.seq;
            read.extend(page.iter().map(|record| record.seq));
        }
        assert_eq!(read, (start + 1..=feed.head()).collect::<Vec<_>>());
    });
}
