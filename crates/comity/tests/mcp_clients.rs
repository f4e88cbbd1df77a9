//! Real agent programs call Comity's tools over MCP, with a scripted model on loopback.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::json;
use support::clients::{self, CODEX_UNKNOWN, codex_home};
use support::model::{Call, Model};
use support::{Place, Ran, eventually};

/// A model that locks a file.
fn model() -> Model {
    let lock = json!({ "paths": ["src/a.rs"], "reason": "fixing login" });
    Model::start(vec![Call::new("mcp__comity__lock", lock)])
}

/// The model was told of the grant, and the log has the agent and its lock.
fn check(place: &Place, model: &Model, ran: &Ran, name: &str) {
    let told = model.told();
    let is_granted = matches!(&told[..], [told] if told.contains("locked src/a.rs (fence "));
    assert!(is_granted, "{name} was told {told:?}: {ran:?}");
    let mut joined = place.log_of("agent_joined");
    // Those of `comity init` tried the guard.
    joined.retain(|entry| {
        !entry["details"]["profile"]["name"].as_str().is_some_and(|name| name.starts_with("canary"))
    });
    assert_eq!(joined.len(), 1, "{joined:?}");
    let shown = joined[0]["details"]["profile"]["name"].as_str().expect("a name");
    assert!(shown.contains(name), "it is called {shown}");
    let mut acquired = place.log_of("lock_acquired");
    acquired.retain(|entry| entry["details"]["pattern"] == "src/a.rs");
    assert_eq!(acquired.len(), 1, "{acquired:?}");
    assert_eq!(acquired[0]["details"]["holder"], joined[0]["details"]["agent"]);
    assert_eq!(acquired[0]["details"]["reason"], "fixing login");
    place.follow().until_action("agent_terminated");
    eventually("its locks went with it", || place.json(&["status"])["locks"] == 0);
}

#[test]
fn claude_code_locks_a_file() {
    let (place, model) = (Place::new(), model());
    let Some(mut claude) = clients::claude("claude_code_locks_a_file", &place, &model) else { return };
    let servers = json!({ "mcpServers": { "comity": {
        "command": support::BINARY, "args": ["mcp"], "env": { "COMITY_HOME": place.home },
    }}});
    let config = place.dir().join("mcp.json");
    clients::write(&config, &servers.to_string());
    claude.arg("--strict-mcp-config").arg("--mcp-config").arg(&config);
    let ran = clients::run(&place, claude);
    check(&place, &model, &ran, "claude");
}

#[test]
fn codex_locks_a_file() {
    let (place, model) = (Place::new(), model());
    let test = "codex_locks_a_file";
    // Codex gives its servers hardly any variables: the state directory is in what init writes, or it would be another one.
    let Some(codex) = clients::codex(test, &place, &model, CODEX_UNKNOWN, "") else { return };
    clients::install(&place);
    clients::init(&place, "codex", &codex);
    let ran = clients::run(&place, codex);
    assert!(
        clients::asked(&place).contains("SessionStart"),
        "its hook runs, too, and it is one agent: {ran:?}"
    );
    check(&place, &model, &ran, "codex");
}

/// A model that browses: it opens a page, types, looks, takes a picture, and wants more tabs than there are.
fn browsing_model() -> Model {
    let page = "data:text/html,<title>shop</title><h1>Shop</h1><label>Name <input id=name></label>";
    let calls = [
        ("mcp__comity__firefox_create_window", json!({ "url": page })),
        ("mcp__comity__firefox_type", json!({ "tabId": 1, "selector": "#name", "text": "Zoë" })),
        ("mcp__comity__firefox_get_page_state", json!({ "tabId": 1 })),
        ("mcp__comity__firefox_screenshot", json!({ "tabId": 1 })),
        ("mcp__comity__firefox_create_window", json!({ "url": page })),
        ("mcp__comity__firefox_close_tab", json!({ "tabId": 1 })),
    ];
    Model::start(calls.into_iter().map(|(tool, input)| Call::new(tool, input)).collect())
}

/// A place with one tab.
fn browsing_place() -> Place {
    let place = Place::new();
    place.set("[browser]\ntabs = 1\nschemes = [\"data\"]\n");
    place
}

/// The model has read what it did, seen a picture, and was told why there is no second tab.
fn check_browsing(place: &Place, model: &Model, ran: &Ran) {
    let told = model.told();
    let parts = [
        "tab 1 is yours",
        "typed 3 characters",
        "Zoë",
        "image/jpeg",
        "POOL_FULL: Tab pool is full (1/1)",
        "closed",
    ];
    assert_eq!(told.len(), parts.len(), "{told:?}: {ran:?}");
    for (told, part) in told.iter().zip(parts) {
        let shown: String = told.chars().take(2_000).collect();
        assert!(told.contains(part), "{part:?} is not in {shown}");
    }
    assert!(told[3].len() > 5_000, "a picture has some size");
    assert!(told[2].contains("untrusted"), "{}", told[2]);
    assert_eq!(place.log_of("slot_freed").len(), 1);
}

#[test]
fn claude_code_browses() {
    if support::lacks_firefox("claude_code_browses") {
        return;
    }
    let (place, model) = (browsing_place(), browsing_model());
    let Some(mut claude) = clients::claude("claude_code_browses", &place, &model) else { return };
    let servers = json!({ "mcpServers": { "comity": {
        "command": support::BINARY, "args": ["mcp", "--browser"], "env": { "COMITY_HOME": place.home },
    }}});
    let config = place.dir().join("mcp.json");
    clients::write(&config, &servers.to_string());
    claude.arg("--strict-mcp-config").arg("--mcp-config").arg(&config);
    let ran = clients::run(&place, claude);
    check_browsing(&place, &model, &ran);
}

#[test]
fn codex_browses() {
    if support::lacks_firefox("codex_browses") {
        return;
    }
    let (place, model) = (browsing_place(), browsing_model());
    let settings = format!(
        "[mcp_servers.comity]\ncommand = {}\nargs = [\"mcp\", \"--browser\"]\nrequired = true\n\
         env = {{ COMITY_HOME = {}, CODEX_HOME = {} }}\n",
        json!(support::BINARY),
        json!(place.home),
        json!(codex_home(&place)),
    );
    let Some(codex) = clients::codex("codex_browses", &place, &model, CODEX_UNKNOWN, &settings) else {
        return;
    };
    let ran = clients::run(&place, codex);
    check_browsing(&place, &model, &ran);
}
