//! A tab is its owner's: every command, by its owner, by somebody else, by whoever it is shared with, and after an end.

use comity_app::catalog::CATALOG;
use serde_json::{Value, json};

use crate::{Asker, page, place};

/// What a command needs besides its tab.
fn input(op: &str) -> Value {
    match op {
        "tab_navigate" => json!({ "go": "reload" }),
        "tab_element" | "tab_click" => json!({ "selector": "#q" }),
        "tab_type" => json!({ "text": "x", "selector": "#q" }),
        "tab_press" => json!({ "key": "a" }),
        "tab_scroll" => json!({ "end": "top" }),
        "tab_wait" => json!({ "load": "complete" }),
        "tab_evaluate" => json!({ "script": "1" }),
        "tab_dialog" => json!({ "accept": true }),
        "tab_handover" => json!({ "to": "bob" }),
        "tab_share" | "tab_unshare" => json!({ "with": "bob" }),
        _ => json!({}),
    }
}

/// The commands that name a tab; those that take it away come last.
fn commands() -> Vec<&'static str> {
    let names_tab = |op: &str| {
        !["tab_open", "tab_list", "tab_request", "tab_requests", "tab_grant", "tab_admit", "tab_downloads"]
            .contains(&op)
    };
    let mut ops: Vec<&str> =
        CATALOG.iter().map(|entry| entry.name).filter(|op| op.starts_with("tab_") && names_tab(op)).collect();
    ops.sort_by_key(|op| {
        ["tab_close", "tab_handover"].iter().position(|last| last == op).map_or(0, |at| at + 1)
    });
    ops
}

/// What somebody may do who only looks.
const LOOKS: [&str; 7] =
    ["tab_read", "tab_state", "tab_element", "tab_wait", "tab_screenshot", "tab_console", "tab_network"];

#[test]
fn every_command_is_the_owners_alone() {
    if crate::support::lacks_firefox("every_command_is_the_owners_alone") {
        return;
    }
    let place = place(4);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let ended = Asker::joins(&place, "cid");
    let tab = ann.opens(&page("mine", "white"));
    place.json(&["agent", "bye", "cid"]);
    let of = |op: &str, tab: u64| {
        let mut input = input(op);
        input["tabId"] = tab.into();
        input
    };
    assert_eq!(commands().len(), 18, "{:?}", commands());
    for op in commands() {
        let foreign = bob.ask(op, of(op, tab)).expect_err(op);
        assert_eq!(foreign["code"], "ownership", "{op}: {foreign}");
        let words = foreign["message"].as_str().unwrap_or_default();
        assert!(words.starts_with("OWNERSHIP: Cannot ") && words.contains(&ann.agent.id), "{op}: {words}");
        let dead = ended.ask(op, of(op, tab)).expect_err(op);
        assert_eq!(dead["code"], "agent_ended", "{op}: {dead}");
        let nobody = bob.ask(op, of(op, 99)).expect_err(op);
        assert_eq!(nobody["code"], "not_found", "{op}: {nobody}");
    }
    // Whoever it is shared with may look, and no more.
    ann.get("tab_share", json!({ "tabId": tab, "with": "bob" }));
    for op in commands() {
        match (bob.ask(op, of(op, tab)), LOOKS.contains(&op)) {
            (Ok(_), true) => {}
            (Err(error), false) if error["code"] == "ownership" => {}
            (other, _) => panic!("{op} by a viewer: {other:?}"),
        }
    }
    let list = bob.get("tab_list", json!({}));
    assert_eq!(list["tabs"][0]["title"], "mine", "a viewer sees it in the list: {list}");
    ann.get("tab_unshare", json!({ "tabId": tab, "with": "bob" }));
    assert!(bob.get("tab_list", json!({}))["tabs"][0]["url"].is_null(), "others do not");
    // The owner may do all of it.
    for op in commands() {
        let done = ann.ask(op, of(op, tab));
        let is_fine =
            done.is_ok() || (op == "tab_dialog" && done.as_ref().is_err_and(|no| no["code"] != "ownership"));
        let after_close = op == "tab_handover";
        assert!(is_fine || after_close, "{op} by its owner: {done:?}");
    }
}

#[test]
fn a_tab_goes_to_another_agent_with_its_page() {
    if crate::support::lacks_firefox("a_tab_goes_to_another_agent_with_its_page") {
        return;
    }
    let place = place(4);
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let tab = ann.opens(&page("draft", "white"));
    ann.get("tab_type", json!({ "tabId": tab, "text": "half a sentence", "selector": "#q" }));
    ann.get("tab_handover", json!({ "tabId": tab, "to": "bob", "reason": "your turn" }));
    assert_eq!(
        ann.ask("tab_read", json!({ "tabId": tab })).expect_err("not hers any more")["code"],
        "ownership"
    );
    let typed = json!({ "tabId": tab, "script": "document.querySelector('#q').value" });
    assert_eq!(bob.get("tab_evaluate", typed)["value"], "half a sentence");
    assert_eq!(place.log_of("slot_handed_over").len(), 1, "there is a trace in the log");
    // Who ends takes nothing along that is somebody else's.
    place.json(&["agent", "bye", "ann"]);
    assert_eq!(bob.title(tab), "draft");
}

#[test]
fn cookies_are_ones_own_unless_a_context_is_shared_on_purpose() {
    if crate::support::lacks_firefox("cookies_are_ones_own_unless_a_context_is_shared_on_purpose") {
        return;
    }
    let place = place(4);
    let site = crate::support::site::Site::start();
    let (ann, bob) = (Asker::joins(&place, "ann"), Asker::joins(&place, "bob"));
    let opens = |who: &Asker<'_>, context: Value| {
        let mut input = json!({ "url": site.url() });
        if !context.is_null() {
            input["context"] = context;
        }
        who.get("tab_open", input)["tabId"].as_u64().expect("a tab")
    };
    let cookie = |who: &Asker<'_>, tab: u64, script: &str| {
        who.get("tab_evaluate", json!({ "tabId": tab, "script": script, "inPage": true }))["value"].clone()
    };
    let (own, other) = (opens(&ann, Value::Null), opens(&bob, Value::Null));
    cookie(&ann, own, "document.cookie = 'who=ann'");
    assert_eq!(cookie(&ann, own, "document.cookie"), "who=ann");
    assert_eq!(cookie(&bob, other, "document.cookie"), "", "one does not see the other's");
    let one = opens(&ann, json!("login:site"));
    // Whoever made it lets others in, and so does the human.
    let wanted = json!({ "url": site.url(), "context": "login:site" });
    let no = bob.ask("tab_open", wanted.clone()).expect_err("it is ann's");
    assert_eq!(no["code"], "not_allowed", "{no}");
    assert!(no["hint"].as_str().is_some_and(|hint| hint.contains("comity tab admit")), "{no}");
    assert_eq!(crate::tabs(&place).len(), 3, "no tab was taken for it");
    let admit = json!({ "context": "login:site", "agent": "bob" });
    assert_eq!(bob.ask("tab_admit", admit.clone()).expect_err("not his")["code"], "not_allowed");
    ann.get("tab_admit", admit);
    let two = opens(&bob, json!("login:site"));
    cookie(&ann, one, "document.cookie = 'team=red'");
    assert_eq!(cookie(&bob, two, "document.cookie"), "team=red", "a context with a name is shared");
    assert_eq!(
        bob.ask("tab_read", json!({ "tabId": one })).expect_err("its tabs are not")["code"],
        "ownership"
    );
}
