//! What keeps the locks of an agent whose process nobody watches: each of its calls, from its beginning to its answer.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use support::program::Program;
use support::wire::Wire;
use support::{Agent, BINARY, Place, eventually};

/// Lets a lock of another agent run out, which takes two seconds.
fn two_seconds_pass(place: &Place) {
    let (bob, mut log) = (place.join(&["bob"]), place.follow_on());
    place.json_as(&bob, &["lock", "src/b.rs", "--ttl", "2s"]);
    log.until(|entry| entry["action"] == "lock_expired" && entry.to_string().contains("src/b.rs"));
}

fn holders(place: &Place) -> Vec<String> {
    let locks = place.json(&["locks"]);
    let locks = locks["locks"].as_array().expect("locks");
    locks.iter().map(|lock| format!("{} {}", lock["holder"], lock["state"]).replace('"', "")).collect()
}

#[test]
fn a_commit_that_takes_longer_than_its_lock_lasts_is_made() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "1s"]);
    fs::write(place.repo.join("src/a.rs"), "fn changed() {}\n").expect("written");
    let hook = place.repo.join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().expect("a directory")).expect("made");
    fs::write(&hook, "#!/bin/sh\nsleep 3\n").expect("written");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let made = place.json_as(&ann, &["commit", "-m", "Slow", "--hooks"]);
    assert!(made["commit"].is_string(), "{made}");
    assert!(place.log_of("lock_lapsed").is_empty());
}

#[test]
fn a_tool_call_that_runs_keeps_the_locks_of_its_agent() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "1s"]);
    hook(&place, &ann, "PreToolUse");
    two_seconds_pass(&place);
    assert_eq!(holders(&place), ["ann held"], "make still runs");
    let mut log = place.follow_on();
    hook(&place, &ann, "PostToolUse");
    log.until_action("lock_expired");
    assert_eq!(holders(&place), [""; 0], "its end was heard, and nothing since");
}

#[test]
fn an_idle_agent_that_runs_a_command_is_at_work_again() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let state = || place.json(&["agent", "list"])["agents"][0]["state"].as_str().map(str::to_owned);
    place.json_as(&ann, &["idle", "wrote the login page"]);
    for looks in ["ls", "comity next --wait 1m", "comity mail read"] {
        hook_of(&place, &ann, "PreToolUse", looks);
        assert_eq!(state().as_deref(), Some("idle"), "{looks} isn't work");
    }
    hook_of(&place, &ann, "PreToolUse", "make");
    assert_eq!(state().as_deref(), Some("running"));
    let head = || place.json(&["status"])["head"].as_u64();
    let before = head();
    hook_of(&place, &ann, "PreToolUse", "make");
    assert_eq!(head(), before, "nothing more is written of it");
}

#[test]
fn an_agent_is_idle_between_its_turns() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let activity = || place.json(&["agent", "list"])["agents"][0]["activity"].as_str().map(str::to_owned);
    hook(&place, &ann, "PreToolUse");
    hook(&place, &ann, "PostToolUse");
    assert_ne!(activity().as_deref(), Some("idle"));
    hook(&place, &ann, "Stop");
    eventually("it is idle", || activity().as_deref() == Some("idle"));
    hook(&place, &ann, "UserPromptSubmit");
    assert_eq!(activity().as_deref(), Some("working"), "its person gave it something to do");
}

#[test]
fn a_program_that_ends_after_its_turn_has_not_failed() {
    let place = Place::new();
    for (name, event, ending) in [("done", "Stop", "exited"), ("crashed", "PreToolUse", "failed")] {
        let mut program = Program::start(&place, name);
        let payload = json!({
            "session_id": name, "cwd": place.repo, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": "make" },
        });
        let file = place.dir().join(name);
        fs::write(&file, payload.to_string()).expect("written");
        program.run(&format!("{BINARY} hook claude < {}", file.display()));
        drop(program);
        eventually("it has ended", || {
            let ends = place.log_of("agent_terminated");
            let own =
                ends.iter().find(|end| end["summary"].as_str().is_some_and(|said| said.starts_with(name)));
            own.is_some_and(|end| end["details"]["ending"] == ending)
        });
    }
}

fn hook(place: &Place, agent: &Agent, event: &str) {
    hook_of(place, agent, event, "make");
}

/// Calls the hook of Claude Code before or after a shell command.
fn hook_of(place: &Place, agent: &Agent, event: &str, command: &str) {
    let payload = json!({
        "session_id": agent.id, "cwd": place.repo, "hook_event_name": event, "tool_name": "Bash",
        "tool_input": { "command": command },
    });
    let mut hook = place.comity_as(agent, &["hook", "claude"]);
    let piped = hook.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = piped.spawn().expect("the hook runs");
    child.stdin.take().expect("an input").write_all(payload.to_string().as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success());
}

/// Servers of a crash loop: together they live for longer than a lock of three seconds lasts.
const LIVES: u32 = 10;

/// Kills the server so often that none lives for as long as a lock of three seconds lasts; `call` is made with each.
fn crash_loop(place: &Place, mut call: impl FnMut()) {
    for _ in 0..LIVES {
        place.json(&["up"]);
        std::thread::sleep(Duration::from_millis(500)); // sleeps: clients ask again
        call();
        place.kill_server();
    }
}

#[test]
fn who_only_looks_keeps_its_locks_though_the_server_is_killed_again_and_again() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "3s"]);
    crash_loop(&place, || {
        Wire::connect(&place).asking_as(&ann).ask("locks", json!({})).expect("a list");
    });
    assert_eq!(holders(&place), ["ann held"]);
    crash_loop(&place, || ());
    assert_eq!(holders(&place), [""; 0], "nothing was heard of her since");
}

#[test]
fn who_waits_keeps_its_locks_though_the_server_is_killed_again_and_again() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json(&["lock", "src/b.rs"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "3s"]);
    let waiting = place.start(&mut place.comity_as(&ann, &["lock", "src/b.rs", "--wait", "1m"]));
    crash_loop(&place, || ());
    assert_eq!(holders(&place), ["the human held", "ann held"]);
    place.json(&["unlock", "--all"]);
    assert_eq!(waiting.finish().code, 0);
}
