//! Agents in sandboxes: what they see, who they are, what of the network they reach, and that nothing gets out.

#![cfg(target_os = "linux")]

#[path = "sandbox/attacks.rs"]
mod attacks;
#[path = "sandbox/network.rs"]
mod network;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::Path;

use serde_json::Value;
use support::{BINARY, Place, eventually};

fn spawn(place: &Place, name: &str, script: &str, more: &[&str]) {
    let script = format!("{script}; echo done-with-it; sleep 1000");
    place.json(&[&["spawn", "developer", "--name", name, "--sandbox", "--agent", &script], more].concat());
}

/// What a sandboxed script says until it is through.
fn says(place: &Place, name: &str, script: &str, more: &[&str]) -> String {
    spawn(place, name, script, more);
    wait_for_output(place, name, "done-with-it")
}

pub(crate) fn run_of(place: &Place, name: &str) -> Value {
    let runs = place.json(&["runs", "--all"]);
    let runs = runs["runs"].as_array().expect("runs").clone();
    runs.into_iter().rfind(|run| run["name"] == name).expect("a run")
}

pub(crate) fn ready(place: &Place, name: &str) {
    eventually(&format!("{name} runs"), || run_of(place, name)["state"] == "running");
}

pub(crate) fn wait_for_output(place: &Place, name: &str, words: &str) -> String {
    let mut text = String::new();
    eventually(&format!("{name} says {words}"), || {
        text = place.run(&["logs", name]).out;
        let state = run_of(place, name)["state"].as_str().unwrap_or_default().to_owned();
        assert!(!state.starts_with("not started") && !state.starts_with("crashed"), "{state}: {text}");
        text.contains(words)
    });
    text.replace('\r', "")
}

#[test]
fn clients_know_where_a_sandbox_has_its_socket() {
    assert_eq!(comity_wire::SANDBOX_HOME, comity_app::runs::SANDBOX_HOME);
}

#[test]
fn it_works_as_an_agent_and_sees_its_repository() {
    let place = Place::new();
    let script = format!(
        "{BINARY} whoami; {BINARY} lock src/a.rs --reason mine; echo new > src/new.rs; cat src/b.rs; pwd; \
         echo x > ~/file && echo home; echo x > /tmp/file && echo tmp; git status --short; tty; test -t 0 && echo terminal"
    );
    let said = says(&place, "ann", &script, &[]);
    for part in [
        "ann",
        "locked src/a.rs",
        "fn main",
        &*place.repo.display().to_string(),
        "home",
        "tmp",
        "?? src/new.rs",
        "terminal",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(place.json(&["locks"])["locks"][0]["holder"], "ann");
    assert!(place.repo.join("src/new.rs").exists());
    assert!(!place.dir().join("file").exists(), "its home is its own");
    let pid = run_of(&place, "ann")["pid"].as_u64().expect("a process");
    place.json(&["stop", "ann"]);
    eventually("it is stopped", || run_of(&place, "ann")["state"] == "stopped");
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(place.run(&["logs", "ann"]).out.contains("terminal"), "what it wrote is still there");
}

#[test]
fn in_a_worktree_it_commits_and_reaches_nothing_that_git_runs() {
    let place = Place::new();
    let repo = place.repo.display();
    let script = format!(
        "echo new > src/new.rs; git add -A; git commit --quiet --message=second && echo committed; \
         git log --oneline | wc -l; c=$(git rev-parse --git-common-dir); g=$(git rev-parse --git-dir); \
         echo true > $c/hooks/post-commit || echo no-hook; git config core.fsmonitor true || echo no-setting; \
         echo . > $c/commondir || echo no-common; echo x > $g/commondir || echo no-own-common; \
         echo x > $g/config.worktree || echo no-worktree-setting; echo gitdir: /tmp > .git || echo no-pointer; \
         rm -f .git || echo no-removal; mv $g $g.2 || echo no-move; echo x > $c/worktrees/x || echo no-worktrees; \
         echo x > $c/info/attributes || echo no-attributes; echo /tmp > $c/objects/info/alternates || echo no-alternates; \
         cat {repo}/src/a.rs || echo no-main"
    );
    let said = says(&place, "ann", &script, &["--worktree"]);
    for part in [
        "committed",
        "no-hook",
        "no-setting",
        "no-common",
        "no-own-common",
        "no-worktree-setting",
        "no-pointer",
        "no-removal",
        "no-move",
        "no-worktrees",
        "no-attributes",
        "no-alternates",
        "no-main",
    ] {
        assert!(said.contains(&format!("\n{part}\n")), "{part}: {said}");
    }
    place.git(&["worktree", "list"]);
    let branches = place.program("git").args(["log", "--all", "--oneline"]).output().expect("git");
    assert!(String::from_utf8_lossy(&branches.stdout).contains("second"));
}

#[test]
fn what_others_hold_is_read_only_for_its_commands() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/a.rs", "--ttl", "30m"]);
    let confine = support::beside("comity-confine");
    let script = format!(
        "{} -c 'echo x >> src/a.rs || echo held; echo x >> src/b.rs && echo free'",
        confine.display()
    );
    let said = says(&place, "ann", &script, &[]);
    assert!(said.contains("\nheld") && said.contains("\nfree"), "{said}");
}

#[test]
fn it_comes_back_after_a_crash_and_goes_with_its_server() {
    let place = Place::new();
    place.json(&["task", "add", "Parser", "--id", "parser"]);
    let script = "test -e ~/before && echo again; touch ~/before; setsid -f sleep 1234; (nohup sleep 1235 >/dev/null 2>&1 &)";
    let said = says(&place, "ann", script, &["--task", "parser"]);
    assert!(!said.contains("again"));
    let first = run_of(&place, "ann");
    let pid = u32::try_from(first["pid"].as_u64().expect("a process")).expect("a number");
    let below = comity_runner_descendants(pid);
    assert!(below.len() >= 3, "{below:?}");
    support::kill(pid, rustix::process::Signal::KILL);
    eventually("another agent is there", || run_of(&place, "ann")["agent"] != first["agent"]);
    let said = wait_for_output(&place, "ann", "done-with-it");
    assert!(said.contains("again"), "its home is kept: {said}");
    assert!(below.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()), "{below:?}");

    let pid = u32::try_from(run_of(&place, "ann")["pid"].as_u64().expect("a process")).expect("a number");
    let below = comity_runner_descendants(pid);
    support::kill(place.server().expect("a server"), rustix::process::Signal::KILL);
    eventually("all of it has ended", || {
        below.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists())
    });
}

/// All processes below one, by `/proc`.
fn comity_runner_descendants(root: u32) -> Vec<u32> {
    let parent_of = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
    };
    let pids = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids: Vec<u32> = pids.filter_map(|file| file.file_name().to_str()?.parse().ok()).collect();
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let above = found[at];
        found.extend(pids.iter().copied().filter(|pid| parent_of(*pid) == Some(above)));
        at += 1;
    }
    found
}

#[test]
fn one_that_survives_is_taken_over_with_its_socket_and_its_proxy() {
    let place = Place::new();
    let script = format!("echo begun; until test -e go; do :; done; {BINARY} whoami");
    place.json(&[
        "spawn",
        "developer",
        "--name",
        "ann",
        "--sandbox",
        "--survive",
        "--agent",
        &format!("{script}; echo through; sleep 1000"),
    ]);
    wait_for_output(&place, "ann", "begun");
    place.json(&["restart"]);
    ready(&place, "ann");
    std::fs::write(place.repo.join("go"), "").expect("written");
    let said = wait_for_output(&place, "ann", "through");
    assert!(said.contains("ann"), "{said}");
}

#[test]
fn whoever_is_in_a_sandbox_starts_nobody_outside() {
    let place = Place::new();
    let start = format!(
        "{BINARY} spawn developer --name kid --agent 'cat {}/secret; echo tried; sleep 1000'",
        place.home.display()
    );
    let elsewhere = format!("cd /tmp && {BINARY} spawn developer --name away --agent true");
    let script =
        format!("{start}; {elsewhere}; {BINARY} tab open http://127.0.0.1:1/; echo all-asked; sleep 1000");
    place.json(&["spawn", "lead", "--name", "boss", "--sandbox", "--agent", &script]);
    let said = wait_for_output(&place, "boss", "all-asked");
    assert!(said.contains("in a sandbox, and can start agents only in the repository"), "{said}");
    assert!(said.contains("the shared browser is outside of your sandbox"), "{said}");
    let said = wait_for_output(&place, "kid", "tried");
    assert!(said.contains("No such file"), "{said}");
}

#[test]
fn hooks_of_the_repository_do_not_run_outside_for_it() {
    let place = Place::new();
    let hook = place.repo.join(".git/hooks/pre-commit");
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}/ran\n", place.dir().display())).expect("written");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let script = format!("{BINARY} lock src/a.rs; echo new >> src/a.rs; {BINARY} commit -m second");
    let said = says(&place, "ann", &script, &[]);
    assert!(said.contains("outside of your sandbox"), "{said}");
    assert!(!place.dir().join("ran").exists());
}

#[test]
fn where_namespaces_are_forbidden_nothing_starts_without_a_sandbox() {
    let place = Place::new();
    let apart = ["--user", "--map-root-user"];
    if !std::process::Command::new("unshare").args(apart).arg("true").status().is_ok_and(|it| it.success()) {
        let test = "where_namespaces_are_forbidden_nothing_starts_without_a_sandbox";
        return support::skip(test, "there are no user namespaces here");
    }
    let without = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let run = |words: &[&str]| {
        let mut unshare = place.program("unshare");
        unshare.args(apart).args(["sh", "-c", without, "sh", BINARY]).args(words);
        support::Ran::of(unshare.env("COMITY_TOKEN", support::HUMAN).output().expect("it runs"))
    };
    let ran = run(&["spawn", "developer", "--sandbox", "--agent", "touch ran"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.err.contains("nothing can run in a sandbox here: user namespaces are not allowed"),
        "{ran:?}"
    );
    assert!(ran.err.contains("user.max_user_namespaces=10000"), "{ran:?}");
    let doctor = run(&["doctor"]);
    let found = doctor.out.lines().find(|line| line.contains("--sandbox")).expect("a finding");
    assert!(found.starts_with("warn"), "{found}");
    assert!(!place.repo.join("ran").exists());
    assert_eq!(run(&["runs", "--all", "--json"]).json()["runs"].as_array().map(Vec::len), Some(0));
}
