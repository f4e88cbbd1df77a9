//! What an agent cannot free its commands by: using something up, leaving, or a lock on everything.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::nobody::again_as_nobody;
use super::{confined, place, ways};
use crate::support::{Agent, BINARY, Place, Ran, Running, beside, eventually};

#[test]
fn a_file_is_held_where_nothing_can_be_watched() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    // The holder saves by renaming, and the command tries once that is held, too.
    let command = "read go <go; while [ -w src/a.rs ] && [ $SECONDS -lt 20 ]; do :; done; echo x >src/a.rs";
    let line = format!(
        "echo 0 >/proc/sys/user/max_inotify_instances; mkfifo go; cp src/a.rs new; \
        \"$CONFINE\" -c 'echo x >src/a.rs; {command}' & \
        sleep 1; mv new src/a.rs; echo go >go; wait $!"
    );
    let mut unshare = place.program("unshare");
    unshare.args(["--user", "--map-root-user", "bash", "-c", &line]);
    unshare.env("CONFINE", beside("comity-confine")).env("COMITY_TOKEN", &ann.token);
    let ran = Ran::of(unshare.output().expect("it runs"));
    assert_eq!(ran.err.matches("Read-only file system").count(), 2, "{ran:?}");
    assert!(ways::is_untouched(&place.repo), "{ran:?}");
}

#[test]
fn a_command_does_not_run_free_for_want_of_something() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let confine = beside("comity-confine").display().to_string();
    for files in 4..12 {
        let line = format!("ulimit -n {files}; exec '{confine}' -c 'echo x >src/a.rs'");
        let mut bash = place.program("bash");
        bash.args(["-c", &line]).env("COMITY_TOKEN", &ann.token);
        let ran = Ran::of(bash.output().expect("it runs"));
        assert_ne!(ran.code, 0, "{files}: {ran:?}");
        assert!(ways::is_untouched(&place.repo), "{files}: {ran:?}");
    }
}

#[test]
fn an_agent_that_has_left_runs_nothing() {
    let (place, _bob) = place();
    for mode in ["build", "plan"] {
        let ann = place.join(&["ann"]);
        if mode == "plan" {
            place.json(&["mode", "ann", "plan"]);
        }
        let line = format!("'{BINARY}' agent bye");
        assert_eq!(Ran::of(confined(&place, &ann, &line).output().expect("it runs")).code, 0);
        let ran = Ran::of(confined(&place, &ann, "touch ran; echo x >src/a.rs").output().expect("it runs"));
        assert_eq!(ran.code, 126, "{ran:?}");
        assert!(ran.err.starts_with("Comity: this did not run: "), "{ran:?}");
        assert!(ways::is_untouched(&place.repo) && !place.repo.join("ran").exists(), "{mode}: {ran:?}");
    }
    // As whoever an unknown token stands for, also if the server has to be started first.
    place.kill_server();
    let mut stranger = place.program(beside("comity-confine"));
    stranger.args(["-c", "echo x >src/a.rs"]);
    let ran = Ran::of(stranger.env("COMITY_TOKEN", "cmty_unknown").output().expect("it runs"));
    assert_eq!(ran.code, 126, "{ran:?}");
    assert!(ways::is_untouched(&place.repo));
}

#[test]
fn a_command_does_not_run_while_nobody_can_be_asked() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.kill_server();
    let run = |setting: &str| {
        // No server starts with this.
        place.set(&format!("[lock]\nttl = \"never\"\n\n[guard]\n{setting}\n"));
        Ran::of(confined(&place, &ann, "touch ran; echo x >src/a.rs").output().expect("it runs"))
    };
    for setting in
        ["", "confine = \"auto\"", "confine = \"required\"", "confine = \"required\"\npolicy = \"open\""]
    {
        let ran = run(setting);
        assert_eq!(ran.code, 126, "{setting}: {ran:?}");
        assert!(ran.err.starts_with("Comity: this did not run: "), "{setting}: {ran:?}");
        assert!(ran.err.contains("comity doctor"), "{setting}: {ran:?}");
        assert!(ways::is_untouched(&place.repo) && !place.repo.join("ran").exists(), "{setting}: {ran:?}");
    }
    assert_eq!(run("policy = \"open\"").code, 0, "as its person wants it");
}

#[test]
fn what_keeps_the_mounts_of_a_command_is_in_no_worktree() {
    // Root may look at whatever keeps the mounts, and so finds out without being told.
    if again_as_nobody("limits::what_keeps_the_mounts_of_a_command_is_in_no_worktree", &[]) {
        return;
    }
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["worktree", "add", "login"]);
    let mut command = confined(&place, &ann, "read line");
    let mut running = Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs"));
    let mut other = confined(&place, &ann, "echo in; read line");
    let mut other = Running(other.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs"));
    let mut said = [0; 3];
    std::io::Read::read_exact(other.0.stdout.as_mut().expect("a pipe"), &mut said).expect("it is in");
    let gone = place.json_as(&ann, &["worktree", "remove", "login", "--wait"]);
    assert_eq!(gone["gone"], true, "{gone}");
    drop((running.0.stdin.take(), other.0.stdin.take()));
}

#[test]
fn a_lock_on_everything_leaves_git_alone() {
    let (place, bob) = place();
    place.json_as(&bob, &["lock", "."]);
    place.git(&["worktree", "add", "--quiet", "../other"]);
    let ann = place.join(&["ann"]);
    let run = |line: &str| Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    for line in
        ["echo x >src/a.rs", "echo x >src/new", "rm -rf src", "mv src other", "echo x >../other/src/b.rs"]
    {
        let ran = run(line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
    }
    let ran = run(
        "git commit --quiet --allow-empty -m x && cd ../other && git commit --quiet --allow-empty -m y && git branch z",
    );
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_glob_holds_every_file_that_it_means() {
    let place = Place::new();
    let (bob, ann) = (place.join(&["bob"]), place.join(&["ann"]));
    let odd = place.repo.join(OsStr::from_bytes(b"src/deep/\xff\xfe.rs"));
    std::fs::create_dir(place.repo.join("src/deep")).expect("made");
    for file in [odd.as_path(), &place.repo.join("src/deep/d.rs"), &place.repo.join("src/deep/d.md")] {
        std::fs::write(file, "as it was").expect("written");
    }
    std::os::unix::fs::symlink(place.repo.join("src/deep/d.md"), place.repo.join("src/link.rs"))
        .expect("linked");
    place.json_as(&bob, &["lock", "src/**/*.rs"]);
    let run = |line: &str| Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    for line in [
        "echo x >src/a.rs",
        "rm -f src/deep/d.rs",
        "mv src/deep src/other",
        "echo x >$'src/deep/\\xff\\xfe.rs'",
        "mv src/b.rs $'src/deep/\\xff\\xfe.rs'",
        "echo x >src/link.rs",
    ] {
        let ran = run(line);
        assert_ne!(ran.code, 0, "{line}: {ran:?}");
    }
    assert_eq!(std::fs::read_to_string(odd).expect("there"), "as it was");
    assert_eq!(run("echo x >src/deep/other.md && echo y >new.rs").code, 0, "the rest is free");
}

#[test]
fn a_worktree_whose_name_nothing_can_spell_stops_commands() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    let odd = place.dir().join(OsStr::from_bytes(b"odd\xff"));
    let mut git = place.program("git");
    git.args(["worktree", "add", "--quiet", "-b", "odd"]).arg(&odd);
    assert!(git.status().expect("git").success());
    let ran =
        Ran::of(confined(&place, &ann, "touch ran; echo x >../odd*/src/a.rs").output().expect("it runs"));
    assert_eq!(ran.code, 126, "{ran:?}");
    assert!(ran.err.contains("not UTF-8") && ran.err.contains("move"), "{ran:?}");
    assert!(!place.repo.join("ran").exists());
}

#[test]
fn more_locks_than_are_held_one_by_one_hold_directories() {
    let place = Place::new();
    let (bob, ann) = (place.join(&["bob"]), place.join(&["ann"]));
    let mut paths = vec!["src/a.rs".to_owned()];
    for dir in ["many/one", "many/two", "few"] {
        std::fs::create_dir_all(place.repo.join(dir)).expect("made");
        let count = if dir == "few" { 3 } else { 600 };
        paths.extend((0..count).map(|at| format!("{dir}/file-{at}")));
    }
    for path in &paths {
        std::fs::write(place.repo.join(path), "").expect("written");
    }
    for some in paths.chunks(250) {
        let words: Vec<&str> = ["lock"].into_iter().chain(some.iter().map(String::as_str)).collect();
        place.json_as(&bob, &words);
    }
    let line =
        "for f in src/a.rs many/*/* few/*; do echo x 2>/dev/null >$f && echo $f; done; echo x >src/b.rs";
    let ran = Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    assert_eq!((ran.code, &*ran.out), (0, ""), "what is locked is held, and src/b.rs is not: {}", ran.err);
    let ran = Ran::of(confined(&place, &ann, "echo x >many/one/new").output().expect("it runs"));
    assert_ne!(ran.code, 0, "the directory is held: {ran:?}");
    let payload = serde_json::json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": { "command": "echo x >many/one/new" }, "tool_response": { "stderr": ran.err },
    });
    let told = place.run_as(&ann, &["guard", "tool", &payload.to_string(), "--client", "claude"]);
    assert!(told.out.contains("more than 1000 locks") && told.out.contains("bob"), "{told:?}");
}

/// What a command makes of a held glob nothing can hold: the holder is told, and the commit is where it ends.
#[test]
fn a_new_file_of_a_held_glob_is_reported_and_not_committed() {
    let (place, bob) = place();
    let ann = place.join(&["ann"]);
    place.json_as(&bob, &["lock", "src/**/*.rs"]);
    eventually("it is watched", || place.json(&["status"])["watch"]["trees"] == 1);
    let hook = |agent: &Agent, event: &str| {
        let payload = serde_json::json!({
            "session_id": agent.id, "cwd": place.repo, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": "make" }, "tool_response": {},
        });
        place.run_as(agent, &["guard", "tool", &payload.to_string(), "--client", "claude"])
    };
    hook(&bob, "PreToolUse");
    hook(&bob, "PostToolUse");
    hook(&ann, "PreToolUse");
    // For a moment it may have been bob's call, which has just ended.
    let mut report = serde_json::Value::Null;
    let mut tried = 0;
    eventually("it is reported", || {
        tried += 1;
        // It is held once it is there: the next try makes another.
        let line = format!("echo x >src/new{tried}.rs");
        let ran = Ran::of(confined(&place, &ann, &line).output().expect("it runs"));
        assert_eq!(ran.code, 0, "nothing holds what is not there: {ran:?}");
        let log = place.json(&["log", "--type", "unlocked_write"]);
        report = log["entries"][0].clone();
        report != serde_json::Value::Null
    });
    let said = report["summary"].as_str().expect("a text");
    assert!(said.starts_with("src/new") && said.contains("locked by bob"), "{report}");
    assert!(said.ends_with("changed, probably by ann"), "{report}");
    let told = hook(&bob, "PreToolUse");
    assert!(told.out.contains("which you have locked, was changed, probably by ann"), "{told:?}");
    let guard = place.repo.join(".git/hooks/pre-commit");
    fs::create_dir_all(guard.parent().expect("a directory")).expect("made");
    fs::write(&guard, format!("#!/bin/sh\nexec '{BINARY}' hook pre-commit\n")).expect("written");
    fs::set_permissions(&guard, fs::Permissions::from_mode(0o755)).expect("set");
    let line = "echo x >src/last.rs && git add src/last.rs && git commit --quiet -m new";
    let ran = Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("the commit would have in it what others hold"), "{ran:?}");
}

#[test]
fn a_commit_in_a_worktree_that_the_command_made_is_noticed() {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    eventually("it is watched", || place.json(&["status"])["watch"]["trees"] == 1);
    let mut log = place.follow_on();
    let run = |line: &str| Ran::of(confined(&place, &ann, line).output().expect("it runs"));
    let ran = run(
        "git worktree add --quiet ../made && cd ../made && echo x >src/a.rs && git commit --quiet --no-verify -am x",
    );
    assert_eq!(ran.code, 0, "nothing holds what was not there when it began: {ran:?}");
    let report = log.until_action("commit_unguarded");
    assert!(report["details"].to_string().contains("src/a.rs"), "{report}");
    let ran = run("cd ../made && echo y >src/a.rs");
    assert_ne!(ran.code, 0, "the next command finds it held: {ran:?}");
    assert!(ways::is_untouched(&place.repo));
}
