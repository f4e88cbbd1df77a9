//! What a new worktree gets besides its files: settings, links, and the hooks of the checkout.

use std::fs;
use std::path::PathBuf;

use comity_git::worktree::{MadeWorktree, Setup};

use super::states::write;
use super::yard::{Yard, inner};

const ANN: &str = "trees/worktrees/ann";

fn skipped(made: &MadeWorktree) -> Vec<(PathBuf, String)> {
    made.setup.skipped.iter().map(|skipped| (skipped.path.clone(), skipped.why.clone())).collect()
}

fn links(paths: &[&str]) -> Setup {
    Setup { settings: vec![], links: paths.iter().map(|path| inner(path)).collect() }
}

#[test]
fn settings_are_copied() {
    let yard = Yard::new();
    write(&yard, "main", ".claude/settings.local.json", "{}\n");
    write(&yard, "main", "src/a.rs", "changed in the main worktree\n");
    let settings = vec![inner(".claude/settings.local.json"), inner("missing.json"), inner("src/a.rs")];
    let made = yard.make_with("ann", &Setup { settings, links: vec![] });
    assert_eq!(fs::read_to_string(made.path.join(".claude/settings.local.json")).expect("copied"), "{}\n");
    assert_eq!(
        fs::read_to_string(made.path.join("src/a.rs")).expect("a file"),
        "second\n",
        "not overwritten"
    );
    let expected = [("missing.json", "the main worktree has none"), ("src/a.rs", "it is there already")];
    assert_eq!(skipped(&made), expected.map(|(path, why)| (path.into(), why.into())));
}

#[test]
fn large_directories_are_linked() {
    let yard = Yard::new();
    write(&yard, "main", "node_modules/x/index.js", "x\n");
    write(&yard, "main", "target/debug/app", "binary\n");
    let made = yard.make_with("ann", &links(&["node_modules", "target", "missing"]));
    assert_eq!(
        fs::read_link(made.path.join("node_modules")).expect("a link"),
        yard.path("main/node_modules")
    );
    assert_eq!(fs::read_to_string(made.path.join("node_modules/x/index.js")).expect("a file"), "x\n");
    let linked: Vec<(&str, bool)> =
        made.setup.linked.iter().map(|linked| (linked.link.path.as_str(), linked.is_ignored)).collect();
    // The pattern `target/` is for directories only, and a link is none: git shows it, and the caller can say so.
    assert_eq!(linked, [("node_modules", true), ("target", false)]);
    assert_eq!(yard.sandbox.git(ANN, &["status", "--porcelain"]), "?? target\n");
    assert_eq!(skipped(&made), [("missing".into(), "the main worktree has none".into())]);
}

#[test]
fn links_stay_inside_the_main_worktree() {
    let yard = Yard::new();
    yard.sandbox.make_dir("outside/deep");
    yard.sandbox.link(yard.path("outside"), "main/node_modules");
    yard.sandbox.link(yard.path("outside"), "main/target");
    write(&yard, "main", "conf", "a file\n");
    let made = yard.make_with("ann", &links(&["node_modules", "target/deep", "conf", "src", "src/new"]));
    assert_eq!(made.setup.linked, []);
    assert_eq!(skipped(&made).len(), 5, "{:?}", skipped(&made));
    assert!(made.path.join("node_modules").symlink_metadata().is_err());
}

#[test]
fn hooks_that_are_not_in_the_commits_are_linked() {
    let yard = Yard::new();
    write(&yard, "main", ".git/info/exclude", "hooks/\n");
    write(&yard, "main", "hooks/pre-commit", "#!/bin/sh\n");
    yard.sandbox.git("main", &["config", "core.hooksPath", "hooks"]);
    let made = yard.make("ann");
    assert_eq!(fs::read_link(made.path.join("hooks")).expect("a link"), yard.path("main/hooks"));
    assert_eq!(yard.whys(ANN), []);
}

#[test]
fn hooks_that_are_in_the_commits_are_the_worktrees_own() {
    for path in ["src", "/dev/null", "../outside", "missing"] {
        let yard = Yard::new();
        yard.sandbox.git("main", &["config", "core.hooksPath", path]);
        let made = yard.make("ann");
        assert_eq!((made.setup.linked, made.setup.skipped), (vec![], vec![]), "{path}");
    }
}

#[test]
fn a_bare_repository_has_nothing_to_copy() {
    let yard = Yard::new();
    yard.sandbox.git("", &["clone", "-q", "--bare", "main", "bare.git"]);
    let places = comity_git::worktree::Places::within(&yard.path("bare-trees"));
    let driver = comity_git::worktree::Driver::open(&yard.path("bare.git"), &places, super::yard::PATIENCE);
    let yard = Yard { driver: driver.expect("a driver"), ..yard };
    let made = yard.make_with("ann", &links(&["node_modules"]));
    assert_eq!(skipped(&made), [("node_modules".into(), "the project has no main worktree".into())]);
    assert_eq!(fs::read_to_string(made.path.join("src/a.rs")).expect("a file"), "second\n");
    let proof = yard.driver.prove_removable(&made.path, super::yard::NOBODY).expect("clean");
    yard.driver.remove(proof).expect("removed");
}

#[test]
fn files_that_a_filter_would_have_changed_are_counted() {
    let yard = Yard::new();
    assert_eq!(yard.make("ann").unfiltered, 0);
    write(&yard, "main", ".gitattributes", "*.rs filter=lfs\n");
    yard.sandbox.git("main", &["add", ".gitattributes"]);
    yard.sandbox.git("main", &["commit", "-q", "-m", "attributes"]);
    yard.sandbox.git("main", &["config", "filter.lfs.smudge", "git-lfs smudge -- %f"]);
    yard.sandbox.git("main", &["config", "filter.lfs.required", "true"]);
    assert_eq!(yard.make("bob").unfiltered, 2);
}
