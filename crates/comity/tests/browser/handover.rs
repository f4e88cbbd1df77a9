//! What goes along with a tab that is handed over, and what does not: cookies of later, and handles of other pages.

use serde_json::{Value, json};

use crate::support::site::Site;
use crate::{Asker, place};

fn cookie(who: &Asker<'_>, tab: u64, script: &str) -> Value {
    who.get("tab_evaluate", json!({ "tabId": tab, "script": script, "inPage": true }))["value"].clone()
}

#[test]
fn logins_are_apart_from_the_handover_on() {
    if crate::support::lacks_firefox("logins_are_apart_from_the_handover_on") {
        return;
    }
    let (place, site) = (place(8), Site::start());
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let (given, kept) = (ann.opens(site.url()), ann.opens(site.url()));
    cookie(&ann, given, "document.cookie = 'before=ann'");
    let answer = ann.get("tab_handover", json!({ "tabId": given, "to": "bob" }));
    assert_eq!(answer["sharesCookiesWith"], json!([kept]), "{answer}");
    let told = bob.get("tab_state", json!({ "tabId": given }))["remarks"].to_string();
    assert!(told.contains(&format!("tab {kept}")) && told.contains("ann"), "{told}");
    // The page keeps what it had; what its giver opens from now on has other cookies.
    assert_eq!(cookie(&bob, given, "document.cookie"), "before=ann");
    let later = ann.opens(site.url());
    assert_eq!(cookie(&ann, later, "document.cookie"), "", "a jar of its own");
    cookie(&ann, later, "document.cookie = 'later=ann'");
    assert_eq!(cookie(&bob, given, "document.cookie"), "before=ann", "her later logins are hers");
    cookie(&bob, given, "document.cookie = 'later=bob'");
    assert_eq!(cookie(&ann, later, "document.cookie"), "later=ann", "and his are his");
    // What the receiver opens has neither, and who gets the last one of a jar is told of nothing.
    let own = bob.opens(site.url());
    assert_eq!(cookie(&bob, own, "document.cookie"), "");
    ann.get("tab_close", json!({ "tabId": kept }));
    let alone = ann.get("tab_handover", json!({ "tabId": later, "to": "bob" }));
    assert!(alone["sharesCookiesWith"].is_null(), "{alone}");
    // Also when the tab that was given is closed before its giver opens the next one.
    bob.get("tab_close", json!({ "tabId": later }));
    let next = ann.opens(site.url());
    assert_eq!(cookie(&ann, next, "document.cookie"), "");
}

#[test]
fn what_an_agent_logs_into_after_a_handover_ends_with_it() {
    if crate::support::lacks_firefox("what_an_agent_logs_into_after_a_handover_ends_with_it") {
        return;
    }
    let (place, site) = (place(4), Site::start());
    let (cat, bob) = (Asker::joins(&place, "cat"), Asker::joins(&place, "bob"));
    let given = cat.opens(site.url());
    cat.get("tab_handover", json!({ "tabId": given, "to": "bob" }));
    let later = cat.opens(site.url());
    cookie(&cat, later, "document.cookie = 'later=cat'");
    place.json(&["agent", "bye", "cat"]);
    bob.get("tab_navigate", json!({ "tabId": given, "url": site.url() }));
    assert_eq!(cookie(&bob, given, "document.cookie"), "");
}

#[test]
fn a_tab_that_pages_of_its_giver_can_reach_is_not_handed_over() {
    if crate::support::lacks_firefox("a_tab_that_pages_of_its_giver_can_reach_is_not_handed_over") {
        return;
    }
    let site = Site::start();
    let place = crate::place(6);
    let (ann, _bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let first = ann.opens(site.url());
    let open = "window.other = window.open(location.href, 'other'); 1";
    ann.get("tab_evaluate", json!({ "tabId": first, "script": open, "inPage": true }));
    crate::support::eventually("a second tab", || crate::tabs(&place).len() == 2);
    let second = crate::tabs(&place).iter().map(|(tab, _)| *tab).max().expect("a tab");
    for (given, other) in [(second, first), (first, second)] {
        let no = ann.ask("tab_handover", json!({ "tabId": given, "to": "bob" })).expect_err("reachable");
        assert_eq!(no["code"], "not_allowed", "{no}");
        assert!(no["message"].as_str().is_some_and(|text| text.contains(&format!("tab {other}"))), "{no}");
    }
    ann.get("tab_close", json!({ "tabId": first }));
    ann.get("tab_handover", json!({ "tabId": second, "to": "bob" }));
}
