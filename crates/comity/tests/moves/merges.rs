//! Merges whose server is killed.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::{PATIENCE, Ran, has_ended, kill};

/// Ann's worktree with a commit in it, and the arguments of its merge.
fn work(stage: &Stage) {
    stage.git(&["branch", "release"]);
    let made = stage.place.json_as(&stage.ann, &["worktree", "add"]);
    let path = made["path"].as_str().expect("a path");
    let run = |arguments: &[&str]| {
        let mut command = stage.place.comity_as(&stage.ann, arguments);
        Ran::of(command.current_dir(path).output().expect("comity runs")).json();
    };
    run(&["lock", "src/new.rs", "--json"]);
    std::fs::write(format!("{path}/src/new.rs"), "new\n").expect("written");
    run(&["commit", "-m", "New", "--json"]);
}

/// Merges while the server is killed; gives what the command was told in the end.
fn merge(stage: &Stage, at: &str, target: &str) -> Value {
    stage.plant(at);
    let merge = ["worktree", "merge", "ann", "--into", target, "--json"];
    let server = stage.place.server().expect("a server");
    let asking = stage.place.start(&mut stage.place.comity_as(&stage.ann, &merge));
    if at == "late" {
        stage.let_git_end(server, "merge-");
    }
    asking.finish().json()
}

/// The branch that is checked out is left alone: there the merge waits.
const TARGETS: [(&str, &str, &str); 2] =
    [("release", "merged", "refs/heads/release"), ("main", "waiting", "refs/comity/merged/main")];

fn check(at: &str, recovered: bool, undone: usize) {
    for (target, state, name) in TARGETS {
        let stage = Stage::new();
        work(&stage);
        let made = merge(&stage, at, target);
        let at = format!("{at}, {target}");
        assert_eq!(made["state"], state, "{at}: {made}");
        assert_eq!(made["files"], json!(["src/new.rs"]), "{at}: {made}");
        assert_eq!(made["command"].is_string(), state == "waiting", "{at}: {made}");
        assert_eq!(
            stage.git(&["rev-parse", name]).trim(),
            made["commit"].as_str().expect("a commit"),
            "{at}"
        );
        let recorded = stage.place.log_of("branch_merged");
        assert_eq!(recorded.len(), 1, "{at}: {recorded:?}");
        assert_eq!(recorded[0]["actor"], "ann", "{at}");
        assert_eq!(recorded[0]["details"]["commit"], made["commit"], "{at}");
        assert_eq!(recorded[0]["details"]["recovered"] == json!(true), recovered, "{at}: {recorded:?}");
        assert_eq!(stage.place.log_of("move_undone").len(), undone, "{at}");
        assert_eq!(stage.git(&["status", "--porcelain"]), "", "{at}");
        stage.place.json(&["log", "verify"]);
    }
}

#[test]
fn killed_before_the_branch_moves_a_merge_is_made_by_the_next_server() {
    check("intended", false, 1);
    check("before", false, 1);
}

#[test]
fn killed_after_the_branch_has_moved_a_merge_is_recorded() {
    check("after", true, 0);
    check("moved", true, 0);
}

#[test]
fn a_git_that_is_killed_says_nothing_about_a_merge() {
    let stage = Stage::new();
    work(&stage);
    let server = stage.place.server().expect("a server");
    stage.plant("moved");
    let merging = stage
        .place
        .start(&mut stage.place.comity_as(&stage.ann, &["worktree", "merge", "ann", "--into", "release"]));
    assert!(has_ended(server, PATIENCE), "the server goes on");
    kill(merging.pid(), Signal::KILL);
    stage.git_dies(|| drop(stage.place.json(&["up"])));
    let ends = ["branch_merged", "move_undone"];
    let found = stage.place.follow().until(|entry| ends.iter().any(|end| entry["action"] == *end));
    assert_eq!(found["action"], "branch_merged", "{found}");
}

#[test]
fn a_merge_by_a_git_that_outlived_its_server_is_recorded() {
    check("late", true, 0);
}

#[test]
fn killed_after_its_record_a_merge_is_answered_as_it_was_made() {
    check("recorded", false, 0);
}

/// Ann has resolved a merge that a person has begun in the main worktree.
fn resolve(stage: &Stage) {
    stage.git(&["checkout", "--quiet", "-b", "side"]);
    stage.change("src/a.rs", "theirs\n");
    stage.change("src/theirs.rs", "theirs\n");
    stage.git(&["add", "--all"]);
    stage.git(&["commit", "--quiet", "--message=Theirs"]);
    stage.git(&["checkout", "--quiet", "main"]);
    stage.change("src/a.rs", "ours\n");
    stage.git(&["commit", "--quiet", "--all", "--message=Ours"]);
    let merging = stage.place.program("git").args(["merge", "side"]).output().expect("git runs");
    assert!(!merging.status.success(), "it conflicts");
    stage.place.json_as(&stage.ann, &["lock", "src/a.rs"]);
    stage.change("src/a.rs", "both\n");
}

#[test]
fn killed_around_a_merge_that_is_finished_by_hand() {
    let moments = [
        ("intended", false, 1),
        ("before", false, 1),
        ("after", true, 0),
        ("moved", true, 0),
        ("recorded", false, 0),
    ];
    for (at, recovered, undone) in moments {
        let stage = Stage::new();
        resolve(&stage);
        stage.plant(at);
        let made = stage.place.json_as(&stage.ann, &["commit", "-m", "Merge side"]);
        let commit = made["commit"].as_str().unwrap_or_else(|| panic!("{at}: {made}"));
        assert_eq!(stage.git(&["rev-parse", "HEAD"]).trim(), commit, "{at}");
        assert_eq!(
            stage.git(&["log", "-1", "--format=%P"]).trim().split(' ').count(),
            2,
            "{at}: both parents"
        );
        assert_eq!(stage.git(&["rev-list", "--merges", "--count", "HEAD"]).trim(), "1", "{at}");
        let merging = stage.place.repo.join(".git/MERGE_HEAD");
        assert!(!merging.exists(), "{at}: git takes it for unfinished");
        assert_eq!(stage.git(&["status", "--porcelain"]), "", "{at}");
        let recorded = stage.place.log_of("file_commit");
        assert_eq!(recorded.len(), 1, "{at}: {recorded:?}");
        assert_eq!(recorded[0]["details"]["commit"]["id"], commit, "{at}");
        assert_eq!(recorded[0]["details"]["recovered"] == json!(true), recovered, "{at}: {recorded:?}");
        assert_eq!(stage.place.log_of("move_undone").len(), undone, "{at}");
        stage.place.json(&["log", "verify"]);
    }
}
