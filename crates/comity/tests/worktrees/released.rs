//! Worktrees that were given up: they go once it is proven that no work is in them, whenever the server dies.

use std::fs;
use std::path::PathBuf;

use std::time::Duration;

use comity_git::worktree::{Driver, Places, RemovalRules};
use serde_json::{Value, json};

use crate::support::{Place, eventually};
use crate::{Inside, Tree, git, place, support};

fn listed(place: &Place) -> Value {
    place.json(&["worktree", "list", "--trash"])
}

fn release(tree: &Tree<'_>) {
    let answer = tree.place.json_as(&tree.agent, &["worktree", "remove"]);
    assert_eq!(answer["gone"], false, "an agent does not wait: {answer}");
}

#[test]
fn one_that_is_released_goes_once_it_is_proven_that_no_work_is_in_it() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    release(&ann);
    eventually("it is recorded", || place.log_of("worktree_removed").len() == 1);
    assert!(!ann.path.exists());
    assert_eq!(place.log_of("worktree_released").len(), 1);
    let list = listed(&place);
    assert_eq!((&list["worktrees"], &list["trash"][0]["slug"]), (&json!([]), &json!("ann")), "{list}");
    let rescue = place.log_of("worktree_removed")[0]["details"]["rescue"].clone();
    git(&place, &["rev-parse", "--verify", rescue.as_str().expect("a ref")]);
}

#[test]
fn a_name_that_was_released_can_be_asked_for_again_at_once() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    for _ in 0..3 {
        release(&ann);
        let again = place.json_as(&ann.agent, &["worktree", "add"]);
        assert_eq!(again["path"].as_str().map(PathBuf::from).as_ref(), Some(&ann.path), "{again}");
    }
    assert_eq!(place.log_of("worktree_removed").len(), 3);
    assert_eq!(place.log_of("worktree_kept"), Vec::<Value>::new());
}

#[test]
fn one_that_is_released_with_work_in_it_is_kept_and_its_owner_is_told() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    fs::write(ann.path.join("notes.md"), "work\n").expect("written");
    release(&ann);
    eventually("it is recorded", || place.log_of("worktree_kept").len() == 1);
    assert_eq!(fs::read_to_string(ann.path.join("notes.md")).expect("the file"), "work\n");
    let list = listed(&place);
    let tree = &list["worktrees"][0];
    assert_eq!((&tree["slug"], &tree["released"]), (&json!("ann"), &json!(false)), "{list}");
    assert!(tree["kept"].as_str().expect("a reason").contains("notes.md"), "{list}");
    assert_eq!(list["trash"], json!([]), "{list}");
    let told = place.run_as(&ann.agent, &["locks"]);
    assert!(told.err.contains("ann that you released is kept") && told.err.contains("notes.md"), "{told:?}");
    fs::remove_file(ann.path.join("notes.md")).expect("removed");
    release(&ann);
    eventually("it goes now", || !ann.path.exists());
}

#[test]
fn one_that_somebody_is_just_leaving_goes_when_they_are_gone() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    let inside = Inside::start(&ann);
    release(&ann);
    assert_eq!(listed(&place)["worktrees"][0]["released"], true);
    drop(inside);
    eventually("it goes", || !ann.path.exists());
    assert_eq!(place.log_of("worktree_kept"), Vec::<Value>::new());
}

#[test]
fn a_server_that_dies_before_the_verdict_takes_it_up_again() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    let inside = Inside::start(&ann);
    release(&ann);
    place.kill_server();
    drop(inside);
    assert!(ann.path.exists(), "nothing was decided");
    listed(&place);
    eventually("the next server does it", || place.log_of("worktree_removed").len() == 1);
    assert!(!ann.path.exists());
}

#[test]
fn a_server_that_dies_after_the_move_writes_it_down_at_the_next_start() {
    let place = place();
    let ann = Tree::add(&place, "ann");
    let inside = Inside::start(&ann);
    release(&ann);
    place.kill_server();
    drop(inside);
    // What the server had done next.
    let trees = ann.path.parent().and_then(std::path::Path::parent).expect("a directory");
    let patience = Duration::from_secs(60);
    let driver = Driver::open(&place.repo.join(".git"), &Places::within(trees), patience).expect("a driver");
    let rules = RemovalRules { build_dirs: &[], in_use: &|_| false };
    let gone = driver.remove(driver.prove_removable(&ann.path, rules).expect("proven")).expect("moved");
    listed(&place);
    eventually("it is recorded", || place.log_of("worktree_removed").len() == 1);
    let removed = &place.log_of("worktree_removed")[0];
    assert_eq!(removed["details"]["rescue"].as_str().map(str::to_owned), gone.saved_as, "{removed}");
    assert_eq!(place.log_of("worktree_kept"), Vec::<Value>::new());
    assert_eq!(listed(&place)["worktrees"], json!([]));
}

#[test]
fn what_a_person_removes_is_settled_by_the_next_server_if_this_one_dies() {
    let planted = tempfile::tempdir().expect("a directory");
    let file = planted.path().join("panic");
    let plant = file.to_str().expect("a text");
    let place = Place::with(&[("COMITY_WORKTREE_READY", "0"), ("COMITY_PANIC", plant)]);
    for asks_again in [false, true] {
        let path =
            place.json(&["worktree", "add", "ann"])["path"].as_str().map(PathBuf::from).expect("a path");
        fs::write(&file, "worktree-removed").expect("planted");
        match asks_again {
            true => {
                let goes = place.json(&["worktree", "remove", "ann"]);
                assert!(goes["gone"] == true && goes["id"].is_string(), "{goes}");
            }
            false => {
                let server = place.server().expect("a server");
                let mut wire = support::wire::Wire::connect(&place);
                let lost = wire.ask("worktree_remove", json!({ "slug": "ann" }));
                assert!(lost.is_err(), "{lost:?}");
                assert!(support::has_ended(server, support::PATIENCE));
                place.json(&["up"]);
            }
        }
        eventually("it is recorded", || listed(&place)["worktrees"] == json!([]));
        assert!(!path.exists() && !file.exists(), "it is gone, and the plant was hit");
        assert_eq!(place.log_of("worktree_removed").len(), 1 + usize::from(asks_again));
        assert_eq!(place.log_of("worktree_kept"), Vec::<Value>::new());
    }
}
