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
