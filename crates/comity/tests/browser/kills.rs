//! kill -9 of an agent, of the server and of Firefox, each while tabs are opening.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{PATIENCE, Place, eventually, has_ended, kill};
use crate::{Asker, firefox, page, place, really_open, tabs};

/// Opens tabs from several threads; calls `then` while they are being opened.
fn while_opening(agents: &[&Asker<'_>], each: usize, then: impl FnOnce()) {
    std::thread::scope(|scope| {
        for agent in agents {
            for number in 0..each {
                scope.spawn(move || {
                    let url = page(&format!("page {number}"), "white");
                    // Whoever is cut off asks again, as a client does.
                    let mut command = agent.place.comity_as(&agent.agent, &["tab", "open", &url, "--json"]);
                    command.output().expect("comity runs")
                });
            }
        }
        then();
    });
}

#[test]
fn a_killed_agent_leaves_no_tab_and_whoever_waits_is_served() {
    if crate::support::lacks_firefox("a_killed_agent_leaves_no_tab_and_whoever_waits_is_served") {
        return;
    }
    let place = place(3);
    let bob = Asker::joins(&place, "bob");
    let mut log = place.follow_on();
    // The program of the agent is a shell by another name.
    let program = place.dir().join("robot");
    place.copy_program("/bin/sh", &program);
    let line = format!("'{}' mcp --browser; true", crate::support::BINARY);
    let mut mcp = Mcp::start(place.program(program).arg("-c").arg(line));
    for _ in 0..3 {
        mcp.begin("firefox_create_window", &json!({ "url": page("hers", "white") }));
    }
    log.until_actions("slot_taken", 3);
    let waiter = place.start(&mut place.comity_as(&bob.agent, &["tab", "open", "--wait", "5m", "--json"]));
    log.until_action("slot_queued");
    kill(mcp.pid(), Signal::KILL);
    let opened = waiter.finish().json();
    assert_eq!(opened["tabCount"], 1, "{opened}");
    assert_eq!(tabs(&place).iter().map(|(_, owner)| owner.as_str()).collect::<Vec<_>>(), ["bob"]);
    bob.get("tab_read", json!({ "tabId": opened["tabId"] }));
    place.kill_server();
    assert_eq!(really_open(&place), 1, "hers are closed in Firefox, too");
}

#[test]
fn a_killed_server_is_followed_by_one_that_takes_the_browser_over() {
    if crate::support::lacks_firefox("a_killed_server_is_followed_by_one_that_takes_the_browser_over") {
        return;
    }
    let place = place(6);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let known = ann.opens(&page("known", "white"));
    ann.get("tab_type", json!({ "tabId": known, "text": "half", "selector": "#q" }));
    let before = firefox(&place).expect("a browser");
    let mut log = place.follow_on();
    while_opening(&[&ann, &bob], 2, || {
        log.until_action("slot_taken");
        drop(log);
        place.kill_server();
    });
    // The page is the same one, and nothing that was typed is lost.
    let typed = json!({ "tabId": known, "script": "document.querySelector('#q').value" });
    assert_eq!(ann.get("tab_evaluate", typed)["value"], "half");
    assert_eq!(firefox(&place), Some(before), "it is the same Firefox");
    settled(&place, &[&ann, &bob]);
}

#[test]
fn a_killed_firefox_is_started_again_with_everybodys_pages() {
    if crate::support::lacks_firefox("a_killed_firefox_is_started_again_with_everybodys_pages") {
        return;
    }
    let place = place(6);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let known = ann.opens(&page("known", "white"));
    let before = firefox(&place).expect("a browser");
    let mut log = place.follow_on();
    while_opening(&[&ann, &bob], 2, || {
        log.until_action("slot_taken");
        kill(before, Signal::KILL);
    });
    eventually("another Firefox", || firefox(&place).is_some_and(|now| now != before));
    assert_eq!(ann.title(known), "known", "its tab is there again, under its number");
    let notices = place.log_of("slot_noted").iter().filter(|one| one["details"]["reopened"] == true).count();
    assert!(notices >= 1, "its owner was told");
    settled(&place, &[&ann, &bob]);
}

#[test]
fn what_a_killed_server_did_in_a_page_is_not_done_again() {
    if crate::support::lacks_firefox("what_a_killed_server_did_in_a_page_is_not_done_again") {
        return;
    }
    let place = place(2);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let (hers, his) = (ann.opens(&page("hers", "white")), bob.opens(&page("his", "white")));
    // Its deed is done at once, and it does not end.
    let script = "document.title += '!'; new Promise(() => {})";
    let mut mcp = Mcp::start(&mut place.comity_as(&bob.agent, &["mcp", "--browser"]));
    let act = place
        .start(&mut place.comity_as(&ann.agent, &["tab", "evaluate", &hers.to_string(), script, "--json"]));
    let call = mcp.begin("firefox_evaluate", &json!({ "tabId": his, "script": script }));
    eventually("both deeds are done", || {
        let list = place.json(&["tab", "list"]);
        let titles: Vec<&Value> =
            list["tabs"].as_array().expect("tabs").iter().map(|tab| &tab["title"]).collect();
        titles == ["hers!", "his!"]
    });
    place.kill_server();
    let no = act.finish().refusal();
    assert_eq!(no["code"], "outcome_unknown", "{no}");
    assert!(no["hint"].as_str().is_some_and(|hint| hint.contains("tab state")), "{no}");
    let told = mcp.result(call);
    assert_eq!(told["isError"], true, "{told}");
    assert!(told["content"][0]["text"].as_str().is_some_and(|text| text.contains("perhaps not")), "{told}");
    assert_eq!((ann.title(hers), bob.title(his)), ("hers!".into(), "his!".into()), "each was done once");
}

#[test]
fn a_server_that_a_signal_ends_takes_firefox_with_it() {
    if crate::support::lacks_firefox("a_server_that_a_signal_ends_takes_firefox_with_it") {
        return;
    }
    let place = place(2);
    let ann = Asker::joins(&place, "ann");
    ann.opens(&page("known", "white"));
    let (server, browser) = (place.server().expect("a server"), firefox(&place).expect("a browser"));
    kill(server, Signal::TERM);
    assert!(has_ended(server, PATIENCE), "the server goes on");
    assert!(has_ended(browser, Duration::ZERO), "Firefox is left, and nobody will ever end it");
}

/// Every tab has an owner and answers to it, there are no more than there can be, and Firefox has just these.
fn settled(place: &Place, agents: &[&Asker<'_>]) {
    let all = tabs(place);
    assert!(all.len() <= 6, "{all:?}");
    for (tab, owner) in &all {
        let names: Vec<&str> = ["ann", "bob"].into_iter().filter(|name| name == owner).collect();
        let [name] = names[..] else { panic!("tab {tab} is {owner}'s") };
        let agent = agents[usize::from(name == "bob")];
        let read: Value = agent.get("tab_evaluate", json!({ "tabId": tab, "script": "1 + 1" }));
        assert_eq!(read["value"], 2, "tab {tab}");
    }
    let list = place.json(&["tab", "list"]);
    assert!(list["tabs"].as_array().expect("tabs").iter().all(|tab| tab["state"] == "open"), "{list}");
    place.kill_server();
    assert_eq!(
        really_open(place),
        all.len(),
        "nothing was opened twice, and nothing is left without an owner"
    );
}
