//! Putting the work of others aside: nobody else gets at it meanwhile, and no kill loses sight of it.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{Agent, Place, Ran};

/// Does what a file says when work is put into the stash: before that, or after it.
const GIT: &str = r#"#!/bin/sh
case " $* " in
    *" stash push "*)
        echo >> DIR/calls
        if [ -e DIR/before ]; then mv DIR/before DIR/began; . DIR/began; fi
        if [ -e DIR/after ]; then mv DIR/after DIR/ended; 'REAL' "$@"; . DIR/ended; fi ;;
esac
exec 'REAL' "$@"
"#;

/// A place with a git of its own, and where that looks.
fn stage() -> (Place, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let own = dir.path().join("git");
    fs::create_dir(&own).expect("a directory");
    let path = std::env::var_os("PATH").expect("a path");
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let script = GIT
        .replace("REAL", real.expect("git").to_str().expect("text"))
        .replace("DIR", own.to_str().expect("text"));
    fs::write(own.join("git"), script).expect("written");
    fs::set_permissions(own.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
    let (home, git) = (dir.path().join("state"), own.join("git"));
    (Place::at(dir, home, &[("COMITY_GIT_PROGRAM", git.to_str().expect("text"))]), own)
}

fn write(place: &Place, file: &str, text: &str) {
    fs::write(place.repo.join(file), text).expect("written");
}

fn read(place: &Place, file: &str) -> String {
    fs::read_to_string(place.repo.join(file)).expect("a file")
}

/// Leaves work of an agent in these files, whose locks run out.
fn leave_work(place: &Place, agent: &Agent, files: &[&str]) {
    let mut log = place.follow_on();
    place.json_as(agent, &[&["lock", "--ttl", "1s"], files].concat());
    files.iter().for_each(|file| write(place, file, "half done\n"));
    log.until_actions("lock_orphaned", files.len());
}

#[test]
fn what_one_agent_left_is_put_aside_together() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    leave_work(&place, &ann, &["src/a.rs", "src/b.rs"]);
    leave_work(&place, &bob, &["src/c.rs"]);
    let rescued = place.json(&["rescue", "src/a.rs", "src/b.rs", "src/c.rs"]);
    let kept: Vec<(&Value, &Value)> = rescued["rescued"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|kept| (&kept["ref"], &kept["files"]))
        .collect();
    let (hers, his) = (json!(["src/a.rs", "src/b.rs"]), json!(["src/c.rs"]));
    let (anns, bobs) = (json!("refs/comity/rescue/ann"), json!("refs/comity/rescue/bob"));
    assert_eq!(kept, [(&anns, &hers), (&bobs, &his)], "{rescued}");
    assert_eq!(place.json(&["locks"])["locks"], json!([]));
    assert_eq!(read(&place, "src/a.rs"), "fn main() {}\n");
}

#[test]
fn the_command_that_gets_work_back_works_from_elsewhere() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    leave_work(&place, &ann, &["src/a.rs"]);
    let path = place.repo.join("src/a.rs");
    let mut rescue = place.comity(&["rescue", path.to_str().expect("a text")]);
    let said = Ran::of(rescue.current_dir(place.dir()).output().expect("it runs"));
    assert_eq!(said.code, 0, "{said:?}");
    let command =
        said.out.lines().find_map(|line| line.strip_prefix("get it back with: ")).expect("a command");
    let mut shell = place.program("sh");
    let back = Ran::of(shell.args(["-c", command]).current_dir(place.dir()).output().expect("it runs"));
    assert_eq!(back.code, 0, "{back:?}");
    assert_eq!(read(&place, "src/a.rs"), "half done\n");
}

#[test]
fn nobody_takes_what_is_being_put_aside() {
    let (place, git) = stage();
    let ann = place.join(&["ann"]);
    leave_work(&place, &ann, &["src/a.rs"]);
    fs::write(git.join("before"), format!("while [ ! -e {}/go ]; do sleep 0.05; done\n", git.display()))
        .expect("planted");
    let rescuing = place.start(&mut place.comity(&["rescue", "src/a.rs", "--json"]));
    support::eventually("it is about to be put aside", || git.join("began").exists());
    let refused = place.run_as(&ann, &["lock", "src/a.rs", "--json"]).refusal();
    assert_eq!(refused["holders"][0]["holder"], "the human", "{refused}");
    fs::write(git.join("go"), "").expect("written");
    let rescued = rescuing.finish().json();
    assert_eq!(rescued["rescued"][0]["by"], "ann", "{rescued}");
    assert_eq!(rescued["rescued"][0]["files"], json!(["src/a.rs"]), "{rescued}");
    assert_eq!(place.json(&["locks"])["locks"], json!([]));
}

#[test]
fn killed_after_the_stash_the_repeated_call_names_the_ref() {
    for moment in ["before", "after"] {
        let (place, git) = stage();
        let ann = place.join(&["ann"]);
        leave_work(&place, &ann, &["src/a.rs"]);
        fs::write(git.join(moment), "kill -9 $PPID; exit 1\n").expect("planted");
        let rescued = place.json(&["rescue", "src/a.rs"]);
        let [one] = rescued["rescued"].as_array().expect("a list").as_slice() else {
            panic!("{moment}: {rescued}")
        };
        assert_eq!((&one["by"], &one["files"]), (&json!("ann"), &json!(["src/a.rs"])), "{moment}: {rescued}");
        let name = one["ref"].as_str().expect("a ref");
        assert!(place.log_of("lock_handed_over")[0].to_string().contains(name), "it is announced");
        assert!(place.log_of("lock_released")[0].to_string().contains(name), "it is recorded");
        assert_eq!(read(&place, "src/a.rs"), "fn main() {}\n");
        place.git(&["stash", "apply", "-q", name]);
        assert_eq!(read(&place, "src/a.rs"), "half done\n");
        assert_eq!(place.json(&["locks"])["locks"], json!([]));
    }
}

#[test]
fn a_git_that_outlived_its_server_is_waited_for() {
    let (place, git) = stage();
    let ann = place.join(&["ann"]);
    leave_work(&place, &ann, &["src/a.rs"]);
    let first = place.server();
    let wait = format!("kill -9 $PPID; while [ ! -e {}/go ]; do sleep 0.05; done\n", git.display());
    fs::write(git.join("before"), wait).expect("planted");
    let rescuing = place.start(&mut place.comity(&["rescue", "src/a.rs", "--json"]));
    support::eventually("the next server is there", || {
        place.server().is_some_and(|next| Some(next) != first)
    });
    place.json(&["locks"]);
    fs::write(git.join("go"), "").expect("written");
    let rescued = rescuing.finish().json();
    assert_eq!(fs::read_to_string(git.join("calls")).expect("calls").lines().count(), 1, "{rescued}");
    place.git(&["stash", "apply", "-q", rescued["rescued"][0]["ref"].as_str().expect("a ref")]);
    assert_eq!(read(&place, "src/a.rs"), "half done\n");
}

#[test]
fn commands_that_are_suggested_can_be_pasted() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    leave_work(&place, &ann, &["src/it's new.rs"]);
    let word = r"'src/it'\''s new.rs'";
    let alerts = place.json(&["alerts"]);
    let action = alerts["alerts"][0]["action"].as_str().expect("an action");
    assert!(action.starts_with(&format!("comity adopt {word}, ")), "{action}");
    let bob = place.join(&["bob"]);
    let refused = place.run_as(&bob, &["lock", "src/it's new.rs", "--json"]).refusal();
    let hint = refused["hint"].as_str().expect("a hint");
    assert!(hint.contains(&format!("comity adopt {word};")), "{hint}");
}

#[test]
fn nothing_is_put_aside_if_a_part_of_it_cannot_be() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    leave_work(&place, &ann, &["src/a.rs", "src/b.rs"]);
    place.git(&["update-index", "--skip-worktree", "src/b.rs"]);
    let refused = place.run(&["rescue", "src/a.rs", "src/b.rs", "--json"]).refusal();
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("hidden by a flag")), "{refused}");
    assert_eq!(read(&place, "src/a.rs"), "half done\n");
    let locks = place.json(&["locks"]);
    let states: Vec<&Value> =
        locks["locks"].as_array().expect("locks").iter().map(|lock| &lock["state"]).collect();
    assert_eq!(states, ["orphaned", "orphaned"]);
}

/// Runs `comity` as an agent in a worktree.
fn run_in(place: &Place, at: &Path, agent: &Agent, arguments: &[&str]) -> Value {
    let mut command = place.comity_as(agent, &[arguments, &["--json"]].concat());
    Ran::of(command.current_dir(at).output().expect("comity runs")).json()
}

#[test]
fn work_in_another_worktree_is_not_the_agents() {
    let place = Place::with(&[("COMITY_WORKTREE_READY", "0")]);
    let bob = place.join(&["bob"]);
    let made = place.json_as(&bob, &["worktree", "add"]);
    let tree = PathBuf::from(made["path"].as_str().expect("a path"));
    write(&place, "src/a.rs", "the human's\n");
    write(&place, "src/b.rs", "the human's\n");
    let mut log = place.follow_on();
    run_in(&place, &tree, &bob, &["lock", "src/a.rs", "src/b.rs", "--ttl", "1s"]);
    fs::write(tree.join("src/a.rs"), "half done\n").expect("written");
    // He may have written to the main worktree, too: both are kept.
    log.until_actions("lock_orphaned", 2);
    for file in ["src/a.rs", "src/b.rs"] {
        let refused = place.run(&["rescue", file, "--json"]).refusal();
        let said = refused["message"].as_str().expect("a message");
        let stash = format!("stash push --include-untracked -- {file}");
        assert!(said.contains("may be somebody else's") && said.contains(&stash), "{refused}");
        assert_eq!(read(&place, file), "the human's\n");
    }
    assert_eq!(fs::read_to_string(tree.join("src/a.rs")).expect("a file"), "half done\n");
    assert_eq!(place.json(&["locks"])["locks"].as_array().map(Vec::len), Some(2), "nothing is freed");
    place.git(&["commit", "-qm", "the human's", "src/a.rs"]);
    let rescued = place.json(&["rescue", "src/a.rs"]);
    assert_eq!(rescued["rescued"].as_array().map(Vec::len), Some(1), "{rescued}");
    assert_eq!(rescued["rescued"][0]["worktree"], json!(tree), "{rescued}");
}

#[test]
fn no_lock_is_freed_over_work_outside_of_the_agents_worktree() {
    let place = Place::with(&[("COMITY_WORKTREE_READY", "0")]);
    let ann = place.join(&["ann"]);
    let made = place.json_as(&ann, &["worktree", "add"]);
    let mut log = place.follow_on();
    let tree = Path::new(made["path"].as_str().expect("a path"));
    run_in(&place, tree, &ann, &["lock", "src/a.rs", "--ttl", "1s"]);
    write(&place, "src/a.rs", "half done\n");
    log.until_action("lock_orphaned");
    let refused = place.run(&["rescue", "src/a.rs"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(read(&place, "src/a.rs"), "half done\n");
    assert_eq!(place.json(&["locks"])["locks"][0]["state"], "orphaned");
    let (_, command) = refused.err.split_once("put it aside with: ").expect("what to do");
    let command = command.lines().next().expect("a command");
    let done = std::process::Command::new("sh").args(["-c", command]).status().expect("sh runs");
    assert!(done.success(), "{command}");
    assert_eq!(read(&place, "src/a.rs"), "fn main() {}\n");
    let freed = place.json(&["rescue", "src/a.rs"]);
    assert_eq!((&freed["rescued"], &freed["paths"]), (&json!([]), &json!(["src/a.rs"])));
}

#[test]
fn a_worktree_of_another_is_left_alone() {
    let place = Place::with(&[("COMITY_WORKTREE_READY", "0")]);
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let made = place.json_as(&ann, &["worktree", "add"]);
    let tree = PathBuf::from(made["path"].as_str().expect("a path"));
    fs::write(tree.join("src/a.rs"), "ann's\n").expect("written");
    leave_work(&place, &bob, &["src/a.rs"]);
    let rescued = place.json(&["rescue", "src/a.rs"]);
    assert_eq!(rescued["rescued"].as_array().map(Vec::len), Some(1), "{rescued}");
    assert_eq!(fs::read_to_string(tree.join("src/a.rs")).expect("a file"), "ann's\n");
}

/// Another repository, and commands that run in it.
fn in_another(place: &Place, mut command: std::process::Command) -> Ran {
    let other = place.dir().join("other");
    if !other.exists() {
        fs::create_dir_all(other.join("docs")).expect("a directory");
        let made = place.program("git").args(["init", "--quiet"]).arg(&other).status().expect("git runs");
        assert!(made.success(), "a repository");
    }
    Ran::of(command.current_dir(&other).output().expect("it runs"))
}

#[test]
fn what_was_left_in_another_repository_is_decided_from_anywhere() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let files = ["src/a.rs", "src/b.rs", "src/c.rs"];
    leave_work(&place, &ann, &files);
    let run = |words: &[&str]| in_another(&place, place.comity(words));
    // Nothing of it seems to be here.
    let locks = run(&["locks"]);
    assert_eq!(
        locks.out.trim(),
        "nothing is locked in other\n3 more in other projects: comity lock list --all-projects"
    );
    let all = run(&["locks", "--all"]).out;
    let lines = all.lines().skip(1).map(|line| line.contains("  repo"));
    assert!(lines.eq([true; 3]), "{all}");
    let no = run(&["adopt", "src/a.rs", "--json"]);
    assert_eq!(no.refusal()["message"], "src/a.rs is not locked, by you or anybody else");
    let alerts = run(&["alerts"]).out;
    assert!(alerts.starts_with("in repo: src/a.rs is orphaned"), "{alerts}");
    // The commands are those that work here.
    let whole = |file: &str| place.repo.join(file).to_str().expect("text").to_owned();
    assert!(alerts.contains(&format!("comity adopt {}", whole("src/a.rs"))), "{alerts}");
    let inbox = run(&["inbox", "--all-projects", "--json"]).json();
    let command = inbox["entries"][0]["answers"][0]["command"].as_str().expect("a command");
    assert_eq!(command, format!("comity adopt {}", whole("src/a.rs")));
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    assert_eq!(run(&words).json()["paths"], json!(["src/a.rs"]));
    // So does an answer by the entry's name.
    assert_eq!(run(&["inbox", "src/b.rs", "rescue", "--json"]).json()["paths"], json!(["src/b.rs"]));
    assert_eq!(read(&place, "src/b.rs"), "fn main() {}\n");
    let released = run(&["release", &whole("src/c.rs"), "--json"]).json();
    assert_eq!(released["paths"], json!(["src/c.rs"]));
    let left = place.json(&["locks"]);
    assert_eq!((&left["total"], &left["locks"][0]["path"]), (&json!(1), &json!("src/a.rs")), "{left}");
}

#[test]
fn from_the_top_of_its_repository_work_is_named_as_it_is_stored() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    leave_work(&place, &ann, &["src/a.rs"]);
    let command = |dir: &Path| {
        let inbox = place.comity(&["inbox", "--json"]).current_dir(dir).output().expect("it runs");
        Ran::of(inbox).json()["entries"][0]["answers"][0]["command"].as_str().expect("a command").to_owned()
    };
    assert_eq!(command(&place.repo), "comity adopt src/a.rs");
    // Below it, that would be src/src/a.rs.
    let below = command(&place.repo.join("src"));
    assert_eq!(below, format!("comity adopt {}", place.repo.join("src/a.rs").display()));
}
