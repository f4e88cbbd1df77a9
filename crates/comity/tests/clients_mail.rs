//! Real agent programs, with a scripted model on loopback: mail reaches them wherever they show it, an idle one is woken, and
//! commits are judged where git's own hooks are switched off.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "confined/window.rs"]
#[expect(dead_code, reason = "each test uses a part of it")]
mod window;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::clients;
use support::model::{Call, Model};
use support::{Agent, Place, Ran, eventually, has_program, skip};
use window::Window;

const LETTER: &str = "leave-src-a-to-bob";

/// A command that ends once bob, who is none of those that the agent starts, has sent the agent the letter.
fn until_told(place: &Place, bob: &Agent, to: &str) -> String {
    let pipe = place.dir().join("told");
    assert!(place.program("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let command = format!("cat '{}'", pipe.display());
    let mut send = place.comity_as(bob, &["mail", "send", to, "-m", LETTER]);
    // Nobody waits for it: it goes on when the command reads, which may never be.
    std::thread::spawn(move || {
        let written = fs::OpenOptions::new().write(true).open(pipe).expect("a pipe");
        let sent = Ran::of(send.output().expect("comity runs"));
        assert_eq!(sent.code, 0, "{sent:?}");
        drop(written);
    });
    command
}

/// A server whose only tool, which only looks, runs a command first.
fn server(command: &str) -> String {
    format!(
        r#"
import json, subprocess, sys
for line in sys.stdin:
    ask = json.loads(line)
    method, given = ask.get("method"), ask.get("params") or {{}}
    if "id" not in ask:
        continue
    answer = {{"jsonrpc": "2.0", "id": ask["id"]}}
    if method == "initialize":
        answer["result"] = {{"protocolVersion": given.get("protocolVersion"), "capabilities": {{"tools": {{}}}},
                            "serverInfo": {{"name": "look", "version": "1"}}}}
    elif method == "tools/list":
        answer["result"] = {{"tools": [{{"name": "list_things", "description": "Lists", "inputSchema": {{"type": "object", "properties": {{}}}}}}]}}
    elif method == "tools/call":
        subprocess.run(["bash", "-c", {command:?}], check=True, stdout=subprocess.DEVNULL)
        answer["result"] = {{"content": [{{"type": "text", "text": "nothing is there"}}]}}
    elif method == "ping":
        answer["result"] = {{}}
    else:
        answer["error"] = {{"code": -32601, "message": "unknown"}}
    print(json.dumps(answer), flush=True)
"#
    )
}

/// Whether all mail counts as read, and the model was shown the letter.
fn check(place: &Place, model: &Model, ran: &Ran) {
    let asked = Value::from(model.asked_with("")).to_string();
    assert!(asked.contains(LETTER), "{ran:?}: {asked}");
    eventually("it counts as read", || place.json(&["mail", "boxes"])["boxes"] == json!([]));
}

#[test]
fn opencode_shows_mail_behind_the_result_of_another_server() {
    let test = "opencode_shows_mail_behind_the_result_of_another_server";
    if !has_program("python3") {
        return skip(test, "there is no python3 here");
    }
    let place = Place::new();
    let bob = place.join(&["bob"]);
    let model = Model::start(vec![Call::new("look_list_things", json!({}))]);
    let Some(opencode) = clients::opencode(test, &place, &model, "") else { return };
    clients::install(&place);
    let script = place.dir().join("look.py");
    fs::write(&script, server(&until_told(&place, &bob, "opencode"))).expect("written");
    let config = place.dir().join(".config/opencode/opencode.json");
    let mut settings: Value =
        serde_json::from_str(&fs::read_to_string(&config).expect("text")).expect("JSON");
    settings["mcp"] = json!({ "look": { "type": "local", "command": ["python3", script], "enabled": true } });
    clients::write(&config, &settings.to_string());
    clients::init(&place, "opencode", &opencode);
    let ran = clients::run(&place, opencode);
    assert!(model.was_told("nothing is there") && model.was_told(LETTER), "{:?}: {ran:?}", model.told());
    check(&place, &model, &ran);
}

#[test]
fn copilot_gets_its_mail_by_its_hooks_and_is_called_copilot() {
    let test = "copilot_gets_its_mail_by_its_hooks_and_is_called_copilot";
    let place = Place::new();
    let bob = place.join(&["bob"]);
    let view = Call::new("view", json!({ "path": place.repo.join("src/a.rs") }));
    let tell =
        Call::new("bash", json!({ "command": until_told(&place, &bob, "copilot"), "description": "x" }));
    let model = Model::start(vec![tell, view]);
    let Some(copilot) = clients::copilot(test, &place, &model) else { return };
    clients::install(&place);
    clients::init(&place, "copilot", &copilot);
    let ran = clients::run(&place, copilot);
    check(&place, &model, &ran);
    let names: Vec<Value> = place
        .log_of("agent_joined")
        .iter()
        .map(|entry| entry["details"]["profile"]["name"].clone())
        .collect();
    assert!(names.contains(&json!("copilot")), "{names:?}");
}

#[test]
fn an_idle_claude_code_is_woken_by_mail() {
    let test = "an_idle_claude_code_is_woken_by_mail";
    if !has_program("tmux") {
        return skip(test, "there is no tmux");
    }
    let place = Place::new();
    let model = Model::start(vec![]);
    let Some(claude) = clients::claude_at_a_terminal(test, &place, &model) else { return };
    clients::install(&place);
    clients::init(&place, "claude", &claude);
    let window = Window::open(&place, &claude);
    eventually("it has answered", || !model.asked_with("").is_empty());
    let is_idle = || clients::asked(&place).contains("\"hook_event_name\":\"Stop\"");
    eventually("it is idle", is_idle);
    place.json(&["mail", "send", "claude", "-m", LETTER]);
    eventually("it was woken", || Value::from(model.asked_with("")).to_string().contains(LETTER));
    eventually("it counts as read", || place.json(&["mail", "boxes"])["boxes"] == json!([]));
    drop(window);
}

#[test]
fn an_idle_codex_is_woken_by_mail() {
    let test = "an_idle_codex_is_woken_by_mail";
    if !has_program("tmux") {
        return skip(test, "there is no tmux");
    }
    let place = Place::new();
    let model = Model::start(vec![]);
    let Some(codex) = clients::codex_at_a_terminal(test, &place, &model) else { return };
    clients::install(&place);
    clients::init(&place, "codex", &codex);
    let window = Window::open(&place, &codex);
    eventually("it has answered", || !model.asked_with("").is_empty());
    eventually("it is idle", || clients::asked(&place).matches("\"hook_event_name\":\"Stop\"").count() >= 2);
    place.json(&["mail", "send", "codex", "-m", LETTER]);
    eventually("it was woken", || Value::from(model.asked_with("")).to_string().contains(LETTER));
    let asked = model.asked_with("Comity: something has come for you");
    assert!(!asked.is_empty(), "its user has not said it, and is not made to have said the letter");
    assert!(model.asked_with(LETTER).is_empty(), "{asked:?}");
    eventually("it counts as read", || place.json(&["mail", "boxes"])["boxes"] == json!([]));
    drop(window);
}

#[test]
fn gemini_cli_cannot_commit_what_another_has_locked() {
    let test = "gemini_cli_cannot_commit_what_another_has_locked";
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/a.rs", "--reason", "fixing login", "--ttl", "30m"]);
    fs::write(place.repo.join("src/a.rs"), "fn half_done() {}\n").expect("written");
    let commit = Call::new("run_shell_command", json!({ "command": "git commit -am theirs" }));
    let model = Model::start(vec![commit]);
    let Some(gemini) = clients::gemini(test, &place, &model, json!({})) else { return };
    clients::install(&place);
    clients::init(&place, "gemini", &gemini);
    let ran = clients::run(&place, gemini);
    let told = model.told();
    assert!(told.iter().any(|told| told.contains("src/a.rs is locked by bob")), "{told:?}: {ran:?}");
    let mut git = Command::new("git");
    let subject = git.current_dir(&place.repo).args(["log", "-1", "--format=%s"]).output().expect("git");
    assert_eq!(String::from_utf8_lossy(&subject.stdout).trim(), "first");
}
