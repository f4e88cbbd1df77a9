//! One question after another: every operation is asked at least once.

use serde_json::{Value, json};

/// A page that needs no server.
const PAGE: &str =
    "data:text/html,<title>Login</title><body onload=console.log(1)><h1>Hi</h1><input id=q aria-label=Name>";

/// One question, as programs ask it and as people type it.
pub(crate) struct Step {
    pub(crate) op: &'static str,
    pub(crate) input: Value,
    pub(crate) typed: &'static [&'static str],
    pub(crate) is_humans: bool,
}

fn step(op: &'static str, input: Value, typed: &'static [&'static str]) -> Step {
    Step { op, input, typed, is_humans: false }
}

/// A question that only the human is answered.
fn by_human(op: &'static str, input: Value, typed: &'static [&'static str]) -> Step {
    Step { is_humans: true, ..step(op, input, typed) }
}

/// The scenario, asked by an agent that leads another. Every operation has to be in it.
pub(crate) fn scenario() -> Vec<Step> {
    let mut steps = all_steps();
    if crate::support::lacks_firefox("the steps with tabs") {
        steps.retain(|step| !step.op.starts_with("tab_"));
    }
    steps
}

pub(crate) fn all_steps() -> Vec<Step> {
    let reason = "fixing login";
    vec![
        step(
            "lock",
            json!({ "paths": ["src/a.rs"], "reason": reason }),
            &["src/a.rs", "--reason", "fixing login"],
        ),
        step("lock", json!({ "paths": ["src/*.rs"], "shared": true }), &["src/*.rs", "--shared"]),
        step("lock", json!({ "paths": ["../outside"] }), &["../outside"]),
        step("check", json!({ "path": "src/a.rs" }), &["src/a.rs"]),
        step("check", json!({ "path": "src/b.rs" }), &["src/b.rs"]),
        step("locks", json!({}), &[]),
        step("locks", json!({ "path": "src/a.rs" }), &["src/a.rs"]),
        step("extend", json!({ "paths": ["src/a.rs"], "ttl": "30m" }), &["src/a.rs", "--ttl", "30m"]),
        step("handover", json!({ "paths": ["src/a.rs"], "to": "ann" }), &["src/a.rs", "--to", "ann"]),
        step("handover", json!({ "paths": ["src/a.rs"], "to": "zoe" }), &["src/a.rs", "--to", "zoe"]),
        step("adopt", json!({ "paths": ["src/a.rs"] }), &["src/a.rs"]),
        step(
            "release",
            json!({ "paths": ["src/b.rs"], "reason": "urgent" }),
            &["src/b.rs", "--reason", "urgent"],
        ),
        step("leases", json!({}), &[]),
        step(
            "lease",
            json!({ "pool": "build", "reason": "a release", "ttl": "30m" }),
            &["build", "--reason", "a release", "--ttl", "30m"],
        ),
        step("lease", json!({ "pool": "build" }), &["build"]),
        step("lease", json!({ "pool": "engine" }), &["engine"]),
        step("lease_extend", json!({ "lease": "build", "ttl": "45m" }), &["build", "--ttl", "45m"]),
        step("lease_request", json!({ "pool": "build" }), &["build"]),
        step("lease_request", json!({ "pool": "gpu" }), &["gpu"]),
        step("leases", json!({ "pool": "build" }), &["build"]),
        step("lease_cancel", json!({ "pool": "build" }), &["build"]),
        step("lease_give", json!({ "lease": "build", "to": "ann" }), &["build", "--to", "ann"]),
        step("lease_free", json!({ "lease": "build" }), &["build"]),
        step("lease", json!({ "pool": "gpu" }), &["gpu"]),
        step("lease_free", json!({ "lease": "gpu" }), &["gpu"]),
        step("commit", json!({ "message": "Nothing yet" }), &["-m", "Nothing yet"]),
        step("worktree_add", json!({ "slug": "login" }), &["login"]),
        step("worktree_add", json!({ "slug": "../out" }), &["../out"]),
        step("worktree_list", json!({}), &[]),
        step("worktree_merge", json!({ "slug": "login" }), &["login"]),
        step("worktree_remove", json!({ "slug": "login", "wait": true }), &["login", "--wait"]),
        step("worktree_remove", json!({ "slug": "login", "wait": true }), &["login", "--wait"]),
        step("worktree_restore", json!({ "slug": "login" }), &["login"]),
        step("rescue", json!({ "paths": ["src/a.rs"] }), &["src/a.rs"]),
        step("rescue", json!({ "paths": ["src/aside.rs"] }), &["src/aside.rs"]),
        step("adopt", json!({ "paths": ["src/left.rs"] }), &["src/left.rs"]),
        step("unlock", json!({ "paths": ["src/c.rs"] }), &["src/c.rs"]),
        step("unlock", json!({ "paths": ["src/a.rs"] }), &["src/a.rs"]),
        step(
            "task_add",
            json!({ "title": "Write the parser", "id": "parser", "files": ["src/parser.rs"], "priority": "high" }),
            &["Write the parser", "--id", "parser", "--files", "src/parser.rs", "--priority", "high"],
        ),
        step(
            "task_add",
            json!({ "title": "Test it", "id": "tests", "depends_on": ["parser"], "files": ["src/b.rs"] }),
            &["Test it", "--id", "tests", "--depends-on", "parser", "--files", "src/b.rs"],
        ),
        step("task_add", json!({ "title": "Again", "id": "parser" }), &["Again", "--id", "parser"]),
        step(
            "task_declare",
            json!({ "tasks": [
                { "id": "docs", "title": "Say so", "depends_on": ["late"] }, { "id": "late", "title": "Last" },
            ] }),
            &["tasks.json"],
        ),
        step("task_list", json!({}), &[]),
        step("task_list", json!({ "status": "in-review" }), &["--status", "in-review"]),
        step("task_list", json!({ "status": "lost" }), &["--status", "lost"]),
        step("task_graph", json!({}), &[]),
        step("task_claim", json!({ "id": "parser" }), &["parser"]),
        step("task_claim", json!({ "id": "tests" }), &["tests"]),
        step("task_get", json!({ "id": "parser" }), &["parser"]),
        step("task_get", json!({ "id": "ghost" }), &["ghost"]),
        step("task_start", json!({ "id": "parser" }), &["parser"]),
        step(
            "task_done",
            json!({ "id": "parser", "evidence": "commit 12" }),
            &["parser", "--evidence", "commit 12"],
        ),
        // Its file is locked by somebody else.
        step("task_start", json!({ "id": "tests" }), &["tests"]),
        step("task_pause", json!({ "id": "tests" }), &["tests"]),
        step("task_resume", json!({ "id": "tests" }), &["tests"]),
        step("task_update", json!({ "id": "late", "status": "running" }), &["late", "--status", "running"]),
        step("task_update", json!({ "id": "late", "status": "lost" }), &["late", "--status", "lost"]),
        step("task_fail", json!({ "id": "late", "reason": "too late" }), &["late", "--reason", "too late"]),
        step("task_list", json!({ "all": true }), &["--all"]),
        step("task_retry", json!({ "id": "late" }), &["late"]),
        step("task_claim", json!({ "id": "late" }), &["late"]),
        step("task_give_back", json!({ "id": "late" }), &["late"]),
        step("task_assign", json!({ "id": "late", "to": "ann" }), &["late", "ann"]),
        step("task_skip", json!({ "id": "late" }), &["late"]),
        step("task_reopen", json!({ "id": "parser" }), &["parser"]),
        step("task_cancel", json!({ "id": "parser" }), &["parser"]),
        step("task_accept", json!({ "id": "review-1" }), &["review-1"]),
        step("task_accept", json!({ "id": "review-1" }), &["review-1"]),
        step(
            "task_send_back",
            json!({ "id": "review-2", "reason": "a test is missing" }),
            &["review-2", "--reason", "a test is missing"],
        ),
        step("whoami", json!({}), &[]),
        step("token_create", json!({ "name": "ci" }), &["ci"]),
        step("tokens", json!({}), &[]),
        step("token_revoke", json!({ "name": "first" }), &["first"]),
        step("passphrase_set", json!({ "remove": true }), &["--remove"]),
        step("login", json!({}), &[]),
        step("agent_limit", json!({}), &[]),
        step("agent_limit", json!({ "max": 9 }), &["9"]),
        step("mail_send", json!({ "to": ["ann"], "message": "hello" }), &["ann", "-m", "hello"]),
        step("mail_send", json!({ "to": ["nobody"], "message": "hello" }), &["nobody", "-m", "hello"]),
        step("mailboxes", json!({}), &[]),
        step("mail_search", json!({ "words": ["hel*"] }), &["hel*"]),
        step("mail_read", json!({}), &[]),
        step("next", json!({}), &[]),
        step("mail_ack", json!({ "receipt": 99 }), &["99"]),
        step("mail_take_over", json!({}), &[]),
        step("team_create", json!({ "name": "red", "purpose": "login" }), &["red", "--purpose", "login"]),
        step("team_create", json!({ "name": "red" }), &["red"]),
        step("teams", json!({}), &[]),
        step("team", json!({ "name": "red" }), &["red"]),
        step("team_delete", json!({ "name": "red" }), &["red"]),
        step("team_admit", json!({ "agent": "ann", "team": "blue" }), &["ann", "blue"]),
        step("team_create", json!({ "name": "blue" }), &["blue"]),
        step("team_admit", json!({ "agent": "ann", "team": "blue" }), &["ann", "blue"]),
        step("shutdown_reject", json!({ "request": "r1", "reason": "busy" }), &["r1", "--reason", "busy"]),
        step("shutdown_approve", json!({ "request": "r1" }), &["r1"]),
        step("shutdown_request", json!({ "agent": "ann" }), &["ann"]),
        step("idle", json!({ "summary": "fixed the login page" }), &["fixed the login page"]),
        step(
            "decide",
            json!({ "title": "Use tabs", "rationale": "short" }),
            &["Use tabs", "--rationale", "short"],
        ),
        step("decision_confirm", json!({ "id": "d1" }), &["d1"]),
        step("decision_confirm", json!({ "id": "d3" }), &["d3"]),
        step("decision_reject", json!({ "id": "d2", "reason": "no" }), &["d2", "--reason", "no"]),
        step("decisions", json!({}), &[]),
        step("agent_join", json!({ "name": "bob", "role": "developer" }), &["bob", "--role", "developer"]),
        step("agent_join", json!({ "name": "bob" }), &["bob"]),
        step("agents", json!({ "all": true }), &["--all"]),
        step("agent_bye", json!({ "agent": "bob", "reason": "done" }), &["bob", "--reason", "done"]),
        step("agent_bye", json!({ "agent": "stranger" }), &["stranger"]),
        step(
            "ask_permission",
            json!({ "tool": "Bash", "input": { "command": "make" }, "wait": "1ms" }),
            &["Bash", "{\"command\": \"make\"}", "--wait", "1ms"],
        ),
        step(
            "ask_permission",
            json!({ "tool": "Read", "input": { "file_path": "src/a.rs" } }),
            &["Read", "{\"file_path\": \"src/a.rs\"}"],
        ),
        step("permissions", json!({}), &[]),
        step("permission_allow", json!({ "id": 1 }), &["1"]),
        step("permission_deny", json!({ "id": 1 }), &["1"]),
        step("permission_deny", json!({ "id": 2, "reason": "no" }), &["2", "--reason", "no"]),
        step("permission_allow", json!({ "id": 99, "always": true }), &["99", "--always"]),
        step("permissions", json!({ "all": true }), &["--all"]),
        step(
            "permission_rule_add",
            json!({ "effect": "deny", "tool": "Bash", "pattern": "rm *" }),
            &["deny", "Bash", "rm *"],
        ),
        step("permission_rule_add", json!({ "effect": "perhaps", "tool": "Bash" }), &["perhaps", "Bash"]),
        step("permission_rules", json!({}), &[]),
        step("permission_rule_remove", json!({ "id": 99 }), &["99"]),
        step("permission_rule_remove", json!({ "id": 6 }), &["6"]),
        step("mode", json!({ "agent": "ann" }), &["ann"]),
        step("mode", json!({ "agent": "ann", "mode": "full" }), &["ann", "full"]),
        step("plan_approve", json!({ "id": 3, "mode": "full" }), &["3", "--mode", "full"]),
        step("plan_approve", json!({ "id": 3, "feedback": "good" }), &["3", "--feedback", "good"]),
        step(
            "plan_reject",
            json!({ "id": 4, "feedback": "tests first" }),
            &["4", "--feedback", "tests first"],
        ),
        step("log", json!({ "after": 2, "limit": 9 }), &["--after", "2", "--limit", "9"]),
        step("log", json!({ "type": "lock_acquired" }), &["--type", "lock_acquired"]),
        step("log", json!({ "limit": 0 }), &["--limit", "0"]),
        step("log_replay", json!({ "at": "9" }), &["--at", "9"]),
        step("log_verify", json!({}), &[]),
        step("summary", json!({}), &[]),
        step("alerts", json!({}), &[]),
        step("status", json!({}), &[]),
        // A browser takes its time, and what it tells comes in any order: the log has been read by now.
        step("tab_list", json!({}), &[]),
        step("tab_open", json!({ "url": PAGE }), &[PAGE]),
        step("tab_open", json!({ "url": "file:///etc/passwd" }), &["file:///etc/passwd"]),
        step("tab_wait", json!({ "tabId": 6, "text": "Hi" }), &["6", "--text", "Hi"]),
        step("tab_read", json!({ "tabId": 6 }), &["6"]),
        step("tab_state", json!({ "tabId": 6, "interactive": true }), &["6", "--interactive"]),
        step("tab_click", json!({ "tabId": 6, "selector": "e1" }), &["6", "e1"]),
        step("tab_click", json!({ "tabId": 6, "selector": "e99" }), &["6", "e99"]),
        step("tab_type", json!({ "tabId": 6, "text": "Zoë", "clear": true }), &["6", "Zoë", "--clear"]),
        step("tab_press", json!({ "tabId": 6, "key": "Tab" }), &["6", "Tab"]),
        step("tab_element", json!({ "tabId": 6, "selector": "#q" }), &["6", "#q"]),
        step("tab_scroll", json!({ "tabId": 6, "end": "bottom" }), &["6", "--end", "bottom"]),
        step("tab_screenshot", json!({ "tabId": 6, "save": true }), &["6", "--save"]),
        step("tab_evaluate", json!({ "tabId": 6, "script": "document.title" }), &["6", "document.title"]),
        step("tab_console", json!({ "tabId": 6 }), &["6"]),
        step("tab_network", json!({ "tabId": 6, "failed": true }), &["6", "--failed"]),
        step("tab_downloads", json!({}), &[]),
        step("tab_evaluate", json!({ "tabId": 6, "script": "alert('hi')" }), &["6", "alert('hi')"]),
        step("tab_dialog", json!({ "tabId": 6, "accept": true }), &["6", "--accept"]),
        step("tab_navigate", json!({ "tabId": 6, "go": "reload" }), &["6", "--go", "reload"]),
        step("tab_request", json!({}), &[]),
        step("tab_open", json!({ "context": "team" }), &["--context", "team"]),
        step("tab_open", json!({}), &[]),
        step("tab_admit", json!({ "context": "team", "agent": "ann" }), &["team", "--agent", "ann"]),
        step("tab_request", json!({}), &[]),
        step("tab_requests", json!({}), &[]),
        step("tab_grant", json!({}), &[]),
        step("tab_request", json!({ "cancel": true }), &["--cancel"]),
        step("tab_share", json!({ "tabId": 7, "with": "ann" }), &["7", "--with", "ann"]),
        step("tab_unshare", json!({ "tabId": 7, "with": "ann" }), &["7", "--with", "ann"]),
        step("tab_handover", json!({ "tabId": 7, "to": "ann" }), &["7", "--to", "ann"]),
        step("tab_close", json!({ "tabId": 7 }), &["7"]),
        step("tab_close", json!({ "tabId": 6 }), &["6"]),
        step("tab_list", json!({}), &[]),
        // From here on nothing is acted on any more.
        step("mode", json!({ "agent": "lead", "mode": "plan" }), &["lead", "plan"]),
        step("plan_submit", json!({ "file": "plan.md", "content": "x" }), &["plan.md", "--content", "x"]),
        // Somebody waits for a port; from here on time would tell.
        step("lease_grant", json!({ "pool": "port" }), &["port"]),
        // The log tells where the human acted from, which differs: it has been read by now.
        by_human("token_create", json!({ "name": "ci" }), &["ci"]),
        by_human("tokens", json!({}), &[]),
        by_human("token_revoke", json!({ "name": "ci" }), &["ci"]),
        by_human("passphrase_set", json!({ "remove": true }), &["--remove"]),
        by_human("login", json!({}), &[]),
        // Comity's own programs ask these; they are no tools, so they come last.
        step(
            "guard",
            json!({ "client": "claude", "payload": { "hook_event_name": "Stop", "session_id": "s" } }),
            &["{\"hook_event_name\":\"Stop\",\"session_id\":\"s\"}", "--client", "claude"],
        ),
        step("guard_told", json!({ "proof": "none" }), &["none"]),
        step("guard_confine", json!({}), &[]),
        step("guard_commit", json!({ "paths": ["src/b.rs"] }), &["src/b.rs"]),
        step("agent_attach", json!({ "name": "claude" }), &["claude"]),
    ]
}
