//! A pipe or a device where a file is expected: whoever names it is told, and nobody waits for it.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use support::{Agent, Place, Ran, eventually};

/// What a server and its clients open in the state directory.
const STATE_FILES: [&str; 13] = [
    "comity.toml",
    "environment.json",
    "first-token",
    "http.port",
    "log.db",
    "log.db-shm",
    "log.db-wal",
    "log.witness",
    "panicked",
    "secret",
    "server.lock",
    "server.log",
    "start.lock",
];

fn pipe(place: &Place, at: &Path) {
    let _was_not_there = fs::remove_file(at);
    assert!(place.program("mkfifo").arg(at).status().expect("mkfifo").success());
}

/// Runs a command, which has to end.
fn run(place: &Place, agent: &Agent, arguments: &[&str]) -> Ran {
    place.start(&mut place.comity_as(agent, arguments)).finish()
}

#[test]
fn a_pipe_among_the_files_of_a_project_keeps_nobody_waiting() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let settings = place.repo.join("comity.toml");
    pipe(&place, &settings);
    // What was read a moment ago still counts for a second.
    let is_named = || {
        let lock = run(&place, &ann, &["lock", "src/a.rs", "--json"]);
        lock.code != 0 && lock.out.contains("comity.toml: it is a pipe or a device")
    };
    eventually("the pipe is named", is_named);
    assert_eq!(run(&place, &ann, &["status"]).code, 0, "the others are answered");
    fs::remove_file(&settings).expect("removed");
    symlink("/dev/zero", &settings).expect("a link");
    eventually("the device is named", is_named);
    fs::remove_file(&settings).expect("removed");
    pipe(&place, &place.repo.join("plan.md"));
    let plan = run(&place, &ann, &["plan", "submit", "plan.md", "--json"]);
    assert!(plan.code != 0, "{plan:?}");
    // What the guard of an agent program looks at before a write.
    pipe(&place, &place.repo.join("src/pipe.rs"));
    for (event, tool) in [("PostToolUse", "Read"), ("PreToolUse", "Write")] {
        let payload = json!({
            "session_id": "s", "cwd": place.repo, "hook_event_name": event, "tool_name": tool,
            "tool_input": { "file_path": place.repo.join("src/pipe.rs"), "content": "x" },
        });
        let mut hook = place.start(place.comity_as(&ann, &["hook", "claude"]).stdin(Stdio::piped()));
        let mut stdin = hook.0.stdin.take().expect("an input");
        stdin.write_all(payload.to_string().as_bytes()).expect("written");
        drop(stdin);
        hook.finish();
    }
    eventually("all is well", || run(&place, &ann, &["lock", "src/c.rs"]).code == 0);
    fs::write(place.repo.join("src/c.rs"), "changed\n").expect("written");
    pipe(&place, &place.repo.join(".git/index"));
    let commit = run(&place, &ann, &["commit", "-m", "Change c", "--json"]);
    assert!(commit.code != 0, "{commit:?}");
    assert_eq!(run(&place, &ann, &["locks"]).code, 0);
}

#[test]
fn a_pipe_in_the_state_directory_is_named() {
    for name in STATE_FILES {
        let place = Place::new();
        let ann = place.join(&["ann"]);
        place.json(&["down"]);
        pipe(&place, &place.home.join(name));
        for command in ["up", "doctor"] {
            let ran = run(&place, &ann, &[command]);
            assert_eq!(ran.code, 1, "{name}: {ran:?}");
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains(&format!("{name} is a pipe")), "{command}, {name}: {said}");
        }
    }
}

#[test]
fn a_segment_or_a_backup_that_is_a_pipe_is_not_waited_for() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let file = place.dir().join("backup");
    let name = file.to_str().expect("a text");
    pipe(&place, &file);
    let restored = run(&place, &Agent { token: support::HUMAN.into(), ..ann.clone() }, &["restore", name]);
    assert!(restored.code == 1 && restored.err.contains("it is a pipe or a device"), "{restored:?}");
    place.json(&["down"]);
    pipe(&place, &place.home.join("ledger/000000000001-000000000004.jsonl"));
    pipe(&place, &place.home.join("ledger/000000000004.world"));
    for command in ["up", "doctor"] {
        let ran = run(&place, &ann, &[command]);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(ran.code == 1 && said.contains("ledger"), "{command}: {said}");
    }
}
