//! An agent in plan mode looks at pages, and changes nothing through them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{Asker, page, place};

#[test]
fn whoever_plans_looks_and_does_not_act() {
    if crate::support::lacks_firefox("whoever_plans_looks_and_does_not_act") {
        return;
    }
    let place = place(4);
    let (ann, _bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    place.json(&["mode", "ann", "plan"]);
    let opened = ann.get("tab_open", json!({ "url": page("shop", "white"), "context": "hers" }));
    let tab = opened["tabId"].as_u64().expect("a tab");
    let of = |mut input: Value| {
        input["tabId"] = tab.into();
        input
    };
    let looks = [
        ("tab_navigate", json!({ "url": page("another", "white") })),
        ("tab_read", json!({})),
        ("tab_state", json!({})),
        ("tab_element", json!({ "selector": "#q" })),
        ("tab_screenshot", json!({})),
        ("tab_scroll", json!({ "by": 10 })),
        ("tab_wait", json!({ "load": "complete" })),
        ("tab_console", json!({})),
        ("tab_network", json!({})),
    ];
    for (op, input) in &looks {
        ann.get(op, of(input.clone()));
    }
    // There is none: that is what is wrong with it.
    let no = ann.ask("tab_dialog", of(json!({ "dismiss": true }))).expect_err("no dialog");
    assert_ne!(no["code"], "not_allowed", "to dismiss is no act: {no}");
    let acts = [
        ("tab_click", json!({ "selector": "#q" })),
        ("tab_type", json!({ "selector": "#q", "text": "x" })),
        ("tab_press", json!({ "key": "Enter" })),
        ("tab_evaluate", json!({ "script": "document.title = 'bought'" })),
        ("tab_dialog", json!({ "accept": true })),
        ("tab_share", json!({ "with": "bob" })),
        ("tab_unshare", json!({ "with": "bob" })),
        ("tab_handover", json!({ "to": "bob" })),
        ("tab_admit", json!({ "context": "hers", "agent": "bob" })),
    ];
    // About one's own tabs and their number, whatever is in them; what they show is in other tests.
    let others =
        ["tab_open", "tab_list", "tab_close", "tab_request", "tab_requests", "tab_grant", "tab_downloads"];
    let tried = looks.iter().chain(&acts).map(|(op, _)| *op).chain(others);
    let all = comity_app::catalog::CATALOG.iter().map(|entry| entry.name);
    assert_eq!(
        tried.collect::<BTreeSet<_>>(),
        all.filter(|op| op.starts_with("tab_")).collect(),
        "each is an act or a look"
    );
    for (op, input) in &acts {
        let input = if *op == "tab_admit" { input.clone() } else { of(input.clone()) };
        let no = ann.ask(op, input).expect_err(op);
        assert_eq!(no["code"], "not_allowed", "{op}: {no}");
        assert!(no["message"].as_str().is_some_and(|text| text.contains("plan mode")), "{op}: {no}");
        assert!(no["hint"].as_str().is_some_and(|hint| hint.contains("plan")), "{op}: {no}");
    }
    place.json(&["mode", "ann", "full"]);
    assert_eq!(ann.title(tab), "another", "nothing was done to it");
    ann.get(acts[1].0, of(acts[1].1.clone()));
}
