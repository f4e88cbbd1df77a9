//! What a default MCP agent can do and is told: it answers what it is asked, gets its mail with results, and reads refusals in
//! its own words.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_app::wording::REFUSED;
use serde_json::json;
use support::mcp::Mcp;
use support::{Agent, Place, eventually};

fn mcp(place: &Place, agent: &Agent) -> Mcp {
    Mcp::start(&mut place.comity_as(agent, &["mcp"]))
}

#[test]
fn a_refusal_names_the_next_call_as_a_tool() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&bob, &["lock", "src/a.rs", "--reason", "fixing login"]);
    let told = mcp(&place, &ann).call("lock", &json!({ "paths": ["src/a.rs"] }));
    assert!(told.is_error);
    let (first, hint) = told.text.split_once('\n').expect("a hint");
    assert!(
        first.starts_with("Comity refused this; nothing is broken: src/a.rs is locked by bob"),
        "{first}"
    );
    let expected = r#"wait for it: lock(paths=["src/a.rs"], wait="60s"); or ask bob: SendMessage(to=["bob"], message="TEXT"); or work on something else"#;
    assert_eq!(hint, expected);
    let cli = place.run_as(&ann, &["lock", "src/a.rs"]);
    assert!(cli.err.starts_with("comity refused: src/a.rs is locked by bob"), "{cli:?}");
    assert!(
        cli.err.contains(
            "wait for it: comity lock src/a.rs --wait 60s; or ask bob: comity mail send bob -m TEXT"
        )
    );
    let body = json!({ "paths": ["src/a.rs"] });
    let token = Some(ann.token.as_str());
    let rest = support::http::request(&place, token, "POST", "/api/coordination/locks", Some(&body)).json();
    let hint = rest["error"]["hint"].as_str().expect("a hint");
    assert!(
        hint.contains(r#"wait for it: POST /api/coordination/locks {"paths":["src/a.rs"],"wait":"60s"}"#),
        "{hint}"
    );
}

#[test]
fn an_agent_is_asked_to_end_and_answers() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut mcp = mcp(&place, &ann);
    place.json(&["shutdown", "request", "ann", "--within", "1h"]);
    let told = mcp.call("next", &json!({}));
    let how = r#"answer(entry="s-r1", answer="reject", reason="WHY")"#;
    assert!(told.text.contains(how), "{}", told.text);
    let input = json!({ "entry": "s-r1", "answer": "reject", "reason": "not yet" });
    let told = mcp.call("answer", &input);
    assert!(!told.is_error, "{}", told.text);
    assert_eq!(place.log_of("shutdown_rejected").len(), 1);
}

#[test]
fn a_leader_answers_a_permission_and_a_plan() {
    let place = Place::new();
    let lead = place.join(&["lead", "--role", "lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
    let mut mcp = mcp(&place, &lead);
    place.run_as(&ann, &["ask", "Bash", r#"{"command":"make"}"#, "--wait", "1ms"]);
    let told = mcp.call("next", &json!({})).text;
    assert!(told.contains(r#"answer(entry="p1", answer="allow")"#), "{told}");
    let told = mcp.call("answer", &json!({ "entry": "p1", "answer": "allow" }));
    assert!(!told.is_error, "{}", told.text);
    place.json(&["mode", "ann", "plan"]);
    let mut ann = self::mcp(&place, &ann);
    let told = ann.call("plan_submit", &json!({ "file": "plan.md", "content": "read it all" }));
    assert!(!told.is_error, "{}", told.text);
    let told = mcp.call("next", &json!({})).text;
    let how = told.split("answer with: answer(entry=\"").nth(1).and_then(|rest| rest.split('"').next());
    let entry = how.unwrap_or_else(|| panic!("{told}")).to_owned();
    let told = mcp.call("answer", &json!({ "entry": entry, "answer": "approve" }));
    assert!(!told.is_error, "{}", told.text);
}

#[test]
fn an_agent_says_that_it_is_idle_and_takes_a_lease() {
    let place = Place::new();
    place.set("[pools.build]\ncapacity = 1\n");
    let ann = place.join(&["ann"]);
    let mut mcp = mcp(&place, &ann);
    let told = mcp.call("idle", &json!({ "summary": "wrote the parser" }));
    assert!(!told.is_error, "{}", told.text);
    let told = mcp.call("lease", &json!({ "pool": "build", "reason": "cargo" }));
    assert!(!told.is_error, "{}", told.text);
    let leases = || place.json(&["leases", "build"])["pools"][0]["leases"].as_array().map_or(0, Vec::len);
    assert_eq!(leases(), 1);
    let told = mcp.call("lease_free", &json!({ "lease": "build" }));
    assert!(!told.is_error, "{}", told.text);
    assert_eq!(leases(), 0, "{}", told.text);
}

#[test]
fn what_comes_as_data_is_as_its_schema_says() {
    let place = Place::new();
    place.json(&["up"]);
    let ann = place.join(&["ann"]);
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp", "--browser"]));
    let list = mcp.ask("tools/list", &json!({}));
    let tool = list["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .find(|tool| tool["name"] == "firefox_get_slot_requests");
    let schema = tool.expect("a tool")["outputSchema"].clone();
    let result = mcp.ask("tools/call", &json!({ "name": "firefox_get_slot_requests", "arguments": {} }));
    assert_ne!(result["isError"], true, "{result}");
    let data = &result["structuredContent"];
    assert_eq!(support::schema::misfit(&schema, data), None, "{result}");
    assert_eq!((&data["youHaveReservation"], &data["yourTabCount"]), (&json!(false), &json!(0)), "{result}");
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
}

#[test]
fn mail_is_in_results_that_come_as_data_too() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let write = |letter| drop(place.json_as(&bob, &["mail", "send", "ann", "-m", letter]));
    let params = json!({ "name": "firefox_get_slot_requests", "arguments": {} });
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp", "--browser"]));
    write("leave src/a.rs");
    let result = mcp.ask("tools/call", &params);
    let text = result["structuredContent"]["text"].as_str().expect("words");
    assert!(text.contains("| leave src/a.rs"), "some clients show nothing else: {result}");
    write("leave src/b.rs");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let token = Some(ann.token.as_str());
    let said = support::http::request(&place, token, "POST", "/mcp?tools=browser", Some(&call)).json();
    let text = said["result"]["structuredContent"]["text"].as_str().expect("words");
    assert!(text.contains("| leave src/b.rs"), "{said}");
}

#[test]
fn what_has_no_tool_of_its_own_is_called_by_its_name() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut mcp = mcp(&place, &ann);
    let told = mcp.call("call", &json!({ "operation": "worktree_add", "input": { "slug": "login" } }));
    assert!(!told.is_error && told.text.contains("comity/login"), "{}", told.text);
    let told = mcp.call("call", &json!({ "operation": "why", "input": { "path": "src/a.rs" } }));
    assert!(told.is_error && told.text.contains("it needs subject"), "{}", told.text);
    assert!(mcp.call("call", &json!({})).text.contains("\nworktree_add("), "it lists what there is");
}

#[test]
fn a_refused_task_update_says_how_to_do_it_with_tools() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut mcp = mcp(&place, &ann);
    mcp.call("TaskCreate", &json!({ "title": "Write the parser", "id": "parser" }));
    let told = mcp.call("next", &json!({}));
    assert!(told.text.contains(r#"answer(entry="parser", answer="start")"#), "{}", told.text);
    mcp.call("TaskUpdate", &json!({ "id": "parser", "owner": "me" }));
    let told = mcp.call("TaskUpdate", &json!({ "id": "parser", "status": "completed" }));
    assert!(
        told.is_error && told.text.contains(r#"TaskUpdate(id="parser", status="running")"#),
        "{}",
        told.text
    );
    mcp.call("TaskUpdate", &json!({ "id": "parser", "status": "running" }));
    let told = mcp.call("TaskUpdate", &json!({ "id": "parser", "status": "completed" }));
    let how = r#"TaskUpdate(id="parser", status="done", evidence="TEXT")"#;
    assert!(told.is_error && told.text.contains(how), "{}", told.text);
    let told = mcp.call("TaskUpdate", &json!({ "id": "parser", "state": "done" }));
    assert!(told.text.starts_with(&format!("{REFUSED}TaskUpdate() can't read its input: ")), "{}", told.text);
    assert!(told.text.contains("it needs id, and takes ") && !told.text.contains("comity "), "{}", told.text);
}

#[test]
fn the_names_of_claude_codes_own_task_tools_are_taken() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut mcp = mcp(&place, &ann);
    let input = json!({ "subject": "Write the parser", "description": "All of it", "activeForm": "Writing" });
    let told = mcp.call("TaskCreate", &input);
    assert!(!told.is_error, "{}", told.text);
    let tasks = place.json_as(&ann, &["task", "list"]);
    let id = tasks["tasks"][0]["id"].as_str().expect("an id").to_owned();
    let told = mcp.call("TaskGet", &json!({ "taskId": id }));
    assert!(told.text.contains("Write the parser"), "{}", told.text);
    let told = mcp.call("TaskUpdate", &json!({ "taskId": id, "status": "in_progress" }));
    assert!(!told.is_error, "{}", told.text);
}

#[test]
fn mail_comes_with_the_result_of_any_tool() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let mut mcp = mcp(&place, &ann);
    place.json_as(&bob, &["mail", "send", "ann", "-m", "leave src/a.rs\nto bob"]);
    let told = mcp.call("locks", &json!({})).text;
    assert!(told.contains("from bob") && told.contains("\n  | leave src/a.rs\n  | to bob"), "{told}");
    assert!(!told.contains("a letter waits for you"), "it need not be fetched: {told}");
    eventually("it counts as read", || place.json(&["mail", "boxes"])["boxes"] == json!([]));
    assert!(!mcp.call("locks", &json!({})).text.contains("leave src/a.rs"), "it comes once");
}

#[test]
fn mail_comes_with_results_over_http() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let call = || {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "locks", "arguments": {} },
        });
        let token = Some(ann.token.as_str());
        let said = support::http::request(&place, token, "POST", "/mcp", Some(&call)).json();
        said["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
    };
    call();
    place.json_as(&bob, &["mail", "send", "ann", "-m", "leave src/a.rs"]);
    assert!(call().contains("| leave src/a.rs"));
    assert!(!call().contains("| leave src/a.rs"), "the next call proves that it came");
    assert_eq!(place.json(&["mail", "boxes"])["boxes"], json!([]));
}

#[test]
fn resources_and_prompts_show_what_there_is() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&bob, &["lock", "src/a.rs"]);
    let mut mcp = mcp(&place, &ann);
    let list = mcp.ask("resources/list", &json!({}));
    let uris: Vec<_> =
        list["resources"].as_array().expect("a list").iter().map(|one| one["uri"].clone()).collect();
    assert_eq!(uris, ["comity://inbox", "comity://locks"]);
    let read = mcp.ask("resources/read", &json!({ "uri": "comity://locks" }));
    let text = read["contents"][0]["text"].as_str().expect("a text");
    assert!(text.contains("src/a.rs") && text.contains("bob"), "{text}");
    let read = mcp.ask("resources/read", &json!({ "uri": "comity://inbox" }));
    assert!(read["contents"][0]["text"].is_string(), "{read}");
    let prompts = mcp.ask("prompts/list", &json!({}));
    assert_eq!(prompts["prompts"][0]["name"], "join-the-team");
    let prompt = mcp.ask("prompts/get", &json!({ "name": "join-the-team" }));
    assert!(prompt["messages"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("next")));
}
