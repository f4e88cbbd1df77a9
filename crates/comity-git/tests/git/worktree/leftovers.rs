//! What is found at start, by what it is.

use std::fs;

use comity_git::worktree::{FailureKind, Leftover};

use super::states::{commit, write};
use super::yard::Yard;

const ANN: &str = "trees/worktrees/ann";

fn found(yard: &Yard) -> Vec<Leftover> {
    yard.driver.leftovers().expect("looked")
}

#[test]
fn whole_worktrees_are_none() {
    let yard = Yard::new();
    yard.driver.fill("trunk", 1).expect("filled");
    yard.ann();
    yard.sandbox.git("main", &["worktree", "add", "-q", "../users"]);
    fs::remove_dir_all(yard.path("users")).expect("the user's own affair");
    assert_eq!(found(&yard), []);
}

#[test]
fn an_entry_of_git_without_files() {
    let yard = Yard::new();
    let ann = yard.ann();
    commit(&yard, &ann, "work");
    yard.sandbox.git(&ann, &["checkout", "-q", "--detach"]);
    commit(&yard, &ann, "on no branch");
    write(&yard, &ann, "staged.txt", "staged and nowhere else\n");
    yard.sandbox.git(&ann, &["add", "staged.txt"]);
    let head = yard.sandbox.git(&ann, &["rev-parse", "HEAD"]).trim_end().to_owned();
    let blob = yard.sandbox.git(&ann, &["rev-parse", ":staged.txt"]).trim_end().to_owned();
    let git_entry = yard.path(&yard.git_dir(&ann));
    fs::remove_dir_all(yard.path(&ann)).expect("removed by hand");
    let left = found(&yard);
    assert_eq!(left, [Leftover::NoFiles { path: yard.path(ANN), git_entry }]);
    yard.driver.set_aside(&left[0]).expect("set aside").expect("it had something");
    assert_eq!(found(&yard), []);
    // What only that entry held is held by refs now.
    yard.sandbox.git("main", &["reflog", "expire", "--expire=now", "--all"]);
    yard.sandbox.git("main", &["gc", "-q", "--prune=now"]);
    yard.sandbox.git("main", &["cat-file", "-e", &head]);
    assert_eq!(yard.sandbox.git("main", &["cat-file", "-p", &blob]), "staged and nowhere else\n");
}

#[test]
fn a_directory_without_an_entry_of_git() {
    let yard = Yard::new();
    let ann = yard.ann();
    write(&yard, &ann, "work.txt", "work\n");
    let git_dir = yard.git_dir(&ann);
    fs::remove_dir_all(yard.path(&git_dir)).expect("destroyed");
    write(&yard, "trees/worktrees", "stranger/notes.txt", "work\n");
    let path = |name: &str| yard.path("trees/worktrees").join(name);
    let left = found(&yard);
    assert_eq!(left, ["ann", "stranger"].map(|name| Leftover::NoGitEntry { path: path(name) }));
    let before = yard.snapshot(ANN);
    let id = yard.driver.set_aside(&left[0]).expect("set aside").expect("it had files");
    assert_eq!(yard.snapshot(&format!("trees/trash/{id}/files")), before);
    // It is not ours to delete, ever, and comes back as it was.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1_000_000_000);
    yard.driver.purge(later, comity_git::worktree::TRASH_KEPT_FOR).expect("looked");
    yard.driver.restore(&id).expect("restored");
    assert_eq!(yard.snapshot(ANN), before);
}

#[test]
fn a_copy_does_not_take_the_entry_of_the_original() {
    let yard = Yard::new();
    let ann = yard.ann();
    fs::create_dir(yard.path("trees/worktrees/copy")).expect("made");
    fs::copy(yard.path(&ann).join(".git"), yard.path("trees/worktrees/copy/.git")).expect("copied");
    write(&yard, "trees/worktrees/copy", "work.txt", "work\n");
    let left = found(&yard);
    assert_eq!(left, [Leftover::NoGitEntry { path: yard.path("trees/worktrees/copy") }]);
    yard.driver.set_aside(&left[0]).expect("set aside");
    assert_eq!(yard.whys(&ann), []);
}

#[test]
fn what_is_not_ours_is_only_told() {
    let yard = Yard::new();
    write(&yard, "trees/worktrees", "file.txt", "work\n");
    yard.sandbox.link(yard.path("main"), "trees/pool/link");
    write(&yard, "trees/trash", "stranger/work.txt", "work\n");
    let left = found(&yard);
    let unknown = ["trees/pool/link", "trees/trash/stranger", "trees/worktrees/file.txt"];
    assert_eq!(left, unknown.map(|path| Leftover::Unknown { path: yard.path(path) }));
    for leftover in &left {
        assert_eq!(yard.driver.set_aside(leftover).expect_err("not ours").kind(), FailureKind::BadPlace);
    }
    assert_eq!(found(&yard), left);
}

#[test]
fn what_has_changed_since_is_looked_at_again() {
    let yard = Yard::new();
    write(&yard, "trees/worktrees", "stranger/work.txt", "work\n");
    let left = found(&yard);
    fs::rename(yard.path("trees/worktrees/stranger"), yard.path("away")).expect("moved");
    assert_eq!(yard.driver.set_aside(&left[0]).expect_err("gone").kind(), FailureKind::Changed);
}

#[test]
fn the_trash_does_not_fill_up_unseen() {
    let yard = Yard::new();
    for number in 0..64 {
        write(&yard, "trees/worktrees", &format!("stranger{number}/work.txt"), "work\n");
    }
    for leftover in found(&yard) {
        yard.driver.set_aside(&leftover).expect("set aside");
    }
    let no = yard.driver.fill("trunk", 1).expect_err("somebody has to look");
    assert_eq!(no.kind(), FailureKind::Busy);
}
