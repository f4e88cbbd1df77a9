//! Which repository a directory is in, and which worktrees it has.

use std::fs;

use comity_git::{Repository, worktrees};

use crate::sandbox::Sandbox;

#[test]
fn the_repository_of_a_directory() {
    let sandbox = Sandbox::with(&["src/a.rs"]);
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    sandbox.git("", &["init", "-q", "--bare", "bare.git"]);
    sandbox.git("", &["init", "-q", "--separate-git-dir", "apart.git", "apart"]);
    sandbox.link("main/src", "shortcut");
    sandbox.make_dir("main/fake/.git");
    sandbox.make_dir("plain");
    let check = |dir: &str, root: Option<&str>, common_dir: &str| {
        let found = Repository::containing(&sandbox.path(dir)).expect(dir);
        let places = found.map(|it| (it.root().to_owned(), it.common_dir().to_owned()));
        assert_eq!(places, root.map(|root| (sandbox.path(root), sandbox.path(common_dir))), "{dir}");
    };
    check("main", Some("main"), "main/.git");
    check("main/src", Some("main"), "main/.git");
    check("main/fake", Some("main"), "main/.git");
    check("shortcut", Some("main"), "main/.git");
    check("linked/src", Some("linked"), "main/.git");
    check("apart", Some("apart"), "apart.git");
    check("plain", None, "");
    check("main/.git", None, "");
    check("main/.git/refs", None, "");
    check("main/.git/worktrees/linked", None, "");
    check("bare.git", None, "");
    check("bare.git/objects", None, "");
    assert!(Repository::containing(&sandbox.path("missing")).is_err());
}

#[test]
fn worktrees_are_one_project_and_repositories_are_not() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    sandbox.init("other");
    let project = |dir: &str| sandbox.repository(dir).project();
    assert_eq!(project("main"), project("linked"));
    assert_ne!(project("main"), project("other"));
}

#[test]
fn a_repository_is_current_until_its_git_entry_changes() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    let (main, linked) = (sandbox.repository("main"), sandbox.repository("linked"));
    sandbox.commit_files("main", &["b"]);
    assert!(main.is_current() && linked.is_current());
    sandbox.git("main", &["worktree", "remove", "../linked"]);
    assert!(main.is_current() && !linked.is_current());
    fs::rename(sandbox.path("main/.git"), sandbox.path("main/git")).expect("a rename");
    assert!(!main.is_current());
}

#[test]
fn a_worktree_whose_git_directory_is_gone_is_an_error() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../main/linked"]);
    fs::remove_dir_all(sandbox.path("main/.git/worktrees")).expect("removed");
    let error = Repository::containing(&sandbox.path("main/linked")).expect_err("broken");
    assert!(error.to_string().ends_with("names a git directory that does not exist"), "{error}");
}

#[test]
fn the_worktrees_that_exist() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    sandbox.git("main", &["worktree", "add", "-q", "../gone"]);
    sandbox.git("main", &["worktree", "add", "-q", "inner"]);
    fs::remove_dir_all(sandbox.path("gone")).expect("removed");
    sandbox.git("", &["clone", "-q", "--bare", "main", "bare.git"]);
    sandbox.git("bare.git", &["worktree", "add", "-q", "../of_bare"]);
    sandbox.git("main", &["submodule", "--quiet", "add", "../bare.git", "sub"]);
    let check = |common_dir: &str, roots: &[&str]| {
        let found = worktrees(&sandbox.path(common_dir)).expect(common_dir);
        let expected: Vec<_> = roots.iter().map(|root| sandbox.path(root)).collect();
        assert_eq!(found, expected, "{common_dir}");
    };
    check("main/.git", &["linked", "main", "main/inner"]);
    check("bare.git", &["of_bare"]);
    check("main/.git/modules/sub", &["main/sub"]);
    check("missing.git", &[]);
    sandbox.git("", &["clone", "-q", "--bare", "main", "hub/.git"]);
    sandbox.git("hub", &["worktree", "add", "-q", "trunk"]);
    check("hub/.git", &["hub/trunk"]);
}
