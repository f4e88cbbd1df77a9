//! Giving locks up: no more than was named, and nothing half done without a word.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::path::PathBuf;

use support::{Place, Ran};

/// Another repository of the same server.
fn another(place: &Place) -> PathBuf {
    let repo = place.dir().join("shop");
    fs::create_dir(&repo).expect("a directory");
    let git = |words: &[&str]| {
        let ran = Ran::of(place.program("git").args(words).current_dir(&repo).output().expect("git runs"));
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    };
    git(&["init", "--quiet"]);
    repo
}

#[test]
fn all_of_it_is_all_of_this_repository() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let shop = another(&place);
    let there =
        |words: &[&str]| Ran::of(place.comity_as(&ann, words).current_dir(&shop).output().expect("it runs"));
    assert_eq!(there(&["lock", "till.rs"]).code, 0);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let unlocked = place.run_as(&ann, &["unlock", "--all"]);
    assert!(unlocked.out.contains("unlocked src/a.rs\n"), "{unlocked:?}");
    assert!(!unlocked.out.contains("till.rs"), "{unlocked:?}");
    let more = "1 lock in other repositories: comity unlock --all-projects";
    assert!(unlocked.out.contains(more), "{unlocked:?}");
    assert!(there(&["locks"]).out.contains("till.rs"));
    let rest = place.run_as(&ann, &["unlock", "--all-projects"]);
    assert!(rest.out.contains("unlocked till.rs in shop"), "{rest:?}");
    assert!(there(&["locks"]).out.contains("nothing is locked"));
}

#[test]
fn uncommitted_changes_do_not_go_to_the_next_one_without_a_word() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let note = "src/a.rs has uncommitted changes";
    // Untouched, or committed: there is nothing to say.
    place.json_as(&ann, &["lock", "src/a.rs"]);
    assert!(!place.run_as(&ann, &["unlock", "src/a.rs"]).out.contains("note:"));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    fs::write(place.repo.join("src/a.rs"), "fn done() {}\n").expect("written");
    place.json_as(&ann, &["commit", "-m", "Done"]);
    assert!(!place.run_as(&ann, &["unlock", "src/a.rs"]).out.contains("note:"));
    for give_up in [&["unlock", "src/a.rs"][..], &["unlock", "--all"], &["release", "src/a.rs"]] {
        let locked = place.run_as(&ann, &["lock", "src/a.rs"]);
        assert_eq!(locked.code, 0, "{locked:?}");
        fs::write(place.repo.join("src/a.rs"), format!("// half of {give_up:?}\n")).expect("written");
        let given_up = place.run_as(&ann, give_up);
        assert!(given_up.out.contains(note) && given_up.out.contains("comity commit"), "{given_up:?}");
    }
    let next = place.run_as(&bob, &["lock", "src/a.rs"]);
    assert!(next.out.contains(note), "{next:?}");
    let again = place.run_as(&bob, &["lock", "src/a.rs"]);
    assert!(!again.out.contains(note), "once: {again:?}");
}

#[test]
fn the_answer_says_which_lock_a_path_stood_for() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/*.rs"]);
    let released = place.run_as(&ann, &["release", "src/a.rs"]);
    let words = "src/a.rs has no lock of its own: that was the lock on src/*.rs";
    assert!(released.out.contains("released src/*.rs") && released.out.contains(words), "{released:?}");
    place.json_as(&bob, &["lock", "src/"]);
    let refused = place.run_as(&bob, &["unlock", "src/c.rs"]);
    assert!(
        refused.err.contains("you hold src/") && refused.err.contains("comity unlock src/"),
        "{refused:?}"
    );
    let given = place.run_as(&bob, &["handover", "src/c.rs", "--to", "ann"]);
    assert!(given.out.contains("handed over src/\n") && given.out.contains("note: src/c.rs"), "{given:?}");
}
