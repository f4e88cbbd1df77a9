//! Writes without a lock are reported with their likely author; writes of holders and of git are not.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use support::wire::Follower;
use support::{Agent, Place, Ran, eventually};

/// A place that is watched, and its log from now on.
struct Watched {
    place: Place,
    log: Follower,
    sentinels: usize,
}

impl Watched {
    /// Lets agents join, and waits until their repository is watched.
    fn by(names: &[&str]) -> (Watched, Vec<Agent>) {
        let place = Place::new();
        let agents = names.iter().map(|name| place.join(&[name])).collect();
        until_watched(&place, 1);
        let log = place.follow_on();
        (Watched { place, log, sentinels: 0 }, agents)
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.place.repo.join(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("made");
        fs::write(file, text).expect("written");
    }

    /// The next report.
    fn report(&mut self) -> Value {
        self.log.until_action("unlocked_write")
    }

    /// What was reported up to now. The second of two files is written after the report of the first.
    fn reports(&mut self) -> Vec<String> {
        let mut reports = Vec::new();
        for _ in 0..2 {
            self.sentinels += 1;
            let sentinel = format!("sentinel{}", self.sentinels);
            self.write(&sentinel, "");
            loop {
                let report = self.report();
                if report["details"]["path"] == sentinel.as_str() {
                    fs::remove_file(self.place.repo.join(sentinel)).expect("removed");
                    break;
                }
                reports.push(report["summary"].as_str().expect("a text").to_owned());
            }
        }
        reports
    }

    /// Calls the hook of Claude Code as an agent.
    fn hook(&self, agent: &Agent, event: &str, tool: &str, input: Value) -> Ran {
        let payload = json!({
            "session_id": agent.id, "cwd": self.place.repo, "hook_event_name": event, "tool_name": tool,
            "tool_input": input,
        });
        let mut hook = self.place.comity_as(agent, &["hook", "claude"]);
        let mut child = hook
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the hook runs");
        child.stdin.take().expect("an input").write_all(payload.to_string().as_bytes()).expect("written");
        let ran = Ran::of(child.wait_with_output().expect("it ends"));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    }

    fn shell_begins(&self, agent: &Agent) -> Ran {
        self.hook(agent, "PreToolUse", "Bash", json!({ "command": "make" }))
    }

    fn shell_ends(&self, agent: &Agent) -> Ran {
        self.hook(agent, "PostToolUse", "Bash", json!({ "command": "make" }))
    }
}

fn until_watched(place: &Place, trees: u64) {
    eventually("the worktrees are watched", || place.json(&["status"])["watch"]["trees"] == trees);
}

#[test]
fn a_write_without_a_lock_is_reported() {
    let (mut watched, _) = Watched::by(&["ann"]);
    watched.write("src/a.rs", "fn changed() {}\n");
    let report = watched.report();
    assert_eq!(
        report["summary"], "src/a.rs was changed without a lock by a person or an unknown program",
        "{report}"
    );
    let root = watched.place.repo.canonicalize().expect("a path");
    assert_eq!(report["details"]["tree"], root.to_str().expect("a text"));
    let shown = watched.place.run(&["log", "--type", "unlocked_write"]);
    assert!(shown.out.contains("src/a.rs was changed without a lock"), "{shown:?}");
    fs::remove_file(watched.place.repo.join("src/b.rs")).expect("removed");
    watched.write("src/new/deep.rs", "x");
    let mut reports = watched.reports();
    reports.sort_unstable();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(reports[0].starts_with("src/b.rs was") && reports[1].starts_with("src/new/deep.rs was"));
}

#[test]
fn settings_of_agent_programs_are_reported_although_git_ignores_them() {
    let (mut watched, agents) = Watched::by(&["ann"]);
    watched.write(".gitignore", ".claude/settings.local.json\nother.json\n");
    watched.place.git(&["add", ".gitignore"]);
    watched.place.git(&["commit", "--quiet", "--message=ignore"]);
    watched.reports();
    watched.write("other.json", "{}");
    watched.shell_begins(&agents[0]);
    // The directory is new, and the file in it.
    watched.write(".claude/settings.local.json", "{}");
    let report = watched.report();
    assert_eq!(report["summary"], ".claude/settings.local.json was changed without a lock, probably by ann");
}

#[test]
fn the_likely_author_is_named_and_told() {
    let (mut watched, agents) = Watched::by(&["ann", "bob"]);
    let (ann, bob) = (&agents[0], &agents[1]);
    watched.shell_begins(ann);
    watched.write("src/a.rs", "fn changed() {}\n");
    let report = watched.report();
    assert_eq!(report["summary"], "src/a.rs was changed without a lock, probably by ann");
    let told = watched.shell_ends(ann);
    assert!(told.out.contains("src/a.rs was changed without a lock, probably by you"), "{told:?}");
    // Two run something: either may have been it, and nobody is accused.
    watched.shell_begins(ann);
    watched.shell_begins(bob);
    watched.write("src/b.rs", "fn changed() {}\n");
    let report = watched.report();
    let summary = report["summary"].as_str().expect("a text");
    let either =
        ["ann or bob", "bob or ann"].map(|names| format!("src/b.rs was changed without a lock by {names}"));
    assert!(either.iter().any(|text| text == summary), "{summary}");
    assert!(!watched.shell_ends(ann).out.contains("src/b.rs"));
}

#[test]
fn a_write_into_the_lock_of_another_is_reported_to_both() {
    let (mut watched, agents) = Watched::by(&["ann", "bob"]);
    let (ann, bob) = (&agents[0], &agents[1]);
    let a = watched.place.repo.join("src/a.rs");
    // By its write ann gets the lock; this is no news.
    watched.hook(ann, "PreToolUse", "Write", json!({ "file_path": a, "content": "x" }));
    fs::write(&a, "x").expect("written");
    watched.hook(ann, "PostToolUse", "Write", json!({ "file_path": a, "content": "x" }));
    assert!(watched.reports().is_empty());
    watched.shell_begins(bob);
    // A moment longer it may have been ann's call, which has just ended.
    let mut reports = Vec::new();
    eventually("the write is reported", || {
        fs::write(&a, format!("y{}", watched.sentinels)).expect("written");
        reports = watched.reports();
        !reports.is_empty()
    });
    assert_eq!(reports, ["src/a.rs, locked by ann, was changed, probably by bob"]);
    let told = watched.hook(ann, "PreToolUse", "Read", json!({ "file_path": "src/b.rs" }));
    assert!(told.out.contains("src/a.rs, which you have locked, was changed, probably by bob"), "{told:?}");
    let told = watched.shell_ends(bob);
    assert!(told.out.contains("src/a.rs, which ann has locked, was changed, probably by you"), "{told:?}");
}

#[test]
fn who_holds_the_lock_may_write() {
    let (mut watched, agents) = Watched::by(&["ann"]);
    watched.place.json_as(&agents[0], &["lock", "src/a.rs", "docs/"]);
    watched.write("src/a.rs", "fn changed() {}\n");
    watched.write("docs/new/page.md", "new\n");
    fs::rename(watched.place.repo.join("docs/new"), watched.place.repo.join("docs/old")).expect("renamed");
    assert!(watched.reports().is_empty());
    // Its commit writes to git's directory alone.
    let made = watched.place.json_as(&agents[0], &["commit", "-m", "Change a"]);
    assert_eq!(made["files"].as_array().map(Vec::len), Some(2), "{made}");
    assert!(watched.reports().is_empty());
    watched.place.json_as(&agents[0], &["unlock", "src/a.rs"]);
    watched.write("src/a.rs", "fn later() {}\n");
    assert_eq!(watched.reports().len(), 1, "the lock is gone");
}

#[test]
fn gits_own_writes_are_not_reported() {
    let (mut watched, _) = Watched::by(&["ann"]);
    let place = &watched.place;
    place.git(&["checkout", "--quiet", "-b", "other"]);
    for number in 0..200 {
        watched.write(&format!("many/{number}/file"), "x");
    }
    watched.place.git(&["add", "."]);
    watched.place.git(&["commit", "--quiet", "--message=many"]);
    // Whatever was reported of these writes, it is behind us.
    watched.reports();
    for step in [
        &["checkout", "--quiet", "main"][..],
        &["checkout", "--quiet", "other"],
        &["reset", "--quiet", "--hard", "main"],
        &["merge", "--quiet", "ORIG_HEAD"],
    ] {
        watched.place.git(step);
        let reports = watched.reports();
        assert!(reports.is_empty(), "git {step:?}: {reports:?}");
    }
}

#[test]
fn a_flood_is_counted() {
    let (mut watched, _) = Watched::by(&["ann"]);
    let many: Vec<String> = (0..100).map(|number| format!("many{number}")).collect();
    for name in &many {
        watched.write(name, "x");
    }
    let (mut named, mut counted) = (0, 0);
    while named + counted < many.len() {
        let report = watched.report();
        named += 1;
        counted += report["details"]["others"].as_u64().unwrap_or(0) as usize;
    }
    assert_eq!(named + counted, many.len());
    assert!(counted > 0, "{named} were named");
}

#[test]
fn worktrees_are_watched_as_long_as_somebody_works_in_the_project() {
    let (mut watched, agents) = Watched::by(&["ann"]);
    let made = watched.place.json_as(&agents[0], &["worktree", "add", "login"]);
    until_watched(&watched.place, 2);
    let tree = made["path"].as_str().expect("a path");
    fs::write(format!("{tree}/src/c.rs"), "fn changed() {}\n").expect("written");
    let report = watched.report();
    assert_eq!((&report["details"]["path"], &report["details"]["tree"]), (&json!("src/c.rs"), &json!(tree)));
    let reports = watched.reports();
    assert!(reports.is_empty(), "what was made for the worktree is not reported: {reports:?}");
    watched.place.json_as(&agents[0], &["agent", "bye"]);
    until_watched(&watched.place, 0);
}

#[test]
fn it_can_be_switched_off() {
    let place = Place::with(&[("COMITY_GUARD_WATCH", "false")]);
    place.join(&["ann"]);
    assert_eq!(place.json(&["status"])["watch"]["state"], "off");
    let doctor = place.run(&["doctor"]);
    assert!(doctor.out.contains("off by guard.watch"), "{doctor:?}");
    let (watched, _) = Watched::by(&["ann"]);
    let doctor = watched.place.run(&["doctor"]);
    assert!(doctor.out.contains("1 worktree, 2 directories"), "{doctor:?}");
}
