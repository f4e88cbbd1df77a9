//! Firefox that hangs, ends or is not there, and who waits for it meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::wire::{No, Wire};
use crate::support::{eventually, has_ended, kill};
use crate::{Asker, firefox, page, place, tabs};

/// A process that does nothing until this goes.
struct Frozen(u32);

impl Frozen {
    fn freeze(pid: u32) -> Frozen {
        kill(pid, Signal::STOP);
        Frozen(pid)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        kill(self.0, Signal::CONT);
    }
}

#[test]
fn a_firefox_that_hangs_holds_up_nobody_longer_than_it_wants() {
    if crate::support::lacks_firefox("a_firefox_that_hangs_holds_up_nobody_longer_than_it_wants") {
        return;
    }
    let place = place(4);
    let (ann, bob, cid) =
        (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"), Asker::joins(&place, "cid"));
    ann.opens("about:blank");
    let mut log = place.follow_on();
    let frozen = Frozen::freeze(firefox(&place).expect("a browser"));
    std::thread::scope(|scope| {
        let patient = scope.spawn(|| bob.ask("tab_open", json!({ "timeout": 25_000 })));
        let taken = log.until_action("slot_taken");
        let tab = taken["details"]["slot"].clone();
        // Another call for the same tab, and one for a tab that wakes whoever looks after them all.
        for input in [
            ("tab_read", json!({ "tabId": tab, "timeout": 5_000 })),
            ("tab_open", json!({ "timeout": 5_000 })),
        ] {
            let who = if input.0 == "tab_read" { &bob } else { &cid };
            let no = who.ask(input.0, input.1).expect_err("nothing answers");
            assert_eq!(no["code"], "timeout", "{no}");
        }
        // What has nothing to do with the browser goes on.
        cid.get("lock", json!({ "paths": ["src/a.rs"] }));
        assert!(!patient.is_finished(), "the first one still waits");
        drop(frozen);
        patient.join().expect("no panic").expect("it is opened in the end");
    });
    assert_eq!(tabs(&place).len(), 2, "what could not be opened is nobody's");
}

#[test]
fn without_firefox_it_is_said_so_and_who_waits_is_served() {
    let place = place(1);
    place.set("[browser]\ntabs = 1\npath = \"/nowhere/firefox\"\n");
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    for who in [&ann, &bob] {
        let no = who.ask("tab_open", json!({ "wait": "30s" })).expect_err("there is none");
        assert_eq!(no["code"], "no_browser", "{no}");
        assert!(no["hint"].as_str().is_some_and(|hint| hint.contains("browser.path")), "{no}");
    }
    assert!(tabs(&place).is_empty());
}

#[test]
fn everybodys_pages_come_back_however_busy_one_of_them_is() {
    if crate::support::lacks_firefox("everybodys_pages_come_back_however_busy_one_of_them_is") {
        return;
    }
    let place = place(4);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let (busy, quiet) = (ann.opens(&page("busy", "white")), bob.opens(&page("quiet", "white")));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut wire = Wire::connect(&place).asking_as(&ann.agent);
                while !is_over.load(Ordering::Relaxed) {
                    match wire.ask("tab_evaluate", json!({ "tabId": busy, "script": "1" })) {
                        Ok(_) | Err(No::Refused(_)) => {}
                        Err(No::Broken(error)) => panic!("{error}"),
                    }
                }
            });
        }
        let again = |count: usize| {
            let of_bob = |one: &&Value| one["details"]["slot"] == quiet && one["details"]["reopened"] == true;
            place.log_of("slot_noted").iter().filter(of_bob).count() >= count
        };
        for round in 1..=3 {
            kill(firefox(&place).expect("a browser"), Signal::KILL);
            eventually("the page of who did nothing", || again(round));
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_server_that_stops_while_firefox_starts_leaves_none() {
    if crate::support::lacks_firefox("a_server_that_stops_while_firefox_starts_leaves_none") {
        return;
    }
    let place = place(2);
    let ann = Asker::joins(&place, "ann");
    let server = place.server().expect("a server");
    let mut log = place.follow_on();
    let opening = place.start(&mut place.comity_as(&ann.agent, &["tab", "open", "--json"]));
    log.until_action("slot_taken");
    eventually("Firefox starts", || firefox(&place).is_some());
    let started = firefox(&place).expect("it was there");
    drop(opening);
    place.json(&["down"]);
    assert!(has_ended(server, crate::support::PATIENCE), "the server stops");
    assert!(has_ended(started, Duration::ZERO), "Firefox outlives a server that was told to stop");
}

#[test]
fn a_repeated_act_is_answered_and_not_done_again() {
    if crate::support::lacks_firefox("a_repeated_act_is_answered_and_not_done_again") {
        return;
    }
    let place = place(2);
    let ann = Asker::joins(&place, "ann");
    let tab = ann.opens(&page("shop", "white"));
    let pay = json!({ "tabId": tab, "script": "window.paid = (window.paid ?? 0) + 1", "inPage": true });
    let slow = json!({
        "tabId": tab, "inPage": true,
        "script": "new Promise(done => { window.paid += 1; setTimeout(() => done(window.paid), 1000) })",
    });
    let ask = |input: &Value, key: &str| {
        Wire::connect(&place).asking_as(&ann.agent).ask_with_key("tab_evaluate", input.clone(), Some(key))
    };
    let first = ask(&pay, "one").expect("paid");
    assert_eq!((&first["value"], ask(&pay, "one").expect("answered")), (&json!(1), first.clone()));
    assert_eq!(ask(&pay, "two").expect("another key is another act")["value"], 2);
    // A repeat while the first one runs waits for it.
    std::thread::scope(|scope| {
        let asks: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&slow, "three").expect("answered"))).collect();
        for asked in asks {
            assert_eq!(asked.join().expect("no panic")["value"], 3);
        }
    });
    // Opening is repeated with the same tab.
    let open = |key| {
        let mut wire = Wire::connect(&place).asking_as(&ann.agent);
        wire.ask_with_key("tab_open", json!({}), Some(key)).expect("opened")["tabId"].clone()
    };
    assert_eq!(open("four"), open("four"));
    assert_eq!(tabs(&place).len(), 2);
}
