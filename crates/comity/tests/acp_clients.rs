//! Real agent programs over ACP, with a scripted model on loopback: Comity's tools, questions that are answered from the command
//! line, what they write, and their end.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::clients::over_acp;
use support::model::{Call, Model};
use support::{Place, eventually, eventually_within};

/// Some look for updates on the network before they begin.
const TURN_MAX: Duration = Duration::from_secs(120);

/// Locks a file, by the name that a client gives to Comity's tool.
fn lock(tool: &'static str) -> Call {
    Call::new(tool, json!({ "paths": ["src/a.rs"], "reason": "fixing login" }))
}

fn transcript(place: &Place) -> String {
    place.run(&["logs", "ann"]).out
}

/// Allows whatever is asked; gives how often.
fn allow(place: &Place) -> usize {
    let waiting = place.json(&["permission", "list"]);
    let requests = waiting["requests"].as_array().cloned().unwrap_or_default();
    let numbers = requests.iter().filter(|it| it["state"] == "waiting").map(|it| it["id"].to_string());
    let answered = numbers.map(|id| place.run(&["inbox", &format!("p{id}"), "allow"]).code);
    answered.filter(|code| *code == 0).count()
}

/// Runs a turn of a client; gives how often it asked and what came of it.
fn turn(place: &Place, line: &str) -> (usize, String) {
    place.json(&["spawn", "--name", "ann", "--agent", line, "--backend", "acp", "--prompt", "go on"]);
    let mut asked = 0;
    eventually_within(TURN_MAX, "its turn ends", || {
        asked += allow(place);
        let text = transcript(place);
        let state = place.json(&["runs", "--all"])["runs"][0]["state"].clone();
        assert!(!state.as_str().is_some_and(|it| it.starts_with("not started")), "{state}: {text}");
        text.contains("-- turn ended") || text.contains("-- turn failed")
    });
    (asked, transcript(place))
}

/// After a crash it goes on where it was.
fn check_session(place: &Place) {
    let pid = place.json(&["runs"])["runs"][0]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    support::kill(pid.expect("a process"), rustix::process::Signal::KILL);
    let text = || transcript(place);
    eventually_within(TURN_MAX, "it goes on", || {
        allow(place);
        let text = text();
        text.contains("> You were interrupted.") && text.contains("-- turn ended")
    });
    let begins_anew = ["-- the session can't be resumed", "-- it can't resume a session"];
    assert!(!begins_anew.iter().any(|note| text().contains(note)), "{}", text());
}

/// It has locked a file with Comity's tool, goes on after a crash, and can be stopped.
fn check_tool_and_end(place: &Place, model: &Model, text: &str, resumes: bool) {
    assert!(model.was_told("locked src/a.rs (fence "), "{:?}: {text}", model.told());
    let locks = place.json(&["locks"]);
    let locks = locks["locks"].as_array().expect("locks").clone();
    let lock: Vec<&Value> = locks.iter().filter(|lock| lock["reason"] == "fixing login").collect();
    assert_eq!((lock.len(), &lock[0]["holder"]), (1, &"ann".into()), "{locks:?}");
    assert_eq!(place.json(&["agents"])["agents"].as_array().map(Vec::len), Some(1), "it is one agent");
    if resumes {
        check_session(place);
    }
    check_end(place);
}

fn check_end(place: &Place) {
    place.run(&["stop", "ann"]);
    eventually("it is stopped", || place.json(&["runs", "--all"])["runs"][0]["state"] == "stopped");
}

fn check_write(place: &Place, model: &Model, line: &str, resumes: bool) {
    let (asked, text) = turn(place, line);
    assert_eq!(asked, 1, "the write is asked for, once; Comity's own tool is not: {text}");
    assert_eq!(std::fs::read_to_string(place.repo.join("new.txt")).expect("written"), "new\n", "{text}");
    check_tool_and_end(place, model, &text, resumes);
}

#[test]
fn gemini_cli_is_an_agent_over_acp() {
    let place = Place::new();
    let write = json!({ "file_path": place.repo.join("new.txt"), "content": "new\n" });
    let model = Model::start(vec![lock("mcp_comity_lock"), Call::new("write_file", write)]);
    let Some(line) = over_acp::gemini("gemini_cli_is_an_agent_over_acp", &place, &model) else { return };
    // It can't load a session that it was killed in: a new one begins.
    check_write(&place, &model, &line, false);
}

#[test]
fn opencode_is_an_agent_over_acp() {
    let place = Place::new();
    let write = json!({ "filePath": place.repo.join("new.txt"), "content": "new\n" });
    let model = Model::start(vec![lock("comity_lock"), Call::new("write", write)]);
    let Some(line) = over_acp::opencode("opencode_is_an_agent_over_acp", &place, &model) else { return };
    check_write(&place, &model, &line, true);
}

#[test]
fn claude_code_is_an_agent_over_acp() {
    let place = Place::new();
    let write = json!({ "file_path": place.repo.join("new.txt"), "content": "new\n" });
    let model = Model::start(vec![lock("mcp__comity__lock"), Call::new("Write", write)]);
    let Some(line) = over_acp::claude("claude_code_is_an_agent_over_acp", &place, &model) else { return };
    check_write(&place, &model, &line, true);
}

#[test]
fn codex_is_an_agent_over_acp() {
    let place = Place::new();
    let escalated = json!({
        "cmd": "printf 'new\\n' > new.txt", "sandbox_permissions": "require_escalated", "justification": "why not",
    });
    let model = Model::start(vec![lock("mcp__comity__lock"), Call::new("exec_command", escalated)]);
    let Some(line) = over_acp::codex("codex_is_an_agent_over_acp", &place, &model) else { return };
    check_write(&place, &model, &line, true);
}

/// It starts no servers of tools that a client names, as long as nobody is logged in.
#[test]
fn copilot_cli_is_an_agent_over_acp() {
    let place = Place::new();
    let create = json!({ "path": place.repo.join("new.txt"), "file_text": "new\n" });
    let model = Model::start(vec![Call::new("create", create)]);
    let Some(line) = over_acp::copilot("copilot_cli_is_an_agent_over_acp", &place, &model) else { return };
    let (asked, text) = turn(&place, &line);
    assert_eq!(asked, 1, "{text}");
    assert_eq!(std::fs::read_to_string(place.repo.join("new.txt")).expect("written"), "new\n", "{text}");
    check_session(&place);
    check_end(&place);
}
