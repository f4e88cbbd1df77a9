//! Looking at agents: what each is about, what it has changed, and why something does not go on.

#[path = "looks/lists.rs"]
mod lists;
#[path = "looks/replay.rs"]
mod replay;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::Value;
use support::{Place, Ran, eventually};

fn agent<'a>(list: &'a Value, name: &str) -> &'a Value {
    let agents = list["agents"].as_array().expect("agents");
    agents.iter().find(|agent| agent["name"] == name).expect("it is there")
}

#[test]
fn whoever_waits_and_whoever_is_blocked_are_told_apart_everywhere() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let _waits = place.start(&mut place.comity_as(&bob, &["lock", "src/a.rs", "--wait", "1h"]));
    place.run_as(&ann, &["ask", "Bash", "{\"command\": \"cargo publish\"}", "--by-mail"]);
    eventually("bob waits", || agent(&place.json(&["agent", "list"]), "bob")["activity"] == "waiting");
    let list = place.json(&["agent", "list"]);
    assert_eq!(agent(&list, "bob")["waits_for"][0]["from"][0], "ann", "{list}");
    assert_eq!(agent(&list, "ann")["activity"], "blocked", "{list}");
    let status = place.json(&["status"]);
    let held_up: Vec<&Value> = status["held_up"].as_array().expect("agents").iter().collect();
    assert_eq!(held_up.len(), 2, "{status}");
    let shown = place.run(&["agent", "list"]).out;
    assert!(shown.contains("blocked on Bash: cargo publish (you, "), "{shown}");
    assert!(shown.contains("waits for src/a.rs (ann, "), "{shown}");
    assert!(place.run(&["status"]).out.contains("bob waits for src/a.rs (ann, "));
    let why = place.run(&["why", "bob"]).out;
    assert!(why.contains("bob waits for src/a.rs") && why.contains("ann waits for your answer to"), "{why}");
    let path = place.json(&["why", "src/a.rs"]);
    assert_eq!((&path["kind"], &path["links"][0]["who"]), (&"path".into(), &"ann".into()), "{path}");
    std::fs::create_dir_all(place.repo.join("src")).expect("made");
    std::fs::write(place.repo.join("src/free.rs"), "// free\n").expect("written");
    assert_eq!(place.run(&["why", "src/free.rs"]).out.trim(), "src/free.rs is free");
}

#[test]
fn an_agent_is_shown_with_what_it_has_changed() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/", "--reason", "the parser"]);
    std::fs::write(place.repo.join("src/a.rs"), "fn parse() {}\n").expect("written");
    let commit = place.json_as(&ann, &["commit", "-m", "Parse"]);
    std::fs::write(place.repo.join("src/b.rs"), "fn half() {}\n").expect("written");
    std::fs::write(place.repo.join("src/new.rs"), "fn new() {}\n").expect("written");
    std::fs::write(place.repo.join("not-hers.rs"), "x\n").expect("written");
    let shown = place.json(&["show", "ann"]);
    assert_eq!(shown["held"][0]["path"], "src/", "{shown}");
    assert_eq!(shown["uncommitted"][0]["files"], serde_json::json!(["src/b.rs", "src/new.rs"]), "{shown}");
    assert_eq!(shown["commits"][0]["commit"], commit["commit"]);
    let last = shown["last"].as_array().and_then(|acts| acts.last()).expect("acts");
    assert!(last["what"].as_str().expect("a sentence").contains("Parse"), "{shown}");
    let diff = place.run(&["diff", "ann"]).out;
    for part in ["by ann: Parse (1 file)", "+fn parse() {}", "-fn main() {}", "+fn half() {}", "+fn new() {}"]
    {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    assert!(!diff.contains("not-hers"), "{diff}");
    assert_eq!(place.run_as(&ann, &["diff"]).out, diff, "one's own without a name");
    let files = place.json(&["diff", "ann", "--files"]);
    assert_eq!(files["uncommitted"][0]["patch"], Value::Null, "{files}");
    // Who has ended is shown, too.
    place.json_as(&ann, &["agent", "bye"]);
    assert_eq!(place.json(&["show", "ann"])["commits"][0]["subject"], "Parse");
    assert_eq!(place.run(&["show", "zoe"]).code, 3);
}

#[test]
fn what_git_alone_did_in_its_own_worktree_is_an_agents_too() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let tree = place.json_as(&ann, &["worktree", "add", "login"]);
    let path = tree["path"].as_str().expect("a path").to_owned();
    let git = |words: &[&str]| {
        let done = place.program("git").arg("-C").arg(&path).args(words).status().expect("git");
        assert!(done.success(), "{words:?}");
    };
    std::fs::write(format!("{path}/plain.rs"), "fn plain() {}\n").expect("written");
    git(&["add", "plain.rs"]);
    git(&["-c", "core.hooksPath=", "commit", "-qm", "By git alone"]);
    std::fs::write(format!("{path}/unlocked.rs"), "fn unlocked() {}\n").expect("written");
    std::fs::write(place.repo.join("not-hers.rs"), "x\n").expect("written");
    let shown = place.json(&["show", "ann"]);
    assert_eq!(shown["commits"][0]["subject"], "By git alone", "{shown}");
    assert_eq!(shown["uncommitted"][0]["files"], serde_json::json!(["unlocked.rs"]), "{shown}");
    let diff = place.run(&["diff", "ann"]).out;
    for part in ["on comity/login by ann: By git alone (1 file)", "+fn plain() {}", "+fn unlocked() {}"] {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    assert!(!diff.contains("not-hers"), "{diff}");
    // What comity commit made is there once.
    std::fs::write(format!("{path}/both.rs"), "fn both() {}\n").expect("written");
    let here = |words: &[&str]| {
        let mut command = place.comity_as(&ann, words);
        let ran = support::Ran::of(command.current_dir(&path).output().expect("it runs"));
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    here(&["lock", "both.rs"]);
    here(&["commit", "-m", "By Comity"]);
    let commits = place.json(&["diff", "ann"])["commits"].as_array().expect("commits").len();
    assert_eq!(commits, 2);
}

#[test]
fn what_was_changed_for_a_task_is_what_its_worker_committed_meanwhile() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let commit = |file: &str, message: &str| {
        place.json_as(&ann, &["lock", file]);
        std::fs::write(place.repo.join(file), format!("// {message}\n")).expect("written");
        place.json_as(&ann, &["commit", "-m", message]);
    };
    commit("src/a.rs", "Before");
    place.json(&["task", "add", "Write the parser", "--id", "parser", "--review"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    commit("src/b.rs", "Parser");
    place.json_as(&ann, &["task", "done", "parser", "--evidence", "b.rs"]);
    commit("src/c.rs", "After");
    place.json(&["task", "send-back", "parser", "--reason", "a test is missing"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    commit("src/b.rs", "Parser with a test");
    let diff = place.json(&["diff", "parser"]);
    let subjects: Vec<&str> = diff["commits"]
        .as_array()
        .expect("commits")
        .iter()
        .map(|commit| commit["subject"].as_str().expect("a subject"))
        .collect();
    assert_eq!(subjects, ["Parser", "Parser with a test"], "{diff}");
}

#[test]
fn why_says_what_there_is_not_and_what_became_of_whoever_ended() {
    let place = Place::new();
    place.set("[pools.build]\ncapacity = 1\n");
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let why = |subject: &str| place.run(&["why", subject]);
    std::fs::create_dir_all(place.repo.join("src")).expect("made");
    std::fs::write(place.repo.join("src/a.rs"), "// here\n").expect("written");
    let nothing = why("nobody");
    assert_eq!(nothing.code, 3, "{nothing:?}");
    assert!(nothing.err.contains("there is no path, task or agent nobody"), "{nothing:?}");
    assert!(why("src/a.rs").out.contains("src/a.rs is free"), "it exists");
    place.json_as(&ann, &["lock", "not/there.rs"]);
    assert!(why("not/there.rs").out.contains("locked by ann"), "{:?}", why("not/there.rs"));
    place.json_as(&ann, &["decide", "Use tabs", "--needs-confirmation"]);
    assert!(why("d1").out.contains("waits for you to confirm it"), "{:?}", why("d1"));
    place.run_as(&ann, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    assert!(why("p1").out.contains("ann asks for Bash: make; it waits for you"), "{:?}", why("p1"));
    assert!(why("ann").out.contains("ann waits for your answer to Bash: make"), "{:?}", why("ann"));
    place.json_as(&ann, &["lease", "build"]);
    let mut waiting = place.comity_as(&bob, &["lease", "build", "--wait", "60s"]).spawn().expect("it waits");
    eventually("bob waits", || why("bob").out.contains("bob waits for a lease of build"));
    assert!(why("bob").out.contains("ann has a lease of build"), "{:?}", why("bob"));
    let build = why("build").out;
    assert!(build.contains("ann has lease 1 of build") && build.contains("bob waits for one"), "{build}");
    place.json_as(&ann, &["agent", "bye"]);
    assert!(waiting.wait().expect("it ends").success());
    assert!(why("ann").out.starts_with("ann completed "), "{:?}", why("ann"));
}

#[test]
fn a_lock_does_not_count_its_own_holder_as_waiting() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&bob, &["lock", "src/c.rs"]);
    let mut waiting = place.comity_as(&bob, &["lock", "src/", "--wait", "60s"]).spawn().expect("it waits");
    let waiters = |path: &str| {
        let list = place.json(&["locks"]);
        let locks = list["locks"].as_array().expect("locks").iter();
        locks.clone().find(|lock| lock["path"] == path).expect("a lock")["waiting"].clone()
    };
    eventually("bob waits", || waiters("src/a.rs") == 1);
    assert_eq!(waiters("src/c.rs"), 0, "bob waits for ann, not for itself");
    place.json_as(&ann, &["unlock", "--all"]);
    assert!(waiting.wait().expect("it ends").success());
}

#[test]
fn what_was_handed_over_is_shown_wherever_it_is_dirty() {
    let place = Place::with(&[("COMITY_WORKTREE_READY", "0")]);
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["worktree", "add", "own"]);
    std::fs::create_dir_all(place.repo.join("src")).expect("made");
    place.json(&["lock", "src/handed.rs"]);
    std::fs::write(place.repo.join("src/handed.rs"), "// half done\n").expect("written");
    place.json(&["handover", "src/handed.rs", "--to", "bob"]);
    place.json_as(&bob, &["lock", &place.repo.join("src/whole.rs").display().to_string()]);
    std::fs::write(place.repo.join("src/whole.rs"), "// half done\n").expect("written");
    for words in [["diff", "bob"], ["show", "bob"]] {
        let shown = place.run(&words).out;
        assert!(shown.contains("src/handed.rs") && shown.contains("src/whole.rs"), "{words:?}: {shown}");
    }
}

#[test]
fn the_log_of_a_repository_has_nothing_of_others() {
    let place = Place::new();
    let other = place.dir().join("api");
    place.git(&["init", "--quiet", &other.display().to_string()]);
    let in_other = |words: &[&str], agent: Option<&crate::support::Agent>| {
        let mut command = match agent {
            Some(agent) => place.comity_as(agent, words),
            None => place.comity(words),
        };
        crate::support::Ran::of(command.current_dir(&other).output().expect("it runs"))
    };
    let ann = crate::support::Agent::of(&in_other(&["agent", "join", "ann", "--json"], None).json());
    in_other(&["lock", "left.rs"], Some(&ann));
    std::fs::write(other.join("left.rs"), "// half done\n").expect("written");
    in_other(&["agent", "bye"], Some(&ann));
    eventually("it was looked at", || !place.log_of("lock_orphaned").is_empty());
    let here = place.run(&["log"]).out;
    assert!(!here.contains("left.rs"), "{here}");
    let all = place.run(&["log", "--all-projects"]).out;
    let left = all.lines().find(|line| line.contains("lock_orphaned")).expect("a line");
    assert!(left.ends_with("  in api"), "{all}");
}

#[test]
fn times_are_those_of_whoever_asks() {
    let place = Place::with(&[("TZ", "UTC0")]);
    place.json(&["lock", "src/a.rs"]);
    let log = |zone: &str, words: &[&str]| {
        let mut command = place.comity(&[&["log"], words].concat());
        Ran::of(command.env("TZ", zone).output().expect("it runs"))
    };
    let hour = |zone: &str| -> i32 {
        let shown = log(zone, &["--limit", "1"]).out;
        let time = shown.split_whitespace().find(|word| word.contains(':')).expect("a time");
        time[..2].parse().expect("an hour")
    };
    let ahead = (hour("EAST-9") - hour("UTC0")).rem_euclid(24);
    assert!([9, 10].contains(&ahead), "{ahead} hours");
    let newest = log("UTC0", &["--limit", "1", "--json"]).json();
    let moment = &newest["entries"][0]["at"].as_str().expect("a moment")[..19];
    let since = |zone| log(zone, &["--since", moment, "--json"]).json()["entries"].as_array().map(Vec::len);
    assert_ne!(since("EAST-9"), Some(0), "{moment} was 9 hours ago there");
    assert_eq!(since("WEST9"), Some(0), "{moment} comes in 9 hours there");
}
