//! Git's own writes are no news.

use std::fs;

use comity_watch::Bounds;

use crate::stand::{Stand, git, write};

/// A repository whose branches `main` and `other` differ in 300 files, five directories and a conflict.
fn two_branches(root: &std::path::Path) {
    for number in 0..300 {
        write(root, &format!("d{}/f{number}", number % 5), "one\n");
    }
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--message=base"]);
    git(root, &["checkout", "--quiet", "-b", "other"]);
    for number in 0..300 {
        write(root, &format!("d{}/f{number}", number % 5), "two\n");
        write(root, &format!("e{}/f{number}", number % 5), "new\n");
    }
    git(root, &["add", "."]);
    git(root, &["commit", "--quiet", "--message=other"]);
    git(root, &["checkout", "--quiet", "main"]);
    write(root, "d0/own", "main\n");
}

#[test]
fn git_may_do_as_it_likes() {
    let mut stand = Stand::new(two_branches).ready();
    for step in [
        &["checkout", "--quiet", "other"][..],
        &["checkout", "--quiet", "main"],
        &["merge", "--quiet", "--no-commit", "other"],
        &["merge", "--abort"],
        &["merge", "--quiet", "--no-edit", "other"],
        &["reset", "--quiet", "--hard", "HEAD~1"],
        &["cherry-pick", "--no-commit", "other"],
        &["stash", "--quiet"],
        &["stash", "pop", "--quiet"],
        &["reset", "--quiet", "--hard"],
        &["checkout", "--quiet", "-b", "topic"],
        &["rebase", "--quiet", "other"],
    ] {
        stand.git(step);
        let seen = stand.seen();
        assert!(seen.changed.is_empty(), "git {step:?}: {:?}", seen.changed);
        // Each step begins with a clean checkout but for what the step before left.
        for number in 1..=20 {
            let _not_there = fs::remove_file(stand.root.join(format!("sentinel{number}")));
        }
    }
}

#[test]
fn files_with_conflicts_are_gits() {
    let mut stand = Stand::new(|root| {
        two_branches(root);
        write(root, "d0/f0", "three\n");
    })
    .ready();
    let conflict = std::process::Command::new("git")
        .arg("-C")
        .arg(&stand.root)
        .args(["-c", "user.name=test", "-c", "user.email=test", "merge", "--quiet", "other"])
        .output()
        .expect("git runs");
    assert_eq!(conflict.status.code(), Some(1), "{conflict:?}");
    assert!(stand.seen().changed.is_empty());
    stand.write("d0/f0", "resolved\n");
    assert_eq!(stand.seen().changed(), ["d0/f0"], "what somebody writes into them is told");
}

#[test]
fn a_forgotten_lock_of_the_index_hides_nothing_for_long() {
    let bounds = Bounds { git_max: std::time::Duration::ZERO, ..Bounds::default() };
    let mut stand = Stand::with(bounds, |_| {}).ready();
    fs::write(stand.root.join(".git/index.lock"), "").expect("written");
    stand.write("src/a.rs", "changed\n");
    assert_eq!(stand.seen().changed(), ["src/a.rs"]);
}

#[test]
fn what_is_written_while_git_holds_the_index_is_gits() {
    let mut stand = Stand::new(|_| {}).ready();
    fs::write(stand.root.join(".git/index.lock"), "").expect("written");
    stand.write("src/a.rs", "changed\n");
    stand.write("src/new/b.rs", "new\n");
    fs::remove_file(stand.root.join(".git/index.lock")).expect("removed");
    assert!(stand.seen().paths.is_empty());
    stand.write("src/new/b.rs", "changed\n");
    assert_eq!(stand.seen().changed(), ["src/new/b.rs"], "its directory is watched all the same");
}
