//! The words that agents know, as they reach them through MCP.

use comity_app::wording::REFUSED;
use serde_json::{Value, json};

use crate::support::Place;
use crate::support::mcp::Mcp;
use crate::{page, place};

struct Browsing {
    mcp: Mcp,
}

impl Browsing {
    fn starts(place: &Place, name: &str) -> Browsing {
        let agent = place.join(&[name]);
        Browsing { mcp: Mcp::start(&mut place.comity_as(&agent, &["mcp", "--browser"])) }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.mcp.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The words of a refusal, and what comes with them as data.
    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("words");
        let words = text.strip_prefix(REFUSED).expect("who says it").to_owned();
        (words, result["structuredContent"]["error"].clone())
    }
}

#[test]
fn refusals_have_their_words_and_their_numbers() {
    if crate::support::lacks_firefox("refusals_have_their_words_and_their_numbers") {
        return;
    }
    let place = place(3);
    let (mut ann, mut bob) = (Browsing::starts(&place, "ann"), Browsing::starts(&place, "bob"));
    for colour in ["red", "green"] {
        let opened = ann.call("firefox_create_window", json!({ "url": page("a", colour) }));
        assert_eq!(opened["isError"], false, "{opened}");
    }
    bob.call("firefox_create_window", json!({}));

    let (words, full) = bob.refused("firefox_create_window", json!({}));
    assert!(words.starts_with("POOL_FULL: Tab pool is full (3/3)"), "{words}");
    assert!(words.contains("you have 1") && words.contains("others 2 (ann)"), "{words}");
    assert!(words.contains("wait in line"), "the hint: {words}");
    assert_eq!((&full["code"], &full["full"]["capacity"]), (&json!("pool_full"), &json!(3)), "{full}");

    let (words, foreign) = bob.refused("firefox_close_tab", json!({ "tabId": 1 }));
    assert!(words.starts_with("OWNERSHIP: Cannot close tab 1 (owned by agent_"), "{words}");
    assert_eq!((&foreign["code"], &foreign["owner"]["name"]), (&json!("ownership"), &json!("ann")));

    // A page that does not answer holds up the picture of its own tab, and a second one of it says so.
    let busy = "setTimeout(() => { const end = Date.now() + 15000; while (Date.now() < end) {} }, 0)";
    ann.call("firefox_evaluate", json!({ "tabId": 1, "script": busy, "inPage": true }));
    ann.mcp.begin("firefox_screenshot", &json!({ "tabId": 1, "timeout": 20000 }));
    let (words, busy) = ann.refused("firefox_screenshot", json!({ "tabId": 1 }));
    assert!(words.starts_with("MUTEX_BUSY: ") && words.contains("firefox_get_page_state"), "{words}");
    assert_eq!(busy["code"], "mutex_busy");
}

#[test]
fn pictures_and_pages_come_as_what_they_are() {
    if crate::support::lacks_firefox("pictures_and_pages_come_as_what_they_are") {
        return;
    }
    let place = place(2);
    let mut ann = Browsing::starts(&place, "ann");
    ann.call("firefox_create_window", json!({ "url": page("Login", "white") }));
    let picture = ann.call("firefox_screenshot", json!({ "tabId": 1 }));
    assert_eq!(picture["content"][1]["type"], "image", "{picture}");
    assert_eq!(picture["content"][1]["mimeType"], "image/jpeg");
    assert!(picture["content"][1]["data"].as_str().is_some_and(|data| data.len() > 500));

    let state = ann.call("firefox_get_page_state", json!({ "tabId": 1 }));
    let text = state["content"][0]["text"].as_str().expect("words");
    assert!(text.contains("heading \"Login\"") && text.contains("untrusted"), "{text}");
    let mark = text.split("<page ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a mark");
    assert!(text.contains(&format!("</page {mark}>")), "the end of the page is marked: {text}");

    let listed = ann.mcp.ask("tools/list", &json!({}));
    let names: Vec<&str> =
        listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in [
        "firefox_create_window",
        "firefox_close_tab",
        "firefox_get_tabs",
        "firefox_navigate",
        "firefox_get_content",
        "firefox_get_page_state",
        "firefox_get_element",
        "firefox_click",
        "firefox_type",
        "firefox_press_key",
        "firefox_scroll",
        "firefox_wait_for",
        "firefox_screenshot",
        "firefox_evaluate",
        "firefox_get_console",
        "firefox_get_network",
        "firefox_request_tab_space",
        "firefox_grant_tab_space",
        "firefox_get_slot_requests",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    // Every one of them can be told how long it may take.
    for tool in listed["tools"].as_array().expect("tools") {
        let is_browsers = tool["name"].as_str().is_some_and(|name| name.starts_with("firefox_"));
        assert!(!is_browsers || tool["inputSchema"]["properties"]["timeout"].is_object(), "{tool}");
    }
}
