//! Worktrees that are kept, each for the reason that there is.

use std::fs;
use std::time::Duration;

use comity_git::worktree::{Driver, KeepCause, Places, RemovalRules, Setup};

use super::states::{STATES, try_git, write};
use super::yard::{Idle, NOBODY, Yard, inner};

/// States with one reason only: no other proof would hide that the one for it is missing.
const ALONE: &[&str] = &[
    "modified",
    "untracked",
    "ignored",
    "assumed unchanged",
    "skipped",
    "a commit on the branch",
    "a commit that was left behind",
    "a commit at a ref that only the worktree has",
    "a merge",
    "a rebase",
    "a cherry-pick",
    "a bisection",
    "patches by mail",
    "a lock of the index",
    "a stash",
    "a repository over tracked files",
    "a pipe",
    "a lock",
];

#[test]
fn a_lock_without_a_reason_says_how_to_let_it_go() {
    let yard = Yard::new();
    let ann = yard.ann();
    let path = yard.path(&ann);
    let path = path.to_str().expect("text");
    let output = |arguments: &[&str]| {
        yard.sandbox.git("main", arguments);
        let kept = yard.prove(&ann).expect_err("it is kept");
        kept.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let unlock = format!("let it go with: git worktree unlock {path}");
    assert_eq!(output(&["worktree", "lock", path]), [format!("it is locked: nobody said why; {unlock}")]);
    yard.sandbox.git("main", &["worktree", "unlock", path]);
    assert_eq!(
        output(&["worktree", "lock", "--reason", "mine", path]),
        [format!("it is locked: mine; {unlock}")]
    );
}

#[test]
fn every_kind_of_work_keeps_its_worktree() {
    assert!(ALONE.iter().all(|name| STATES.iter().any(|state| state.name == *name)));
    for state in STATES {
        let yard = Yard::new();
        let ann = yard.ann();
        (state.make)(&yard, &ann);
        if state.is_silent {
            assert_eq!(yard.sandbox.git(&ann, &["status", "--porcelain"]), "", "{}", state.name);
        }
        let before = yard.snapshot("trees");
        let kept = yard.prove(&ann).expect_err(state.name);
        let whys: Vec<KeepCause> = kept.iter().map(|kept| kept.why).collect();
        assert!(whys.contains(&state.why), "{}: {whys:?}", state.name);
        assert!(whys.len() == 1 || !ALONE.contains(&state.name), "{}: {whys:?}", state.name);
        assert!(kept.iter().all(|kept| !kept.to_string().is_empty() && kept.count > 0), "{}", state.name);
        assert_eq!(yard.snapshot("trees"), before, "{}: a look changes nothing", state.name);
    }
}

#[test]
fn a_process_keeps_the_worktree_that_it_is_in() {
    let yard = Yard::new();
    let ann = yard.ann();
    yard.sandbox.make_dir(&format!("{ann}/src"));
    let path = yard.path(&ann);
    for (dir, open) in [(path.join("src"), None), (yard.path("main"), Some(path.join("src/a.rs")))] {
        let process = Idle::start(&dir, open.as_deref());
        assert_eq!(yard.whys(&ann), [KeepCause::Process]);
        drop(process);
        assert_eq!(yard.whys(&ann), []);
    }
    // One in a directory whose name only begins in the same way is none.
    yard.make("ann2");
    let _process = Idle::start(&yard.path("trees/worktrees/ann2"), None);
    assert_eq!(yard.whys(&ann), []);
}

#[test]
fn whoever_is_alive_keeps_the_worktree() {
    let yard = Yard::new();
    let ann = yard.ann();
    let path = yard.path(&ann);
    let in_use = |asked: &std::path::Path| asked == path;
    let kept = yard
        .driver
        .prove_removable(&path, RemovalRules { build_dirs: &[], in_use: &in_use })
        .expect_err("in use");
    assert_eq!(kept.iter().map(|kept| kept.why).collect::<Vec<_>>(), [KeepCause::InUse]);
}

#[test]
fn submodules_keep_their_worktree() {
    let yard = Yard::new();
    yard.sandbox.git("", &["clone", "-q", "main", "library"]);
    yard.sandbox.git("main", &["submodule", "--quiet", "add", "../library", "lib"]);
    yard.sandbox.git("main", &["commit", "-q", "-m", "lib"]);
    let ann = yard.ann();
    assert_eq!(yard.whys(&ann), [], "one without files isn't work");
    yard.sandbox.git(&ann, &["submodule", "--quiet", "update", "--init"]);
    assert!(yard.whys(&ann).contains(&KeepCause::Repository));
    yard.sandbox.git(&format!("{ann}/lib"), &["commit", "-q", "--allow-empty", "-m", "work"]);
    assert!(yard.whys(&ann).contains(&KeepCause::Repository));
    // Its repository, with the commit, outlives its files.
    yard.sandbox.git(&ann, &["submodule", "--quiet", "deinit", "--force", "lib"]);
    assert!(yard.whys(&ann).contains(&KeepCause::Repository));
}

#[test]
fn copies_that_were_changed_are_work() {
    let yard = Yard::new();
    write(&yard, "main", ".worktreeinclude", ".env*\nconf/\n");
    write(&yard, "main", ".env", "A=1\n");
    write(&yard, "main", "conf/a.json", "{}\n");
    let ann = yard.ann();
    assert_eq!(yard.whys(&ann), []);
    write(&yard, &ann, ".env", "A=2\n");
    assert_eq!(yard.whys(&ann), [KeepCause::Ignored]);
    write(&yard, &ann, ".env", "A=1\n");
    assert_eq!(yard.whys(&ann), [], "the same bytes again");
    write(&yard, &ann, "conf/b.json", "{}\n");
    assert_eq!(yard.whys(&ann), [KeepCause::Ignored], "a file beside the copies");
    fs::remove_file(yard.path(&ann).join("conf/b.json")).expect("removed");
    fs::remove_file(yard.path(&ann).join(".env")).expect("removed");
    yard.sandbox.link("/etc/hosts", &format!("{ann}/.env"));
    assert_eq!(yard.whys(&ann), [KeepCause::Ignored], "a link in the place of a copy");
}

#[test]
fn links_that_were_replaced_are_work() {
    let yard = Yard::new();
    write(&yard, "main", "node_modules/x/index.js", "x\n");
    let setup = Setup { settings: vec![], links: vec![inner("node_modules")] };
    let made = yard.make_with("ann", &setup);
    let ann = "trees/worktrees/ann";
    assert_eq!(yard.whys(ann), []);
    fs::remove_file(made.path.join("node_modules")).expect("our link");
    write(&yard, ann, "node_modules/own/index.js", "patched\n");
    assert_eq!(yard.whys(ann), [KeepCause::Ignored]);
}

#[test]
fn builds_are_work_unless_declared_and_ignored() {
    let yard = Yard::new();
    let ann = yard.ann();
    write(&yard, &ann, "target/debug/app", "binary\n");
    write(&yard, &ann, "target/debug/deps/.git/HEAD", "a repository that a build fetched\n");
    let dirs = [inner("target"), inner("dist")];
    let rules = RemovalRules { build_dirs: &dirs, in_use: &|_| false };
    let prove = || yard.driver.prove_removable(&yard.path(&ann), rules).map(drop);
    assert!(yard.whys(&ann).contains(&KeepCause::Ignored), "not declared");
    assert!(prove().is_ok(), "declared");
    write(&yard, &ann, "dist/app", "binary\n");
    assert_eq!(prove().expect_err("not ignored")[0].why, KeepCause::Untracked);
}

#[test]
fn tracked_files_in_a_directory_for_builds_are_work() {
    let yard = Yard::new();
    write(&yard, "main", "target/kept.txt", "in the commit\n");
    yard.sandbox.git("main", &["add", "--force", "target/kept.txt"]);
    yard.sandbox.git("main", &["commit", "-q", "-m", "kept"]);
    let ann = yard.ann();
    let dirs = [inner("target")];
    let rules = RemovalRules { build_dirs: &dirs, in_use: &|_| false };
    let prove = || yard.driver.prove_removable(&yard.path(&ann), rules);
    let proof = prove().expect("clean");
    write(&yard, &ann, "target/kept.txt", "changed after the proof\n");
    assert_eq!(yard.driver.remove(proof).expect_err("changed")[0].why, KeepCause::Changed);
    assert_eq!(prove().expect_err("changed")[0].why, KeepCause::Modified);
}

#[test]
fn what_is_not_ours_is_kept() {
    let yard = Yard::new();
    let not_ours = |dir: &str| {
        assert_eq!(yard.whys(dir), [KeepCause::NotOurs], "{dir}");
    };
    not_ours("main");
    not_ours("trees/worktrees/nobody");
    not_ours("trees/worktrees");
    yard.sandbox.git("main", &["worktree", "add", "-q", "../users"]);
    not_ours("users");
    yard.sandbox.git("main", &["worktree", "add", "-q", "../trees/worktrees/users2"]);
    not_ours("trees/worktrees/users2");
    let ann = yard.ann();
    yard.sandbox.link(yard.path(&ann), "trees/worktrees/link");
    not_ours("trees/worktrees/link");
    not_ours("trees/worktrees/ann/../ann");
    fs::create_dir(yard.path("trees/worktrees/copy")).expect("made");
    fs::copy(yard.path(&ann).join(".git"), yard.path("trees/worktrees/copy/.git")).expect("copied");
    not_ours("trees/worktrees/copy");
    assert_eq!(yard.whys(&ann), []);
}

#[test]
fn any_doubt_keeps_the_worktree() {
    let yard = Yard::new();
    let ann = yard.ann();
    let places = Places::within(&yard.path("trees"));
    let hasty = Driver::open(&yard.path("main/.git"), &places, Duration::ZERO).expect("a driver");
    let kept = hasty.prove_removable(&yard.path(&ann), NOBODY).expect_err("no time");
    assert!(kept.iter().all(|kept| kept.why == KeepCause::Unknown), "{kept:?}");
    let git_dir = yard.git_dir(&ann);
    let check = |file: &str| {
        let path = yard.path(&git_dir).join(file);
        let good = fs::read(&path).expect("readable");
        fs::write(&path, b"\xff garbage").expect("written");
        assert!(yard.prove(&ann).is_err(), "{file}");
        fs::write(&path, good).expect("written");
        assert!(yard.prove(&ann).is_ok(), "{file}");
    };
    check("index");
    check("HEAD");
    check("comity.json");
    check("gitdir");
    // A branch whose commit is missing.
    try_git(&yard, &ann, &["update-ref", "HEAD", "trunk"]);
    write(&yard, "main", ".git/refs/heads/comity/ann", "1234567890123456789012345678901234567890\n");
    assert!(yard.prove(&ann).is_err());
}
