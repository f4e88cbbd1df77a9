//! The hook and git: commits are judged by the hook itself, what is read by commands is known, and what the guard locked goes
//! once it is clean.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Agent, Place, Ran, eventually};

/// A call of Claude Code's hook in this place's repository.
fn judge(place: &Place, event: &str, tool: &str, input: Value) -> Ran {
    let payload = json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": event, "tool_name": tool, "tool_input": input,
    });
    ask(&mut place.comity(&["hook", "claude"]), &payload)
}

fn ask(hook: &mut Command, payload: &Value) -> Ran {
    let hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = hook.spawn().expect("the hook runs");
    child.stdin.take().expect("an input").write_all(payload.to_string().as_bytes()).expect("written");
    Ran::of(child.wait_with_output().expect("it ends"))
}

fn bash(place: &Place, event: &str, command: &str) -> Ran {
    judge(place, event, "Bash", json!({ "command": command }))
}

/// The reason of a denial; nothing if it may run.
fn denied(ran: &Ran) -> Option<String> {
    assert_eq!(ran.code, 0, "{ran:?}");
    if ran.out.is_empty() {
        return None;
    }
    let said = &ran.document()["hookSpecificOutput"];
    said["permissionDecisionReason"].as_str().map(str::to_owned)
}

/// A repository where bob has changed src/a.rs, which is locked, and somebody src/b.rs.
fn with_bobs_change() -> (Place, Agent) {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/a.rs", "--reason", "fixing login", "--ttl", "30m"]);
    for name in ["src/a.rs", "src/b.rs"] {
        fs::write(place.repo.join(name), "fn changed() {}\n").expect("written");
    }
    (place, bob)
}

#[test]
fn a_commit_of_what_another_has_locked_is_denied_whatever_git_would_run() {
    let (place, _bob) = with_bobs_change();
    for command in [
        "git commit -am x",
        "git -c core.hooksPath=/dev/null commit -qam x",
        "git commit -m x src/a.rs",
        "git commit -m x src",
        "git add . && git commit --no-verify -m x",
        "git add -A; git commit -m x",
        "cd src && git add a.rs && git commit -m x",
        "git add $(git ls-files -m) && git commit -m x",
        "bash -c 'git commit -am x'",
    ] {
        let reason =
            denied(&bash(&place, "PreToolUse", command)).unwrap_or_else(|| panic!("{command} may run"));
        assert!(reason.contains("src/a.rs is locked by bob (\"fixing login\")"), "{command}: {reason}");
        assert!(reason.contains("comity commit -m TEXT"), "it says how else: {reason}");
        assert!(reason.starts_with("Comity refused this; nothing is broken: "), "{reason}");
    }
    for command in [
        "git commit -m x src/b.rs",
        "git add src/b.rs && git commit -m x",
        "git commit --dry-run -a",
        "git status",
        "git commit -m x",
    ] {
        assert_eq!(denied(&bash(&place, "PreToolUse", command)), None, "{command}");
    }
    place.git(&["add", "src/a.rs"]);
    assert!(denied(&bash(&place, "PreToolUse", "git commit -m x")).is_some(), "it is staged");
    assert_eq!(denied(&bash(&place, "PreToolUse", "git commit -m x src/b.rs")), None, "only what is named");
}

#[test]
fn commits_of_ones_own_are_let_pass() {
    let place = Place::new();
    judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/a.rs", "content": "x" }));
    fs::write(place.repo.join("src/a.rs"), "x").expect("written");
    assert_eq!(denied(&bash(&place, "PreToolUse", "git commit -am x")), None);
}

/// Somebody else's change, which the agent has not seen.
fn changes(place: &Place, file: &str) {
    fs::write(place.repo.join(file), "fn elsewhere() {}\n").expect("written");
}

#[test]
fn what_commands_show_counts_as_read() {
    for command in [
        "sed -n 1,5p src/a.rs",
        "head -n 3 src/a.rs",
        "tail -n 3 src/a.rs",
        "awk 'NR < 3' src/a.rs",
        "grep -n main src/a.rs",
        "rg main src/a.rs",
        "git show HEAD:src/a.rs",
        "cd src && git show HEAD:./a.rs",
        "git cat-file -p HEAD:src/a.rs",
    ] {
        let place = Place::new();
        bash(&place, "PostToolUse", command);
        changes(&place, "src/a.rs");
        let write = judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/a.rs", "content": "x" }));
        let reason = denied(&write).unwrap_or_else(|| panic!("after {command} it may be written"));
        assert!(reason.contains("src/a.rs was changed after you read it"), "{command}: {reason}");
    }
}

#[test]
fn what_readers_of_other_servers_show_counts_as_read() {
    for (tool, input) in [
        ("mcp__files__read_text_file", json!({ "path": "src/a.rs" })),
        ("mcp__files__read_file", json!({ "path": "src/a.rs", "head": 10 })),
        ("mcp__files__read_multiple_files", json!({ "paths": ["src/b.rs", "src/a.rs"] })),
    ] {
        let place = Place::new();
        judge(&place, "PostToolUse", tool, input);
        changes(&place, "src/a.rs");
        let write = judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/a.rs", "content": "x" }));
        assert!(denied(&write).is_some(), "{tool}");
    }
}

#[test]
fn a_glance_does_not_hide_a_change() {
    let place = Place::new();
    let write = || judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/a.rs", "content": "x" }));
    judge(&place, "PostToolUse", "Read", json!({ "file_path": "src/a.rs" }));
    changes(&place, "src/a.rs");
    bash(&place, "PostToolUse", "grep -n x src/a.rs");
    bash(&place, "PostToolUse", "git show HEAD:src/a.rs");
    assert!(denied(&write()).is_some(), "it has seen a line of the change at most");
    judge(&place, "PostToolUse", "Read", json!({ "file_path": "src/a.rs" }));
    assert_eq!(denied(&write()), None, "now it has seen all");
}

#[test]
fn a_patch_that_adds_a_file_does_not_overwrite_one() {
    let place = Place::new();
    let patch = "*** Begin Patch\n*** Add File: src/a.rs\n+mine\n*** End Patch";
    let add = || judge(&place, "PreToolUse", "apply_patch", json!({ "command": patch }));
    judge(&place, "PostToolUse", "Read", json!({ "file_path": "src/a.rs" }));
    assert_eq!(denied(&add()), None, "it is as it was read");
    changes(&place, "src/a.rs");
    let reason = denied(&add()).expect("denied");
    assert!(reason.contains("src/a.rs was changed after you read it"), "{reason}");
    let line = json!({ "command": format!("apply_patch <<'EOF'\n{patch}\nEOF") });
    assert!(denied(&judge(&place, "PreToolUse", "Bash", line)).is_some(), "as a command, too");
}

/// What the agent writes where it does not matter.
const MINE: &str = "fn mine() {}\n";

/// The agent writes a file by its tool; gives what it is told afterwards.
fn writes(place: &Place, file: &str, content: &str) -> Ran {
    let input = json!({ "file_path": file, "content": content });
    let before = judge(place, "PreToolUse", "Write", input.clone());
    assert_eq!(denied(&before), None, "{before:?}");
    fs::write(place.repo.join(file), content).expect("written");
    judge(place, "PostToolUse", "Write", input)
}

fn locked(place: &Place) -> Vec<String> {
    let locks = place.json(&["locks"]);
    let paths = locks["locks"].as_array().expect("locks").iter();
    paths.map(|lock| lock["path"].as_str().expect("a path").to_owned()).collect()
}

#[test]
fn a_lock_of_the_guard_goes_once_its_file_is_clean() {
    let place = Place::new();
    for clean in [
        &["commit", "-qam", "mine"][..],
        &["checkout", "-q", "--", "src/b.rs"],
        &["restore", "src/b.rs"],
        &["stash", "-q"],
    ] {
        judge(&place, "PostToolUse", "Read", json!({ "file_path": "src/b.rs" }));
        writes(&place, "src/b.rs", &format!("// before {clean:?}\n"));
        assert_eq!(locked(&place), ["src/b.rs"]);
        place.git(clean);
        eventually("its lock is free", || locked(&place).is_empty());
    }
}

#[test]
fn a_lock_of_the_guard_stays_while_its_holder_is_about_to_write() {
    let place = Place::new();
    let input = json!({ "file_path": "src/b.rs", "content": "x" });
    assert_eq!(denied(&judge(&place, "PreToolUse", "Write", input.clone())), None);
    assert_eq!(locked(&place), ["src/b.rs"]);
    // Somebody else commits meanwhile, so that the branch moves and all is looked at.
    let mut follower = place.follow();
    fs::write(place.repo.join("src/c.rs"), "fn other() {}\n").expect("written");
    place.git(&["commit", "-qam", "other"]);
    fs::write(place.repo.join("src/c.rs"), "fn unlocked() {}\n").expect("written");
    // The watcher has looked once it reports this.
    follower.until_action("unlocked_write");
    assert_eq!(locked(&place), ["src/b.rs"], "the file is clean, for the call has not written it yet");
    fs::write(place.repo.join("src/b.rs"), "x").expect("written");
    judge(&place, "PostToolUse", "Write", input);
    place.git(&["commit", "-qam", "mine"]);
    eventually("its lock is free", || locked(&place).is_empty());
}

#[test]
fn locks_of_the_guard_last_as_long_as_the_settings_say() {
    let place = Place::new();
    fs::write(place.repo.join("comity.toml"), "[lock]\nttl = \"11m\"\n").expect("written");
    writes(&place, "src/b.rs", MINE);
    let acquired = place.log_of("lock_acquired");
    assert_eq!(acquired[0]["details"]["ttl"], 11 * 60 * 1_000, "{acquired:?}");
}

#[test]
fn an_agent_is_told_once_how_to_commit() {
    let place = Place::new();
    let said = writes(&place, "src/b.rs", MINE);
    let context =
        said.document()["hookSpecificOutput"]["additionalContext"].as_str().expect("a text").to_owned();
    assert!(context.contains("comity commit -m TEXT"), "{context}");
    assert_eq!(writes(&place, "src/c.rs", MINE).out, "", "once");
}
