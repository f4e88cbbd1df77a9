//! Pages that want more than they may have.

use serde_json::json;

use crate::{Asker, place};

#[test]
fn contexts_with_names_are_opened_by_many_at_once() {
    let place = place(8);
    let agents: Vec<Asker<'_>> =
        ["ann", "bob", "cid", "dan"].iter().map(|name| Asker::joins(&place, name)).collect();
    agents[0].opens("about:blank");
    for round in 0..3 {
        std::thread::scope(|scope| {
            for (number, agent) in agents.iter().enumerate() {
                scope.spawn(move || {
                    let input =
                        json!({ "url": "data:text/html,x", "context": format!("login:{round}-{number}") });
                    let opened = agent.get("tab_open", input);
                    let script = json!({ "tabId": opened["tabId"], "script": "1 + 1" });
                    assert_eq!(agent.get("tab_evaluate", script)["value"], 2);
                    agent.get("tab_close", json!({ "tabId": opened["tabId"] }));
                });
            }
        });
    }
    assert!(place.log_of("slot_noted").iter().all(|one| one["details"]["reopened"] != true), "none was lost");
}

#[test]
fn cookies_stay_ones_own_after_a_tab_was_handed_over_and_the_server_was_killed() {
    let place = place(6);
    let site = crate::support::site::Site::start();
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let cookie = |who: &Asker<'_>, tab: u64, script: &str| {
        who.get("tab_evaluate", json!({ "tabId": tab, "script": script, "inPage": true }))["value"].clone()
    };
    let (given, kept) = (ann.opens(site.url()), ann.opens(site.url()));
    cookie(&ann, kept, "document.cookie = 'who=ann'");
    ann.get("tab_handover", json!({ "tabId": given, "to": "bob" }));
    place.kill_server();
    let new = bob.opens(site.url());
    assert_eq!(cookie(&bob, new, "document.cookie"), "", "a new tab has none of somebody else's");
    assert_eq!(cookie(&bob, given, "document.cookie"), "who=ann", "the one that was given has them");
    let own = ann.opens(site.url());
    assert!(["", "who=ann"].iter().any(|cookies| cookie(&ann, own, "document.cookie") == *cookies));
}
