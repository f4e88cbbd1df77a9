//! Lists have headers and say which project they are of; each noun shows one of its kind.

use serde_json::json;

use super::support::{Agent, Place, Ran};

/// The first line of what a command says.
fn head(place: &Place, words: &[&str]) -> String {
    place.run(words).out.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn lists_have_headers_and_nouns_show_one() {
    let place = Place::new();
    place.set("[pools.gpu]\ncapacity = 2\n");
    place.git(&["commit", "-qm", "first", "--allow-empty"]);
    let lead = place.join(&["lead", "--role", "lead"]);
    let join = |name: &str| Agent::of(&place.json_as(&lead, &["agent", "join", name]));
    let (ann, bob) = (join("ann"), join("bob"));
    place.json_as(&ann, &["lease", "gpu", "--reason", "training"]);
    place.json_as(&ann, &["decide", "Use tabs", "--reason", "they are wider"]);
    place.json(&["team", "create", "parsers"]);
    place.json_as(&ann, &["mail", "send", "human", "-m", "hello"]);
    place.run_as(&ann, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    place.json(&["permission", "rule", "add", "deny", "Bash", "rm *"]);
    place.json_as(&ann, &["worktree", "add", "login"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&ann, &["task", "add", "Write it", "--id", "parser"]);
    place.json(&["mode", "bob", "plan"]);
    place.json_as(&bob, &["plan", "submit", "plan.md", "--content", "1. read"]);
    for (words, header) in [
        (&["lease", "list", "gpu"][..], "POOL  TAKEN   LEASE  WHO  STATE  FOR"),
        (&["lease", "list"], "in repo:"),
        (&["decision", "list", "--all-projects"], "ID  STATE  BY   AGO"),
        (&["decision", "list"], "in repo:"),
        (&["agents"], "in repo:"),
        (&["team", "list"], "TEAM     LEADER"),
        (&["mail", "boxes", "--all-projects"], "FOR "),
        (&["permission", "list"], "ID  ASKER"),
        (&["permission", "rule", "list"], "ID  EFFECT  TOOL  PATTERN"),
        (&["worktree", "list"], "in repo:"),
        (&["locks"], "in repo:"),
        (&["tasks"], "in repo:"),
    ] {
        let said = head(&place, words);
        assert!(said.starts_with(header), "{words:?}: {said}");
    }
    for (words, part) in [
        (&["agent", "show", "ann"][..], "src/a.rs"),
        (&["lock", "show", "src/a.rs"], "ann"),
        (&["lease", "show", "gpu"], "training"),
        (&["lease", "show", "1"], "training"),
        (&["decision", "show", "d1"], "  | they are wider"),
        (&["permission", "show", "1"], "Bash: make"),
        (&["plan", "show", "3"], "    1. read"),
        (&["plan", "list"], "plan.md  waiting"),
        (&["worktree", "show", "login"], "comity/login"),
        (&["task", "show", "parser"], "Write it"),
        (&["team", "show", "parsers"], "nobody is in it"),
    ] {
        let ran = place.run(words);
        assert!(ran.code == 0 && ran.out.contains(part), "{words:?}: {ran:?}");
    }
    for words in [["decision", "show", "d9"], ["plan", "show", "9"], ["worktree", "show", "nowhere"]] {
        assert_eq!(
            place.run(&[&words[..], &["--json"]].concat()).refusal()["code"],
            "not_found",
            "{words:?}"
        );
    }
}

#[test]
fn worktrees_of_all_projects_are_listed() {
    let place = Place::new();
    place.git(&["commit", "-qm", "first", "--allow-empty"]);
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["worktree", "add", "login"]);
    let other = place.dir().join("shop");
    let git = |words: &[&str]| {
        assert!(place.program("git").args(words).status().expect("git").success(), "{words:?}");
    };
    let path = other.display().to_string();
    git(&["init", "-q", &path]);
    let there = |words: &[&str]| {
        let mut command = place.comity_as(&ann, words);
        Ran::of(command.current_dir(&other).output().expect("it runs"))
    };
    assert_eq!(there(&["task", "add", "Sell"]).code, 0);
    let list = there(&["worktree", "list", "--json"]).json();
    assert_eq!((&list["worktrees"], &list["project"]), (&json!([]), &json!("shop")));
    let list = there(&["worktree", "list", "--all-projects", "--json"]).json();
    let found = &list["worktrees"][0];
    assert_eq!((&found["slug"], &found["project"]), (&json!("login"), &json!("repo")), "{list}");
    let shown = there(&["worktrees", "--all-projects"]).out;
    assert!(shown.starts_with("NAME   OWNER  BRANCH") && shown.contains("  repo"), "{shown}");
}

#[test]
fn a_lease_is_taken_from_whom_it_is_of() {
    let place = Place::new();
    place.set("[pools.gpu]\ncapacity = 2\n");
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lease", "gpu"]);
    place.json_as(&bob, &["lease", "gpu"]);
    let refused = place.run(&["lease", "release", "1", "--from", "bob", "--json"]).refusal();
    assert_eq!(refused["message"], "lease 1 is ann's", "{refused}");
    let other = place.run_as(&bob, &["lease", "release", "gpu", "--from", "ann", "--json"]).refusal();
    assert_eq!(other["code"], "ownership", "{other}");
    place.json(&["lease", "release", "gpu", "--from", "ann", "--reason", "urgent"]);
    let left = place.json(&["lease", "list"]);
    assert_eq!(left["pools"][0]["leases"][0]["holder"], "bob", "{left}");
    assert!(place.run_as(&ann, &["locks"]).err.contains("urgent"));
}

#[test]
fn lists_show_the_project_you_are_in_unless_all_are_asked_for() {
    let place = Place::new();
    place.set("[pools.gpu]\ncapacity = 2\n");
    place.git(&["commit", "-qm", "first", "--allow-empty"]);
    let ann = place.join(&["ann", "--role", "lead"]);
    let bob = Agent::of(&place.json_as(&ann, &["agent", "join", "bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&ann, &["lease", "gpu"]);
    place.json_as(&ann, &["task", "add", "Sell", "--id", "sell"]);
    place.json_as(&ann, &["worktree", "add", "login"]);
    place.json_as(&bob, &["decide", "Use tabs"]);
    place.json(&["mail", "send", "ann", "-m", "hello"]);
    place.run_as(&ann, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    place.json(&["spawn", "developer", "--name", "runner", "--agent", "sleep 1000"]);
    let shop = place.dir().join("shop");
    assert!(place.program("git").args(["init", "-q"]).arg(&shop).status().expect("git").success());
    let there = |words: &[&str]| Ran::of(place.comity(words).current_dir(&shop).output().expect("it runs"));
    for (words, what, all) in [
        (&["locks"][..], "src/a.rs", "comity lock list --all-projects"),
        (&["leases"], "ann", "comity lease list --all-projects"),
        (&["tasks"], "sell", "comity task list --all-projects"),
        (&["agents"], "bob", "comity agent list --all-projects"),
        (&["worktrees"], "login", "comity worktree list --all-projects"),
        (&["runs"], "runner", "comity runs --all-projects"),
        (&["mail", "boxes"], "ann", "comity mail boxes --all-projects"),
        (&["decisions"], "Use tabs", "comity decision list --all-projects"),
        (&["inbox"], "Bash: make", "comity inbox list --all-projects"),
    ] {
        let own = there(words);
        assert!(own.code == 0 && !own.out.contains(what), "{words:?}: {own:?}");
        assert!(own.out.contains(&format!(" more in other projects: {all}")), "{words:?}: {own:?}");
        assert!(own.out.contains("shop"), "{words:?}: {own:?}");
        let all = there(&[words, &["--all-projects"]].concat());
        assert!(all.out.contains(what) && all.out.contains("repo"), "{words:?}: {all:?}");
        assert!(!all.out.contains("in other projects"), "{words:?}: {all:?}");
        let here = place.run(words);
        assert!(here.out.contains(what) && !here.out.contains("in other projects"), "{words:?}: {here:?}");
    }
    place.json(&["stop", "runner", "--force"]);
}
