//! An agent in plan mode looks at pages, and changes nothing through them.

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
    let tab = ann.opens(&page("shop", "white"));
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
    for (op, input) in looks {
        ann.get(op, of(input));
    }
    let acts = [
        ("tab_click", json!({ "selector": "#q" })),
        ("tab_type", json!({ "selector": "#q", "text": "x" })),
        ("tab_press", json!({ "key": "Enter" })),
        ("tab_evaluate", json!({ "script": "document.title = 'bought'" })),
        ("tab_dialog", json!({ "accept": true })),
        ("tab_share", json!({ "with": "bob" })),
        ("tab_unshare", json!({ "with": "bob" })),
        ("tab_handover", json!({ "to": "bob" })),
    ];
    for (op, input) in &acts {
        let no = ann.ask(op, of(input.clone())).expect_err(op);
        assert_eq!(no["code"], "not_allowed", "{op}: {no}");
        assert!(no["message"].as_str().is_some_and(|text| text.contains("plan mode")), "{op}: {no}");
        assert!(no["hint"].as_str().is_some_and(|hint| hint.contains("plan")), "{op}: {no}");
    }
    place.json(&["mode", "ann", "full"]);
    assert_eq!(ann.title(tab), "another", "nothing was done to it");
    ann.get(acts[1].0, of(acts[1].1.clone()));
}
