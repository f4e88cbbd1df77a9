//! What counts as uncommitted work, and what does not.

use std::fs;
use std::time::Duration;

use comity_core::{CaseRule, PathPattern};
use comity_git::has_uncommitted_work;

use crate::sandbox::Sandbox;

const PATIENCE: Duration = Duration::from_secs(60);

fn has_work(sandbox: &Sandbox, common_dir: &str, pattern: &str) -> Result<bool, String> {
    let pattern = PathPattern::parse(pattern, CaseRule::Exact).expect(pattern);
    has_uncommitted_work(&sandbox.path(common_dir), &pattern, CaseRule::Exact, PATIENCE)
        .map_err(|unknown| unknown.to_string())
}

/// Does something in a clean repository, then asks about patterns.
fn check(change: impl Fn(&Sandbox), expected: &[(&str, bool)]) {
    let sandbox = Sandbox::with(&["src/a.rs", "src/b.rs", "caf\u{e9}/x", "odd/[id]/x", "docs/c.md"]);
    sandbox.write("main/.git/info/exclude", "*.log\n");
    change(&sandbox);
    for (pattern, work) in expected {
        assert_eq!(has_work(&sandbox, "main/.git", pattern), Ok(*work), "{pattern}");
    }
}

#[test]
fn a_clean_repository_has_none() {
    check(|_| {}, &[("**", false), ("src/a.rs", false), ("src/*.rs", false), ("new/", false)]);
}

#[test]
fn modified_files_are_work_on_the_paths_that_mean_them() {
    let change = |it: &Sandbox| it.write("main/src/a.rs", "second, and longer\n");
    check(
        change,
        &[
            ("src/a.rs", true),
            ("src/", true),
            ("src/*.rs", true),
            ("**/a.rs", true),
            ("{docs/,src/a.rs}", true),
            ("src/b.rs", false),
            ("docs/", false),
            ("**/b.rs", false),
        ],
    );
}

#[test]
fn each_kind_of_work_counts() {
    let a = [("src/a.rs", true), ("src/b.rs", false)];
    check(
        |it| it.write("main/src/new.rs", ""),
        &[("src/new.rs", true), ("src/*.rs", true), ("src/a.rs", false)],
    );
    check(
        |it| it.write("main/new/deep/x", ""),
        &[("new/", true), ("new/deep/x", true), ("new/other", false)],
    );
    check(|it| fs::remove_file(it.path("main/src/a.rs")).expect("removed"), &a);
    check(|it| drop(it.git("main", &["rm", "-q", "--cached", "src/a.rs"])), &a);
    let staged = |it: &Sandbox| {
        it.write("main/src/a.rs", "second, and longer\n");
        it.git("main", &["add", "src/a.rs"]);
    };
    check(staged, &a);
    let renamed = |it: &Sandbox| drop(it.git("main", &["mv", "src/a.rs", "src/moved.rs"]));
    check(renamed, &[("src/a.rs", true), ("src/moved.rs", true), ("src/b.rs", false)]);
    check(
        |it| it.write("main/cafe\u{301}/x", "in the other form\n"),
        &[("caf\u{e9}/x", true), ("src/", false)],
    );
    check(|it| it.write("main/odd/[id]/x", "other text\n"), &[("odd/[[]id[]]/x", true), ("src/", false)]);
    check(|it| it.write("main/odd/line\nend", ""), &[("odd/", true), ("odd/x", false)]);
}

#[test]
fn ignored_files_and_other_repositories_are_none() {
    check(|it| it.write("main/src/x.log", ""), &[("src/", false), ("src/x.log", false)]);
    check(|it| it.init("main/inner"), &[("inner/", false), ("**", false)]);
    let nested_worktree = |it: &Sandbox| drop(it.git("main", &["worktree", "add", "-q", "trees/inner"]));
    check(nested_worktree, &[("**", false), ("trees/", false)]);
}

#[test]
fn work_in_any_worktree_counts() {
    let change = |it: &Sandbox| {
        it.git("main", &["worktree", "add", "-q", "../linked"]);
        it.git("main", &["worktree", "add", "-q", "../gone"]);
        it.write("linked/src/a.rs", "second, and longer\n");
        fs::remove_dir_all(it.path("gone")).expect("removed");
    };
    check(change, &[("src/a.rs", true), ("src/b.rs", false), ("**", true)]);
}

#[test]
fn what_the_index_hides_counts_if_it_differs() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let hide = |it: &Sandbox| drop(it.git("main", &["update-index", flag, "src/a.rs"]));
        check(hide, &[("src/a.rs", false), ("**", false)]);
        let change = |it: &Sandbox| {
            hide(it);
            it.write("main/src/a.rs", "second, and longer\n");
            assert_eq!(it.git("main", &["status", "--porcelain"]), "", "git hides it");
        };
        check(change, &[("src/a.rs", true), ("src/b.rs", false)]);
    }
    let removed = |it: &Sandbox| {
        it.git("main", &["update-index", "--assume-unchanged", "src/a.rs"]);
        fs::remove_file(it.path("main/src/a.rs")).expect("removed");
    };
    check(removed, &[("src/a.rs", true), ("src/b.rs", false)]);
    let sparse = |it: &Sandbox| drop(it.git("main", &["sparse-checkout", "set", "docs"]));
    check(sparse, &[("src/a.rs", false), ("**", false)]);
}

#[test]
fn a_branch_without_commits_has_what_is_there() {
    let sandbox = Sandbox::empty();
    sandbox.init("main");
    assert_eq!(has_work(&sandbox, "main/.git", "**"), Ok(false));
    sandbox.write("main/a", "");
    assert_eq!(has_work(&sandbox, "main/.git", "a"), Ok(true));
    sandbox.git("main", &["add", "a"]);
    assert_eq!(has_work(&sandbox, "main/.git", "a"), Ok(true));
    assert_eq!(has_work(&sandbox, "main/.git", "b"), Ok(false));
}

#[test]
fn conflicts_are_work() {
    let change = |it: &Sandbox| {
        it.git("main", &["checkout", "-q", "-b", "side"]);
        it.write("main/src/a.rs", "side\n");
        it.git("main", &["commit", "-q", "-am", "side"]);
        it.git("main", &["checkout", "-q", "trunk"]);
        it.write("main/src/a.rs", "trunk\n");
        it.git("main", &["commit", "-q", "-am", "trunk"]);
        it.git("main", &["-c", "alias.m=!git merge -q side || true", "m"]);
    };
    check(change, &[("src/a.rs", true), ("src/b.rs", false)]);
}

#[test]
fn a_project_that_is_gone_has_none() {
    assert_eq!(has_work(&Sandbox::empty(), "main/.git", "**"), Ok(false));
}

#[test]
fn what_cannot_be_found_out_is_an_error() {
    let sandbox = Sandbox::with(&["a"]);
    let says = |common_dir: &str| has_work(&sandbox, common_dir, "a").expect_err("unknown");
    sandbox.git("", &["init", "-q", "--separate-git-dir", "apart.git", "apart"]);
    assert!(says("apart.git").ends_with("apart.git does not say where its files are"));
    sandbox.write("main/.git/index", "not an index");
    assert!(says("main/.git").contains("index file"), "{}", says("main/.git"));
    let pattern = PathPattern::parse("a", CaseRule::Exact).expect("a");
    let late = has_uncommitted_work(&sandbox.path("main/.git"), &pattern, CaseRule::Exact, Duration::ZERO);
    assert!(late.expect_err("late").to_string().ends_with("it was not done in time"));
}
