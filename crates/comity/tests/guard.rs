//! The hook that agent programs run: it takes locks, denies, learns what was read, and fails closed.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{Place, Ran};

/// A call of Claude Code's hook in this place's repository.
fn payload(place: &Place, event: &str, tool: &str, input: Value) -> String {
    json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": event, "tool_name": tool, "tool_input": input,
    })
    .to_string()
}

/// Runs the hook with a payload on its input.
fn hook(command: &mut Command, payload: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the hook runs");
    child.stdin.take().expect("an input").write_all(payload.as_bytes()).expect("written");
    Ran::of(child.wait_with_output().expect("it ends"))
}

fn judge(place: &Place, event: &str, tool: &str, input: Value) -> Ran {
    hook(&mut place.comity(&["hook", "claude"]), &payload(place, event, tool, input))
}

/// The reason of a denial.
fn denied(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = &ran.document()["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], "deny", "{ran:?}");
    said["permissionDecisionReason"].as_str().expect("a reason").to_owned()
}

fn allowed(ran: &Ran) {
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    // How to commit is told once, after the first write.
    if !ran.out.is_empty() {
        let said = &ran.document()["hookSpecificOutput"];
        assert_eq!(said["permissionDecision"], Value::Null, "{ran:?}");
        let told = said["additionalContext"].as_str().expect("a text");
        assert!(
            told.starts_with("Comity: the files that you write are yours") && !told.contains('\n'),
            "{told}"
        );
    }
}

/// A place where bob works on src/a.rs.
fn with_bob() -> Place {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/a.rs", "--reason", "fixing login"]);
    place
}

#[test]
fn a_tool_does_not_write_to_what_is_comitys_own() {
    let place = Place::new();
    place.json(&["up"]);
    let (state, settings) = (place.home.join("comity.toml"), place.dir().join(".config/comity/comity.toml"));
    let link = place.repo.join("link");
    std::os::unix::fs::symlink(&settings, &link).expect("a link to what is not there yet");
    std::os::unix::fs::symlink(&place.home, place.repo.join("state")).expect("a link");
    let text = |path: &std::path::Path| path.display().to_string();
    let patch = format!("*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch", text(&state));
    for (tool, input) in [
        ("Write", json!({ "file_path": state, "content": "x" })),
        ("Write", json!({ "file_path": settings, "content": "x" })),
        ("Write", json!({ "file_path": "../.config/comity/comity.toml", "content": "x" })),
        ("Write", json!({ "file_path": "../gone/../.config/comity/comity.toml", "content": "x" })),
        ("Write", json!({ "file_path": link, "content": "x" })),
        ("Write", json!({ "file_path": "state/secret", "content": "x" })),
        ("Write", json!({ "file_path": place.home.join("new/deep"), "content": "x" })),
        ("Edit", json!({ "file_path": place.home.join("init.json"), "old_string": "a", "new_string": "b" })),
        ("apply_patch", json!({ "command": patch })),
        ("Bash", json!({ "command": format!("echo x >{}", text(&settings)) })),
        ("Bash", json!({ "command": format!("rm {}/*", text(&place.home)) })),
        ("Bash", json!({ "command": format!("rm -rf {}/.config/com*", text(place.dir())) })),
        ("Bash", json!({ "command": format!("mv {} x", text(&place.home)) })),
        ("Bash", json!({ "command": format!("cp x {}", text(&place.home)) })),
        ("mcp__files__put", json!({ "path": settings, "text": "x" })),
    ] {
        let reason = denied(&judge(&place, "PreToolUse", tool, input.clone()));
        assert!(reason.contains("is Comity's own"), "{tool} {input}: {reason}");
        assert!(reason.contains("ask your human"), "it says what to do: {reason}");
    }
    for (tool, input) in [
        ("Write", json!({ "file_path": place.dir().join(".config/other"), "content": "x" })),
        ("Write", json!({ "file_path": place.dir().join("state2"), "content": "x" })),
        ("Read", json!({ "file_path": state })),
        ("Bash", json!({ "command": format!("cat {}", text(&settings)) })),
    ] {
        allowed(&judge(&place, "PreToolUse", tool, input));
    }
}

#[test]
fn a_search_shows_nothing_of_what_is_hidden() {
    let place = Place::new();
    place.json(&["up"]);
    std::os::unix::fs::symlink(&place.home, place.repo.join("state")).expect("a link");
    for (tool, input) in [
        ("Grep", json!({ "pattern": "x", "path": place.home })),
        ("Grep", json!({ "pattern": "x", "path": place.home.join("teams") })),
        ("Grep", json!({ "pattern": "x", "path": place.dir(), "output_mode": "content" })),
        ("Grep", json!({ "pattern": "x", "path": "state" })),
        ("grep_search", json!({ "pattern": "x", "dir_path": "/" })),
        ("read_many_files", json!({ "include": [place.home.join("teams/**/*.json")] })),
        ("read_many_files", json!({ "paths": ["a"], "include": ["../**/secret"] })),
        ("view_image", json!({ "path": place.home.join("screenshots/human/a.png") })),
    ] {
        let reason = denied(&judge(&place, "PreToolUse", tool, input.clone()));
        assert!(
            reason.contains("which no agent searches") || reason.contains("no agent reads it"),
            "{tool} {input}: {reason}"
        );
    }
    for (tool, input) in [
        ("Grep", json!({ "pattern": "x" })),
        ("Grep", json!({ "pattern": "x", "path": "src" })),
        ("Grep", json!({ "pattern": "x", "path": place.home.join("init.json") })),
        ("read_many_files", json!({ "include": ["src/**"] })),
        ("Glob", json!({ "pattern": "**/*.rs", "path": "/" })),
    ] {
        allowed(&judge(&place, "PreToolUse", tool, input));
    }
}

#[test]
fn a_write_to_what_somebody_else_has_locked_is_denied() {
    let place = with_bob();
    let a = place.repo.join("src/a.rs");
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch";
    for (tool, input) in [
        ("Write", json!({ "file_path": a, "content": "x" })),
        ("Write", json!({ "file_path": place.repo.join("src/../src/./a.rs"), "content": "x" })),
        ("Write", json!({ "file_path": "src/a.rs", "content": "x" })),
        ("Edit", json!({ "file_path": a, "old_string": "a", "new_string": "b" })),
        ("MultiEdit", json!({ "file_path": a, "edits": [] })),
        ("apply_patch", json!({ "command": patch })),
        ("Bash", json!({ "command": format!("apply_patch <<'EOF'\n{patch}\nEOF") })),
        ("Bash", json!({ "command": "echo x > src/a.rs" })),
        ("Bash", json!({ "command": "cd src && sed -i s/a/b/ a.rs" })),
        ("Bash", json!({ "command": "bash -c 'rm src/*.rs'" })),
        ("Bash", json!({ "command": "git checkout -- src/a.rs" })),
        ("Bash", json!({ "command": "git reset --hard" })),
    ] {
        let reason = denied(&judge(&place, "PreToolUse", tool, input.clone()));
        assert!(reason.contains("src/a.rs is locked by bob (\"fixing login\")"), "{tool} {input}: {reason}");
        assert!(reason.contains("or ask bob: "), "it says what to do: {reason}");
    }
}

#[test]
fn what_nobody_has_locked_is_locked_for_the_writer() {
    let place = with_bob();
    allowed(&judge(
        &place,
        "PreToolUse",
        "Write",
        json!({ "file_path": place.repo.join("src/b.rs"), "content": "x" }),
    ));
    allowed(&judge(&place, "PreToolUse", "Bash", json!({ "command": "cat src/a.rs; touch notes.md" })));
    let taken = place.log_of("lock_acquired");
    let paths: Vec<&Value> = taken.iter().skip(1).map(|entry| &entry["details"]["pattern"]).collect();
    assert_eq!(paths, ["src/b.rs", "notes.md"], "{taken:?}");
    assert_eq!(place.log_of("agent_joined").len(), 2, "both calls are of one session, so of one agent");
    // It holds as soon as it is said: bob is refused now.
    let bob = place.json(&["agent", "join", "bob2"]);
    let bob = support::Agent::of(&bob);
    let refused = place.run_as(&bob, &["lock", "src/b.rs", "--json"]).refusal();
    assert_eq!(refused["code"], "locked");
}

#[test]
fn outside_of_repositories_nothing_is_judged() {
    let place = with_bob();
    let elsewhere = place.dir().join("elsewhere.txt");
    allowed(&judge(&place, "PreToolUse", "Write", json!({ "file_path": elsewhere, "content": "x" })));
    // In one, a tool that nobody has told us about may write to what it is given, unless its name says otherwise.
    denied(&judge(&place, "PreToolUse", "mcp__other__tool", json!({ "path": "src/a.rs" })));
    allowed(&judge(&place, "PreToolUse", "mcp__other__read", json!({ "path": "src/a.rs" })));
}

#[test]
fn a_whole_file_may_not_be_written_from_a_stale_read() {
    let place = with_bob();
    let b = place.repo.join("src/b.rs");
    let write = || judge(&place, "PreToolUse", "Write", json!({ "file_path": b, "content": "all new" }));
    allowed(&judge(&place, "PostToolUse", "Read", json!({ "file_path": b })));
    allowed(&write());
    fs::write(&b, "fn main() {}\nfn added() {}\n").expect("somebody else's change");
    let reason = denied(&write());
    assert!(reason.contains("src/b.rs was changed after you read it:"), "{reason}");
    assert!(reason.contains("\n+fn added() {}\n"), "the difference is shown: {reason}");
    // A part is replaced by its own text: that cannot lose anything.
    let edit = json!({ "file_path": b, "old_string": "main", "new_string": "other" });
    allowed(&judge(&place, "PreToolUse", "Edit", edit));
    allowed(&judge(&place, "PostToolUse", "Read", json!({ "file_path": b })));
    allowed(&write());
    // What it has written itself it knows.
    fs::write(&b, "all new").expect("the write that was allowed");
    allowed(&judge(&place, "PostToolUse", "Write", json!({ "file_path": b, "content": "all new" })));
    allowed(&write());
    place.kill_server();
    fs::write(&b, "changed again").expect("written");
    assert!(denied(&write()).contains("changed after you read it"), "a new server knows it, too");
}

#[test]
fn whatever_goes_wrong_ends_in_a_no() {
    let place = with_bob();
    let write = payload(&place, "PreToolUse", "Write", json!({ "file_path": "src/b.rs", "content": "x" }));
    let blocked = |ran: Ran, why: &str| {
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains("blocked") && ran.err.contains(why), "{why}: {ran:?}");
    };
    blocked(hook(&mut place.comity(&["hook", "claude"]), ""), "nothing on standard input");
    blocked(hook(&mut place.comity(&["hook", "claude"]), "{nope"), "JSON");
    blocked(hook(&mut place.comity(&["hook", "claude"]), "[1, 2]"), "an object");
    blocked(hook(&mut place.comity(&["hook", "claude"]), "{}"), "names no event");
    blocked(hook(&mut place.comity(&["hook", "nobody"]), &write), "isn't an agent program");
    let missing = payload(&place, "PreToolUse", "Write", json!({ "content": "x" }));
    assert!(
        denied(&hook(&mut place.comity(&["hook", "claude"]), &missing)).contains("not clear which files")
    );
    // A state directory in which no server can be.
    let file = place.dir().join("no-directory");
    fs::write(&file, "").expect("written");
    blocked(hook(place.comity(&["hook", "claude"]).env("COMITY_HOME", &file), &write), "comity doctor");
    blocked(hook(place.comity(&["hook", "claude"]).env("COMITY_TOKEN", "cmty_wrong"), &write), "token");
    let mut open = place.comity(&["hook", "claude"]);
    let ran = hook(open.env("COMITY_HOME", &file).env("COMITY_GUARD_POLICY", "open"), &write);
    assert_eq!(ran.code, 0, "guard.policy is open: {ran:?}");
    assert!(ran.err.contains("goes ahead"), "and it says so: {ran:?}");
}

#[test]
fn the_hook_starts_the_server_that_it_needs() {
    let place = Place::new();
    assert_eq!(place.server(), None);
    allowed(&judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/b.rs", "content": "x" })));
    assert!(place.server().is_some());
}

#[test]
fn people_are_stopped_at_the_commit() {
    let place = with_bob();
    let guard = place.repo.join(".git/hooks/pre-commit");
    fs::create_dir_all(guard.parent().expect("a directory")).expect("made");
    fs::write(&guard, format!("#!/bin/sh\nexec '{}' hook pre-commit\n", support::BINARY)).expect("written");
    fs::set_permissions(&guard, fs::Permissions::from_mode(0o755)).expect("executable");
    let commit = || {
        Ran::of(
            place
                .program("git")
                .args(["commit", "--quiet", "--all", "-m", "x"])
                .env("COMITY_TOKEN", support::HUMAN)
                .output()
                .expect("git runs"),
        )
    };
    fs::write(place.repo.join("src/a.rs"), "changed\n").expect("written");
    let stopped = commit();
    assert_ne!(stopped.code, 0);
    assert!(stopped.err.contains("src/a.rs is locked by bob (\"fixing login\")"), "{stopped:?}");
    place.git(&["checkout", "--quiet", "--", "src/a.rs"]);
    fs::write(place.repo.join("src/b.rs"), "changed\n").expect("written");
    let made = commit();
    assert_eq!(made.code, 0, "{made:?}");
    // Nobody can lock these by themselves; a directory has them all the same.
    let cat = place.join(&["cat"]);
    place.json_as(&cat, &["lock", "docs/"]);
    for name in ["a\nb.md", "\u{7}/c.md", &format!("{0}/{0}/{0}/{0}/{0}/d.md", "d".repeat(250))] {
        let file = place.repo.join("docs").join(name);
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(&file, "new").expect("written");
        place.git(&["add", "--all"]);
        let stopped = commit();
        assert_ne!(stopped.code, 0, "{name:?}");
        assert!(stopped.err.contains("is locked by cat"), "{stopped:?}");
        assert!(!stopped.err.contains('\u{7}'), "{stopped:?}");
        place.git(&["rm", "--quiet", "-r", "--force", "docs"]);
    }
}

#[test]
fn a_large_file_is_judged_like_a_small_one() {
    let place = with_bob();
    let content = "x".repeat(5 * 1024 * 1024);
    let reason =
        denied(&judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/a.rs", "content": content })));
    assert!(reason.contains("locked by bob"));
    allowed(&judge(&place, "PreToolUse", "Write", json!({ "file_path": "src/big.txt", "content": content })));
}

/// What a hook told its agent besides.
fn context(ran: &Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    match ran.out.is_empty() {
        true => String::new(),
        false => {
            let said = &ran.document()["hookSpecificOutput"]["additionalContext"];
            said.as_str().unwrap_or_default().to_owned()
        }
    }
}

#[test]
fn mail_reaches_an_agent_by_its_hook_and_counts_as_read_once_it_was_written() {
    let place = Place::new();
    let look = || judge(&place, "PreToolUse", "Read", json!({ "file_path": place.repo.join("src/a.rs") }));
    allowed(&look());
    let name = place.json(&["agent", "list"])["agents"][0]["name"].as_str().expect("a name").to_owned();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["mail", "send", &name, "-m", "leave src/a.rs\nto bob"]);

    // The output of this hook goes nowhere: whoever was to read it is gone.
    let mut command = place.comity(&["hook", "claude"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the hook runs");
    drop(child.stdout.take());
    let input = payload(&place, "PreToolUse", "Read", json!({ "file_path": place.repo.join("src/a.rs") }));
    child.stdin.take().expect("an input").write_all(input.as_bytes()).expect("written");
    let lost = Ran::of(child.wait_with_output().expect("it ends"));
    assert_eq!(lost.code, 2, "{lost:?}");
    assert_eq!(place.json(&["mail", "boxes"])["boxes"][0]["letters"], 1, "it was not read");

    let told = context(&look());
    assert!(told.contains("from bob") && told.contains("offered before"), "{told}");
    assert!(told.contains("\n  | leave src/a.rs\n  | to bob"), "each line is marked: {told}");
    assert_eq!(place.json(&["mail", "boxes"])["boxes"], json!([]), "now it was");
    assert_eq!(context(&look()), "", "and it comes once");
}
