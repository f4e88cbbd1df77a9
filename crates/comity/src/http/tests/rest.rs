//! REST: every operation at its route and by its name.

use comity_app::catalog::CATALOG;

use super::*;

/// An input that the operation can read.
fn sample(op: &str) -> Value {
    match op {
        "lock" | "unlock" | "release" | "adopt" | "rescue" => json!({ "paths": ["a.rs"] }),
        "extend" => json!({ "paths": ["a.rs"], "ttl": "10m" }),
        "handover" => json!({ "paths": ["a.rs"], "to": "ann" }),
        "check" => json!({ "path": "a.rs" }),
        "agent_join" | "agent_attach" => json!({ "name": "carl" }),
        "agent_bye" => json!({ "agent": "nobody" }),
        "agent_show" => json!({ "agent": "ann" }),
        "why" => json!({ "subject": "ann" }),
        "log_replay" => json!({ "at": "1" }),
        "commit" => json!({ "message": "Change a" }),
        "lease" | "lease_request" | "lease_cancel" | "lease_grant" => json!({ "pool": "build" }),
        "lease_free" => json!({ "lease": "build" }),
        "lease_extend" => json!({ "lease": "7", "ttl": "1h" }),
        "lease_give" => json!({ "lease": "7", "to": "ann" }),
        // This one would start a browser.
        "tab_open" => json!({ "timeout": 1 }),
        "tab_list" | "tab_request" | "tab_requests" | "tab_grant" | "tab_downloads" => json!({}),
        "tab_admit" => json!({ "context": "bank", "agent": "ann" }),
        "tab_element" => json!({ "tabId": 99, "selector": "x" }),
        "tab_type" => json!({ "tabId": 99, "text": "x" }),
        "tab_press" => json!({ "tabId": 99, "key": "x" }),
        "tab_evaluate" => json!({ "tabId": 99, "script": "x" }),
        "tab_navigate" => json!({ "tabId": 99, "url": "about:blank" }),
        "tab_click" => json!({ "tabId": 99, "selector": "x" }),
        "tab_scroll" => json!({ "tabId": 99, "end": "top" }),
        "tab_wait" => json!({ "tabId": 99, "text": "x" }),
        "tab_dialog" => json!({ "tabId": 99, "accept": true }),
        "tab_handover" => json!({ "tabId": 99, "to": "ann" }),
        "tab_share" | "tab_unshare" => json!({ "tabId": 99, "with": "ann" }),
        op if op.starts_with("tab_") => json!({ "tabId": 99 }),
        "worktree_add" => json!({ "slug": "../outside" }),
        "worktree_merge" | "worktree_remove" | "worktree_restore" => json!({ "slug": "login" }),
        "task_add" => json!({ "title": "One" }),
        "task_declare" => json!({ "tasks": [{ "title": "One" }] }),
        "task_done" => json!({ "id": "ghost", "evidence": "none" }),
        "task_fail" | "task_send_back" => json!({ "id": "ghost", "reason": "none" }),
        "task_assign" => json!({ "id": "ghost", "to": "ann" }),
        "task_update" => json!({ "id": "ghost", "status": "running" }),
        "task_list" | "task_graph" | "task_claim" => json!({}),
        op if op.starts_with("task_") => json!({ "id": "ghost" }),
        "spawn" => json!({ "role": "developer", "agent": "true" }),
        "run_goal" => json!({ "goal": "Be done", "agent": "claude" }),
        "run_list" | "run_resume" => json!({}),
        op if op.starts_with("run_") => json!({ "agent": "nobody" }),
        "mail_send" => json!({ "to": ["ann"], "message": "hello" }),
        "mail_search" => json!({ "words": ["hello"] }),
        "mail_ack" => json!({ "receipt": 7 }),
        "team_create" => json!({ "name": "red" }),
        "team_delete" | "team" => json!({ "name": "red" }),
        "team_admit" => json!({ "agent": "ann", "team": "red" }),
        "token_create" | "token_revoke" => json!({ "name": "ci" }),
        "passphrase_set" => json!({ "remove": true }),
        "shutdown_request" => json!({ "agent": "ann" }),
        "shutdown_approve" => json!({ "request": "r1" }),
        "shutdown_reject" => json!({ "request": "r1", "reason": "busy" }),
        "idle" => json!({ "summary": "fixed the login page" }),
        "decide" => json!({ "title": "Use tabs" }),
        "decision_confirm" | "decision_reject" => json!({ "id": "d1" }),
        "inbox_answer" => json!({ "entry": "p7", "answer": "allow" }),
        "ask_permission" => json!({ "tool": "Bash", "input": { "command": "ls" } }),
        "permission_allow" | "permission_deny" | "permission_rule_remove" | "plan_approve" => {
            json!({ "id": 7 })
        }
        "plan_reject" => json!({ "id": 7, "feedback": "no" }),
        "plan_submit" => json!({ "file": "plan.md", "content": "x" }),
        "permission_rule_add" => json!({ "effect": "deny", "tool": "Bash" }),
        "mode" => json!({ "agent": "ann" }),
        "guard" | "guard_with_git" => json!({ "payload": { "hook_event_name": "Stop" } }),
        "guard_wait" => json!({ "waiter": "1", "wait": "1s" }),
        "guard_told" => json!({ "proof": "none" }),
        "guard_commit" => json!({ "paths": ["src/b.rs"] }),
        _ => json!({}),
    }
}

/// What the samples lead to, on a server where nothing is locked.
fn expected(op: &str) -> u16 {
    match op {
        "unlock" | "release" | "adopt" | "rescue" | "extend" | "handover" => 409,
        // No agent program is at the other end of a network.
        "guard" | "guard_with_git" => 403,
        "token_revoke" => 404,
        "team_delete" | "team" | "shutdown_approve" | "shutdown_reject" => 404,
        "decision_confirm" | "decision_reject" | "inbox_answer" => 404,
        "idle" | "ask_permission" | "plan_submit" => 400,
        "permission_allow"
        | "permission_deny"
        | "permission_rule_remove"
        | "plan_approve"
        | "plan_reject" => 404,
        "agent_bye" | "worktree_merge" | "worktree_remove" | "worktree_restore" => 404,
        "commit" | "worktree_add" => 400,
        op if op.starts_with("lease_") || op == "lease" => 404,
        "run_goal" | "run_list" | "run_resume" => 200,
        op if op.starts_with("run_") => 404,
        "tab_open" => 400,
        "tab_list" | "tab_requests" | "tab_downloads" => 200,
        op if op.starts_with("tab_") => 404,
        "task_add" | "task_declare" | "task_list" | "task_graph" => 200,
        op if op.starts_with("task_") => 404,
        _ => 200,
    }
}

#[test]
fn every_operation_is_at_its_route_and_has_its_name() {
    for entry in CATALOG {
        let server = Server::start();
        server.join("ann");
        let sample = sample(entry.name);
        let by_name = server.op(HUMAN, entry.name, &sample);
        assert_eq!(by_name.status, expected(entry.name), "{}: {by_name:?}", entry.name);

        let server = Server::start();
        server.join("ann");
        let (mut path, mut body) = (entry.route.path.to_owned(), sample.clone());
        let mut query = Vec::new();
        for (field, value) in sample.as_object().expect("an object") {
            let number = value.as_u64().map(|number| number.to_string());
            let text = value.as_str().or(value[0].as_str()).or(number.as_deref());
            let Some(text) = text else { continue };
            let (in_path, place) = (path.contains('{'), format!("{{{field}}}"));
            if in_path && path.contains(&place) {
                path = path.replace(&place, text);
            } else if entry.route.method == "GET" {
                query.push(format!("{field}={text}"));
            } else {
                continue;
            }
            body.as_object_mut().expect("an object").remove(field);
        }
        let request = format!("{} {path}?{}", entry.route.method, query.join("&"));
        let body = if entry.route.method == "GET" { String::new() } else { body.to_string() };
        let by_route = server.ask(HUMAN, &request, &[&format!("Comity-Cwd: {}", server.repo())], &body);
        assert_eq!(by_route.status, expected(entry.name), "{request}: {by_route:?}");
        assert_eq!(by_route.header("content-type"), Some("application/json"));
    }
}

#[test]
fn a_lock_from_beginning_to_end() {
    let server = Server::start();
    let (ann, bob) = (server.join("ann"), server.join("bob"));
    let body = r#"{"filePath":"src/deep/a b.rs","reason":"fixing login","ttlSeconds":60}"#;
    let locked = server.ask(&ann, "POST /api/coordination/locks", &[], body);
    assert_eq!(locked.json()["locks"][0]["path"], "src/deep/a b.rs", "an agent is where it joined");

    let refused = server.ask(&bob, "POST /api/coordination/locks", &[], r#"{"paths":["src/**"]}"#);
    assert_eq!(refused.refused(), (409, "locked".into()));
    assert_eq!(refused.json()["error"]["holders"][0]["holder"], "ann");
    assert_eq!(server.ask(&bob, "GET /api/coordination/check?path=src/deep/a+b.rs", &[], "").status, 409);

    let by_other = server.ask(&bob, "DELETE /api/coordination/locks/src/deep/a%20b.rs", &[], "");
    assert_eq!(by_other.refused(), (409, "not_held".into()));
    let unlocked = server.ask(&ann, "DELETE /api/coordination/locks/src%2Fdeep%2Fa%20b.rs", &[], "");
    assert_eq!(unlocked.json(), json!({ "paths": ["src/deep/a b.rs"] }));
    assert_eq!(server.ask(&ann, "POST /api/coordination/locks", &[], r#"{"paths":"release"}"#).status, 200);
    let unlocked = server.ask(&ann, "DELETE /api/coordination/locks/release", &[], "");
    assert_eq!(unlocked.status, 200, "a file named like a route: {unlocked:?}");

    let activity = "GET /api/coordination/activity?agentId=ann&type=lock_acquired&limit=1&since=";
    let entries = server.ask(HUMAN, activity, &[], "").json();
    assert_eq!(entries["entries"].as_array().map(Vec::len), Some(1));
    assert_eq!(entries["entries"][0]["event"], "lock:acquired");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let server = Server::start();
    let check = |request: &str, headers: &[&str], body: &str, expected: (u16, &str)| {
        let answer = server.ask(HUMAN, request, headers, body);
        assert_eq!(answer.refused(), (expected.0, expected.1.to_owned()), "{request}: {answer:?}");
        assert!(answer.json()["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{answer:?}");
        answer
    };
    check("POST /api/op/lock", &[], "{", (400, "bad_input"));
    check("POST /api/op/lock", &[], "[]", (400, "bad_input"));
    check("POST /api/op/lock", &[], r#"{"paths":["a"],"wat":1}"#, (400, "bad_input"));
    check("POST /api/op/lock", &[], r#"{"paths":["a"]}"#, (400, "bad_input"));
    check("POST /api/op/lock", &["Comity-Cwd: repo"], r#"{"paths":["a"]}"#, (400, "bad_input"));
    check("POST /api/op/lock", &["Comity-Cwd: /"], r#"{"paths":["a"]}"#, (400, "not_a_repository"));
    check("POST /api/op/lock", &[&format!("Idempotency-Key: {}", "k".repeat(129))], "{}", (400, "bad_input"));
    check("POST /api/op/lock", &["Comity-Cwd: /\u{e4}"], "{}", (400, "bad_input"));
    check("POST /api/op/nothing", &[], "{}", (404, "not_found"));
    check("DELETE /api/agents/nobody", &[], "", (404, "unknown_agent"));
    check("DELETE /api/agents/%ff", &[], "", (400, "bad_input"));
    check("GET /api/coordination/activity?limit=0", &[], "", (400, "bad_input"));
    check("GET /api/coordination/activity?limit=1&limit=2", &[], "", (400, "bad_input"));
    check("GET /api/nothing", &[], "", (404, "not_found"));
    check("GET /api/events", &[], "", (426, "upgrade_required"));
    check("GET /api/events/stream?after=x", &[], "", (400, "bad_input"));
    let answer = check("PATCH /api/coordination/locks", &[], "", (405, "method_not_allowed"));
    let mut allowed: Vec<&str> = answer.header("allow").expect("a header").split(", ").collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "POST"]);
}

#[test]
fn bodies_are_json_and_bounded() {
    let server = Server::start();
    let (host, token) =
        (format!("Host: 127.0.0.1:{}", server.port), format!("Authorization: Bearer {HUMAN}"));
    let status = |kind: &str, body: &str| {
        let lines = ["POST /api/op/status HTTP/1.1", &host, &token, kind];
        server.raw(&lines, body).status
    };
    assert_eq!(status("Content-Type: application/json; charset=utf-8", "{}"), 200);
    assert_eq!(status("Content-Type: text/plain", ""), 200, "there is nothing to read");
    for kind in ["Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded", "X: y"] {
        assert_eq!(status(kind, "{}"), 415, "{kind}");
    }
    let spaces = " ".repeat(1024 * 1024);
    assert_eq!(status("Content-Type: application/json", &format!("{{}}{spaces}")), 413);
    let deep = "[".repeat(100_000);
    assert_eq!(status("Content-Type: application/json", &deep), 400);

    let chunks = "10000\r\n".to_owned() + &" ".repeat(0x10000) + "\r\n";
    let lines = [
        "POST /api/op/status HTTP/1.1",
        &host,
        &token,
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
    ];
    let mut stream = server.open(&lines, "");
    for _ in 0..17 {
        let _ = stream.get_mut().write_all(chunks.as_bytes());
    }
    assert!(head(&mut stream).starts_with("HTTP/1.1 413 "), "a body that does not say its length");
}

#[test]
fn a_repeat_with_a_key_is_done_once() {
    let server = Server::start();
    let ann = server.join("ann");
    let lock = |key: &str| {
        let body = r#"{"paths":["a.rs"]}"#;
        server.ask(&ann, "POST /api/coordination/locks", &[key], body).json()["locks"][0]["fence"].clone()
    };
    let first = lock("Idempotency-Key: one");
    let head = server.app.engine().world().head;
    assert_eq!(lock("Idempotency-Key: one"), first);
    assert_eq!(server.app.engine().world().head, head, "nothing was written");
    let other =
        server.ask(&ann, "POST /api/coordination/locks", &["Idempotency-Key: one"], r#"{"paths":["b.rs"]}"#);
    assert_eq!((other.status, &other.json()["error"]["code"]), (409, &"key_reused".into()), "{other:?}");
}

#[test]
fn agents_are_told_what_waits_for_them() {
    let server = Server::start();
    let ann = server.join("ann");
    assert_eq!(server.op(&ann, "lock", &json!({ "paths": "grün.rs" })).status, 200);
    assert_eq!(
        server.op(HUMAN, "release", &json!({ "paths": "grün.rs", "from": "ann", "reason": "lunch" })).status,
        200
    );
    let answer = server.ask(&ann, "GET /api/status", &[], "");
    let notices: Vec<String> =
        serde_json::from_str(answer.header("comity-notices").expect("a header")).expect("JSON");
    assert!(notices[0].contains("grün.rs") && notices[0].contains("lunch"), "{notices:?}");
    server.until(|world| world.agents.iter().all(|agent| agent.notices.is_empty()));
    assert_eq!(server.ask(&ann, "GET /api/status", &[], "").header("comity-notices"), None);
}

#[test]
fn a_full_disk_is_no_fault_of_the_caller() {
    let log = MemoryLog::default();
    let server = Server::in_memory(log.clone());
    log.set_failing(true);
    assert_eq!(server.op(HUMAN, "lock", &json!({ "paths": "a.rs" })).refused(), (503, "fault".into()));
    log.set_failing(false);
    assert_eq!(server.op(HUMAN, "lock", &json!({ "paths": "a.rs" })).status, 200);
}

#[test]
fn metrics_and_the_page() {
    let server = Server::start();
    let metrics = server.ask(HUMAN, "GET /metrics", &[], "");
    assert!(metrics.body.contains("comity_calls_total{operation=\"lock\"} 0"), "{metrics:?}");
    let page = server.ask(HUMAN, "GET /", &[], "");
    assert!(page.body.contains("<title>Comity</title>") && page.status == 200, "{page:?}");
}
