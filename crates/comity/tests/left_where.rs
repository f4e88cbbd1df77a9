//! Whose work is left in which worktree: a lock remembers where it was taken, and what others change elsewhere is not
//! the dead agent's.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use support::{Agent, Place, Ran};

const COMMITTED: &str = "fn main() {}\n";
const PERSONS: &str = "the person's\n";
const HALF_DONE: &str = "half done\n";

fn place() -> (Place, Agent) {
    let place = Place::with(&[("COMITY_WORKTREE_READY", "0")]);
    let ann = place.join(&["ann"]);
    (place, ann)
}

fn own_worktree(place: &Place, agent: &Agent) -> PathBuf {
    place.json_as(agent, &["worktree", "add"])["path"].as_str().expect("a path").into()
}

/// A worktree that a person made with git.
fn gits_worktree(place: &Place) -> PathBuf {
    let path = place.dir().join("by-hand");
    place.git(&["worktree", "add", "--quiet", "-b", "by-hand", path.to_str().expect("text")]);
    path
}

fn run_in(place: &Place, agent: &Agent, dir: &Path, arguments: &[&str]) -> Ran {
    Ran::of(place.comity_as(agent, arguments).current_dir(dir).output().expect("comity runs"))
}

fn lock_in(place: &Place, agent: &Agent, dir: &Path) {
    run_in(place, agent, dir, &["lock", "src/a.rs", "--json"]).json();
}

fn write(dir: &Path, text: &str) {
    fs::write(dir.join("src/a.rs"), text).expect("written");
}

fn read(dir: &Path) -> String {
    fs::read_to_string(dir.join("src/a.rs")).expect("a file")
}

/// The agent ends, and its work is found.
fn end_over_work(place: &Place, agent: &Agent) {
    let mut log = place.follow_on();
    place.json_as(agent, &["agent", "bye"]);
    log.until_action("lock_orphaned");
}

#[test]
fn what_a_person_changes_in_another_worktree_is_not_put_aside() {
    let (place, ann) = place();
    let tree = gits_worktree(&place);
    lock_in(&place, &ann, &tree);
    write(&tree, HALF_DONE);
    write(&place.repo, PERSONS);
    end_over_work(&place, &ann);
    // It could be hers, too: a person decides.
    let refused = place.run(&["rescue", "src/a.rs", "--json"]).refusal();
    let main = place.repo.canonicalize().expect("a path");
    let said = format!("src/a.rs in {} is not committed either", main.display());
    assert!(refused["message"].as_str().is_some_and(|message| message.contains(&said)), "{refused}");
    assert_eq!((read(&tree), read(&place.repo)), (HALF_DONE.into(), PERSONS.into()));
    place.git(&["commit", "--quiet", "--no-verify", "--all", "--message=The person's"]);
    let rescued = place.json(&["rescue", "src/a.rs"]);
    assert_eq!(rescued["rescued"][0]["worktree"], json!(tree.canonicalize().expect("a path")), "{rescued}");
    assert_eq!((read(&tree), read(&place.repo)), (COMMITTED.into(), PERSONS.into()));
    assert_eq!(place.json(&["locks"])["total"], 0);
}

#[test]
fn what_a_person_changes_elsewhere_is_freed_by_a_word() {
    let (place, ann) = place();
    let tree = own_worktree(&place, &ann);
    lock_in(&place, &ann, &tree);
    write(&place.repo, PERSONS);
    // Nobody knows that it was not the agent.
    end_over_work(&place, &ann);
    place.json(&["release", "src/a.rs", "--reason", "it is mine"]);
    assert_eq!(place.json(&["locks"])["total"], 0);
    assert_eq!(read(&place.repo), PERSONS);
}

#[test]
fn work_in_the_shared_directory_is_found_and_put_aside_though_its_agent_had_a_worktree() {
    let (place, ann) = place();
    let tree = own_worktree(&place, &ann);
    lock_in(&place, &ann, &place.repo);
    write(&place.repo, HALF_DONE);
    end_over_work(&place, &ann);
    let rescued = place.json(&["rescue", "src/a.rs"]);
    assert_eq!(rescued["rescued"][0]["by"], "ann", "{rescued}");
    assert_eq!(read(&place.repo), COMMITTED);
    assert!(!tree.exists() || read(&tree) == COMMITTED);
}

#[test]
fn work_in_the_worktree_of_another_is_found_and_left_to_its_owner() {
    let (place, ann) = place();
    let tree = own_worktree(&place, &ann);
    let bob = place.join(&["bob"]);
    lock_in(&place, &bob, &tree);
    write(&tree, HALF_DONE);
    end_over_work(&place, &bob);
    let refused = place.run(&["rescue", "src/a.rs", "--json"]).refusal();
    assert!(refused["message"].as_str().is_some_and(|said| said.contains("somebody else's")), "{refused}");
    assert_eq!(read(&tree), HALF_DONE);
}

#[test]
fn who_takes_work_over_has_its_own_whereabouts() {
    let (place, ann) = place();
    let tree = gits_worktree(&place);
    lock_in(&place, &ann, &tree);
    write(&tree, HALF_DONE);
    end_over_work(&place, &ann);
    let bob = place.join(&["bob"]);
    place.json(&["adopt", "src/a.rs"]);
    place.json(&["handover", "src/a.rs", "--to", "bob"]);
    write(&tree, COMMITTED);
    write(&place.repo, HALF_DONE);
    end_over_work(&place, &bob);
    assert_eq!(place.json(&["locks"])["locks"][0]["state"], "orphaned");
}

#[test]
fn who_takes_over_what_lies_in_another_worktree_is_told_where() {
    for take_over in [&["adopt", "src/a.rs"][..], &["handover", "src/a.rs", "--to", "bob"]] {
        let (place, ann) = place();
        let tree = own_worktree(&place, &ann);
        lock_in(&place, &ann, &tree);
        write(&tree, HALF_DONE);
        end_over_work(&place, &ann);
        place.join(&["bob"]);
        let there = format!("cd {}", tree.canonicalize().expect("a path").display());
        let inbox = place.run(&["inbox"]).out;
        assert!(inbox.contains(&there), "{inbox}");
        let taken = place.run(take_over).out;
        assert!(taken.contains(&format!("the work on src/a.rs is in another worktree: {there}")), "{taken}");
    }
}

#[test]
fn what_one_agent_left_in_several_files_is_taken_over_at_once() {
    let (place, ann) = place();
    place.json_as(&ann, &["lock", "src/a.rs", "src/b.rs"]);
    for name in ["src/a.rs", "src/b.rs"] {
        fs::write(place.repo.join(name), HALF_DONE).expect("written");
    }
    end_over_work(&place, &ann);
    support::eventually("both are known", || place.json(&["inbox"])["count"] == 2);
    let inbox = place.run(&["inbox"]).out;
    assert!(inbox.contains("\n    all 2: comity adopt src/a.rs src/b.rs\n"), "{inbox}");
    assert_eq!(inbox.matches(" rescue").count(), 1, "the answers are there once: {inbox}");
    place.json(&["adopt", "src/a.rs", "src/b.rs"]);
    assert_eq!(place.json(&["inbox"])["count"], 0);
}
