//! No branch moves without a record: a server that is killed around the move of a branch leaves what the next one settles.

#[path = "moves/merges.rs"]
mod merges;
#[path = "moves/random.rs"]
mod random;
#[path = "moves/stage.rs"]
#[expect(dead_code, reason = "each test uses a part of it")]
mod stage;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::PathBuf;

use serde_json::{Value, json};
use stage::Stage;
use support::wire::{No, Wire};
use support::{PATIENCE, Ran, has_ended};

/// What `comity` says of locks that the guard takes.
const BY_THE_GUARD: &str = "locked automatically on write";

/// Everything that is recorded of commits: one commit, by ann, and these many that did not come about.
fn check_recorded(stage: &Stage, at: &str, commit: &Value, recovered: bool, undone: usize) {
    let recorded = stage.place.log_of("file_commit");
    assert_eq!(recorded.len(), 1, "{at}: {recorded:?}");
    assert_eq!(recorded[0]["details"]["commit"]["id"], *commit, "{at}");
    assert_eq!(recorded[0]["actor"], "ann", "{at}");
    let said = recorded[0]["summary"].as_str().expect("a text");
    assert_eq!(recorded[0]["details"]["recovered"] == json!(true), recovered, "{at}: {said}");
    assert_eq!(said.contains("found on its branch"), recovered, "{at}: {said}");
    assert_eq!(stage.place.log_of("move_undone").len(), undone, "{at}");
    assert_eq!(stage.place.log_of("move_intended").len(), 1 + undone, "{at}");
    assert_eq!(stage.git(&["rev-parse", "HEAD"]).trim(), commit.as_str().expect("a commit"), "{at}");
    assert_eq!(stage.git(&["rev-list", "--count", "HEAD"]).trim(), "2", "{at}");
    assert_eq!(stage.git(&["status", "--porcelain"]), "", "{at}: the index knows of it");
    stage.place.json(&["log", "verify"]);
}

#[test]
fn killed_before_the_branch_moves_nothing_is_recorded_until_it_is_made() {
    for at in ["intended", "before"] {
        let stage = Stage::new();
        stage.lock_and_change(&["src/a.rs"]);
        stage.plant(at);
        // The command asks the next server.
        let made = stage.place.json_as(&stage.ann, &["commit", "-m", "Change a"]);
        check_recorded(&stage, at, &made["commit"], false, 1);
        let undone = &stage.place.log_of("move_undone")[0];
        assert_eq!(undone["actor"], "comity", "{at}");
        let said = undone["summary"].as_str().expect("a text");
        assert!(said.starts_with("ann did not move main to "), "{at}: {said}");
    }
}

#[test]
fn killed_after_the_branch_has_moved_the_commit_is_recorded() {
    for at in ["after", "late", "moved"] {
        let stage = Stage::new();
        stage.lock_and_change(&["src/a.rs"]);
        stage.plant(at);
        let server = stage.place.server().expect("a server");
        let asking = stage
            .place
            .start(&mut stage.place.comity_as(&stage.ann, &["commit", "-m", "Change a", "--json"]));
        if at == "late" {
            stage.let_git_end(server, "commit.lock");
        }
        let made = asking.finish().json();
        assert_eq!(made["files"], json!([{"path": "src/a.rs", "change": "changed"}]), "{at}: {made}");
        assert_eq!(made["branch"], "main", "{at}");
        check_recorded(&stage, at, &made["commit"], true, 0);
        // Its name is not used up for other calls.
        let again = stage.place.json_as(&stage.ann, &["commit", "-m", "Another"]);
        assert_eq!(again["commit"], Value::Null, "{at}: {again}");
    }
}

#[test]
fn killed_after_the_record_the_same_call_gets_its_commit() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    let mut wire = stage.wire();
    let made =
        wire.ask_with_key("commit", json!({"message": "Change a"}), Some("the key of it")).expect("made");
    stage.place.kill_server();
    let mut wire = stage.wire();
    let again =
        wire.ask_with_key("commit", json!({"message": "Change a"}), Some("the key of it")).expect("made");
    assert_eq!(again, made);
    check_recorded(&stage, "answered", &made["commit"], false, 0);
}

#[test]
fn who_asks_again_without_a_key_gets_the_commit_that_was_made() {
    for at in ["moved", "recorded"] {
        let stage = Stage::new();
        stage.lock_and_change(&["src/a.rs"]);
        stage.plant(at);
        let message = json!({"message": "Change a"});
        stage.commit_in_vain("Change a");
        let other = stage.wire().ask("commit", json!({"message": "Change b"})).expect("an answer");
        assert_eq!(other["commit"], Value::Null, "{at}: another message is another commit: {other}");
        let made = stage.wire().ask("commit", message.clone()).expect("an answer");
        let said = made["warnings"][0].as_str().unwrap_or_default();
        assert!(said.contains("your last commit"), "{at}: {made}");
        check_recorded(&stage, at, &made["commit"], at == "moved", 0);
        // Once she has made another one, nothing is left to be told.
        stage.change("src/a.rs", "more\n");
        assert_ne!(stage.wire().ask("commit", message.clone()).expect("an answer")["commit"], made["commit"]);
        let nothing = stage.wire().ask("commit", message).expect("an answer");
        assert_eq!(nothing["commit"], Value::Null, "{at}: {nothing}");
    }
}

#[test]
fn what_the_guard_had_locked_is_free_after_a_commit_that_was_found() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    stage.place.json_as(&stage.ann, &["lock", "src/b.rs", "--reason", BY_THE_GUARD]);
    stage.change("src/b.rs", "changed\n");
    stage.plant("moved");
    let message = json!({"message": "Change both"});
    stage.commit_in_vain("Change both");
    let mut log = stage.place.follow();
    log.until_action("file_commit");
    let freed = log.until_action("lock_released");
    assert_eq!((&freed["details"]["path"], &freed["actor"]), (&json!("src/b.rs"), &json!("ann")));
    let locks = stage.place.json(&["locks"]);
    assert_eq!(locks["locks"].as_array().expect("locks").len(), 1, "her own lock stays: {locks}");
    // With nothing locked at all she gets it, too.
    stage.place.json_as(&stage.ann, &["unlock", "src/a.rs"]);
    let made = stage.wire().ask("commit", message).expect("an answer");
    assert_eq!(made["files"].as_array().map(Vec::len), Some(2), "{made}");
}

#[test]
fn the_index_learns_of_a_commit_that_was_found_before_anybody_commits() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    stage.change("src/c.rs", "staged by a person\n");
    stage.git(&["add", "src/c.rs"]);
    stage.plant("after");
    stage.commit_in_vain("Change a");
    let staged = || stage.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(staged(), "src/a.rs\nsrc/c.rs\n", "the index would take the commit back");
    assert!(stage.place.repo.join(".git/index.lock").exists(), "so nobody can use it yet");
    stage.place.json(&["up"]);
    stage.place.follow().until_action("file_commit");
    assert!(!stage.place.repo.join(".git/index.lock").exists());
    assert_eq!(staged(), "src/c.rs\n", "what somebody else has staged stays");
}

#[test]
fn a_branch_that_was_taken_back_meanwhile_has_no_commit() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    stage.plant("moved");
    stage.commit_in_vain("Change a");
    stage.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    stage.place.json(&["up"]);
    stage.place.follow().until_action("move_undone");
    assert!(stage.place.log_of("file_commit").is_empty());
    let nothing = stage.wire().ask("commit", json!({"message": "Change a"})).expect("an answer");
    assert_eq!(nothing["commit"], Value::Null, "{nothing}");
}

#[test]
fn a_commit_with_another_on_top_of_it_is_found() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    stage.plant("moved");
    stage.commit_in_vain("Change a");
    stage.change("src/c.rs", "by a person\n");
    stage.git(&["commit", "--quiet", "--all", "--message=By a person"]);
    stage.place.json(&["up"]);
    let found = stage.place.follow().until_action("file_commit");
    assert_eq!(found["details"]["commit"]["id"], stage.git(&["rev-parse", "HEAD~1"]).trim());
}

#[test]
fn a_git_that_is_killed_says_nothing_about_a_commit() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    stage.plant("moved");
    stage.commit_in_vain("Change a");
    stage.git_dies(|| drop(stage.place.json(&["up"])));
    let ends = ["file_commit", "move_undone"];
    let found = stage.place.follow().until(|entry| ends.iter().any(|end| entry["action"] == *end));
    assert_eq!(found["action"], "file_commit", "{found}");
}

#[test]
fn a_commit_without_a_branch_is_found_though_its_worktree_is_away() {
    let stage = Stage::new();
    let made = stage.place.json_as(&stage.ann, &["worktree", "add"]);
    let path = PathBuf::from(made["path"].as_str().expect("a path"));
    stage.git(&["-C", path.to_str().expect("text"), "checkout", "--quiet", "--detach"]);
    let mut wire = stage.wire().asking_in(&path);
    wire.ask("lock", json!({"paths": ["src/a.rs"]})).expect("a lock");
    std::fs::write(path.join("src/a.rs"), "changed\n").expect("written");
    stage.plant("moved");
    let server = stage.place.server().expect("a server");
    let broken = wire.ask("commit", json!({"message": "Change a"}));
    assert!(matches!(broken, Err(No::Broken(_))), "{broken:?}");
    assert!(has_ended(server, PATIENCE), "the server goes on");
    let away = stage.place.dir().join("away");
    std::fs::rename(&path, &away).expect("moved");
    stage.place.json(&["up"]);
    let ends = ["file_commit", "move_undone"];
    let found = stage.place.follow().until(|entry| ends.iter().any(|end| entry["action"] == *end));
    assert_eq!(found["action"], "file_commit", "{found}");
}

#[test]
fn one_that_cannot_be_looked_at_stays_open_until_it_can() {
    let stage = Stage::new();
    stage.lock_and_change(&["src/a.rs"]);
    stage.plant("moved");
    stage.commit_in_vain("Change a");
    let (repo, away) = (&stage.place.repo, stage.place.dir().join("away"));
    std::fs::rename(repo, &away).expect("moved");
    let comity = |arguments: &[&str]| {
        let mut command = stage.place.comity(arguments);
        Ran::of(command.current_dir(stage.place.dir()).output().expect("comity runs"))
    };
    let doctor = || {
        let found = comity(&["doctor", "--json"]).document()["findings"].clone();
        let of = found.as_array().expect("findings").iter().find(|finding| finding["what"] == "commits");
        of.expect("a finding").clone()
    };
    assert_eq!(comity(&["up", "--json"]).code, 0);
    let warned = doctor();
    assert_eq!(warned["level"], "warn", "{warned}");
    assert!(warned["found"].as_str().is_some_and(|said| said.starts_with("1 begun")), "{warned}");
    assert!(comity(&["status"]).out.contains("1 commit, not recorded yet"));
    comity(&["log", "verify", "--json"]).json();
    std::fs::rename(&away, repo).expect("moved back");
    stage.place.follow().until_action("file_commit");
    assert_eq!(doctor()["level"], "ok");
}

impl Stage {
    /// A connection as ann.
    fn wire(&self) -> Wire {
        Wire::connect(&self.place).asking_as(&self.ann)
    }

    /// Commits, and the server ends without an answer.
    fn commit_in_vain(&self, message: &str) {
        let server = self.place.server().expect("a server");
        let broken = self.wire().ask("commit", json!({ "message": message }));
        assert!(matches!(broken, Err(No::Broken(_))), "{broken:?}");
        assert!(has_ended(server, PATIENCE), "the server goes on");
    }
}
