//! Waiting for a tab: whoever is first in line gets the next one, by a push; who gives up or ends waits no more.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Running, kill};
use crate::{Asker, page, place, really_open, tabs};

#[test]
fn every_way_of_freeing_serves_the_line() {
    if crate::support::lacks_firefox("every_way_of_freeing_serves_the_line") {
        return;
    }
    let place = place(2);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let mut log = place.follow_on();
    let first = ann.opens(&page("one", "white"));
    ann.opens(&page("two", "white"));
    let mut waits = |who: &Asker<'_>| -> Running {
        let command = &mut place.comity_as(&who.agent, &["tab", "open", "--wait", "5m", "--json"]);
        let waiter = place.start(command);
        log.until_action("slot_queued");
        waiter
    };
    // By closing one.
    let waiter = waits(&bob);
    ann.get("tab_close", json!({ "tabId": first }));
    let opened = waiter.finish().json();
    assert_eq!(opened["tabCount"], 2, "{opened}");
    // Who gives up is not served.
    let gone = waits(&bob);
    kill(gone.pid(), Signal::INT);
    assert_ne!(gone.finish().code, 0);
    crate::support::eventually("nobody waits", || place.json(&["tab", "list"])["waiting"].is_null());
    // By the end of the owner.
    let waiter = waits(&bob);
    place.json(&["agent", "bye", "ann"]);
    waiter.finish().json();
    assert_eq!(tabs(&place).iter().filter(|(_, owner)| owner == "bob").count(), 2);
    // By asking politely: the owner gives up its oldest for a request, which is told of it.
    let cid = Asker::joins(&place, "cid");
    assert_eq!(cid.get("tab_request", json!({}))["position"], 1);
    assert_eq!(bob.get("tab_grant", json!({}))["granted"], true);
    let kept = cid.get("tab_requests", json!({}));
    assert_eq!((&kept["youHaveReservation"], &kept["yourTabCount"]), (&json!(true), &json!(0)), "{kept}");
    assert!(kept["reservationExpiresInMs"].as_u64().is_some_and(|ms| ms <= 30_000));
    // It is kept for cid alone.
    assert_eq!(bob.ask("tab_open", json!({})).expect_err("kept for somebody else")["code"], "pool_full");
    cid.opens(&page("mine", "white"));
    assert_eq!(tabs(&place).len(), 2);
}

#[test]
fn ones_own_oldest_goes_only_when_it_is_asked_for() {
    if crate::support::lacks_firefox("ones_own_oldest_goes_only_when_it_is_asked_for") {
        return;
    }
    let place = place(2);
    let ann = Asker::joins(&place, "ann");
    let oldest = ann.opens(&page("one", "white"));
    ann.opens(&page("two", "white"));
    assert_eq!(ann.ask("tab_open", json!({})).expect_err("full")["code"], "pool_full");
    assert_eq!(ann.title(oldest), "one", "nothing was taken silently");
    let opened = ann.get("tab_open", json!({ "evictOldest": true }));
    assert_eq!(opened["closedOldestTab"]["tabId"], oldest, "{opened}");
    assert_eq!(ann.ask("tab_read", json!({ "tabId": oldest })).expect_err("closed")["code"], "not_found");
    place.kill_server();
    assert_eq!(really_open(&place), 2, "it is closed in Firefox, too");
}

#[test]
fn what_the_settings_forbid_is_refused_and_takes_no_tab() {
    if crate::support::lacks_firefox("what_the_settings_forbid_is_refused_and_takes_no_tab") {
        return;
    }
    let place = place(2);
    place.set("[browser]\ntabs = 2\ndeny = [\"*.example.com\", \"example.com\"]\nevaluate = false\n");
    let ann = Asker::joins(&place, "ann");
    for url in ["http://www.example.com/", "http://EXAMPLE.com./", "file:///etc/passwd", "javascript:1"] {
        let no = ann.ask("tab_open", json!({ "url": url })).expect_err(url);
        assert_eq!(no["code"], "blocked", "{url}: {no}");
    }
    assert!(tabs(&place).is_empty());
    let tab = ann.opens("about:blank");
    let no = ann
        .ask("tab_navigate", json!({ "tabId": tab, "url": "http://www.example.com/" }))
        .expect_err("denied");
    assert_eq!(no["code"], "blocked", "{no}");
    let no = ann.ask("tab_evaluate", json!({ "tabId": tab, "script": "1" })).expect_err("switched off");
    assert_eq!(no["code"], "not_allowed", "{no}");
    place.set("[browser]\nallow = [\"http://not a domain/\"]\n");
    place.kill_server();
    let ran = place.run(&["up"]);
    assert!(ran.code != 0 && ran.err.contains("browser"), "a bad rule is told at the start: {ran:?}");
}
