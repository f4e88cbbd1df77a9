//! Worktrees that are ready beforehand.

use std::fs;

use comity_git::worktree::{Filled, MadeWorktree, NewWorktree, Setup, Slug};

use super::states::write;
use super::yard::{Yard, inner};

fn claim(yard: &Yard, slug: &str, base: &str) -> Option<MadeWorktree> {
    claim_with(yard, slug, base, &Setup::default())
}

fn claim_with(yard: &Yard, slug: &str, base: &str, setup: &Setup) -> Option<MadeWorktree> {
    let slug = Slug::parse(slug).expect("a slug");
    yard.driver
        .claim(&NewWorktree { slug: &slug, branch: None, base, setup, reserved: None })
        .expect("claimed")
}

fn fill(yard: &Yard, ready: usize) -> Filled {
    yard.driver.fill("trunk", ready).expect("filled")
}

#[test]
fn a_claimed_worktree_is_like_any_other() {
    let yard = Yard::new();
    assert_eq!(claim(&yard, "ann", "trunk"), None, "the pool is empty");
    assert_eq!(fill(&yard, 1), Filled { ready: 1, made: 1, ..Filled::default() });
    assert_eq!(fill(&yard, 1), Filled { ready: 1, ..Filled::default() });
    let fresh = yard.make("bob");
    let claimed = claim(&yard, "ann", "trunk").expect("ready");
    let ann = "trees/worktrees/ann";
    assert_eq!(claimed.path, yard.path(ann));
    assert_eq!(claimed.branch.as_ref().map(|branch| branch.as_str()), Some("comity/ann"));
    assert_eq!(claimed.base, fresh.base);
    assert_eq!(yard.sandbox.git(ann, &["symbolic-ref", "HEAD"]), "refs/heads/comity/ann\n");
    assert_eq!(yard.sandbox.git(ann, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(fs::read_to_string(claimed.path.join("src/a.rs")).expect("a file"), "second\n");
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
    assert_eq!(yard.driver.list().expect("a list").len(), 2);
    assert!(yard.sandbox.git("main", &["reflog", "show", "comity/ann"]).contains("branch: Created from"));
    yard.sandbox.git(ann, &["commit", "-q", "--allow-empty", "-m", "work"]);
    yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
    yard.driver.remove(yard.prove(ann).expect("clean")).expect("removed");
    assert_eq!(claim(&yard, "eve", "trunk"), None, "it was the only one");
}

#[test]
fn a_claim_leaves_what_a_move_by_git_leaves() {
    let yard = Yard::new();
    fill(&yard, 1);
    claim(&yard, "ann", "trunk").expect("ready");
    // Git moves one away and back again; if anything of ours were different, it would be so no more.
    let git_dir = yard.git_dir("trees/worktrees/ann");
    let before = yard.snapshot(&git_dir);
    let marker = fs::read(yard.path("trees/worktrees/ann/.git")).expect("a file");
    yard.sandbox.git("main", &["worktree", "move", "../trees/worktrees/ann", "../moved"]);
    yard.sandbox.git("main", &["worktree", "move", "../moved", "../trees/worktrees/ann"]);
    assert_eq!(yard.snapshot(&git_dir), before);
    assert_eq!(fs::read(yard.path("trees/worktrees/ann/.git")).expect("a file"), marker);
    assert_eq!(yard.sandbox.git("main", &["worktree", "repair"]), "");
    assert_eq!(yard.sandbox.git("main", &["worktree", "prune", "--dry-run", "-v"]), "");
    yard.sandbox.git("main", &["fsck", "--strict"]);
}

#[test]
fn a_base_that_has_moved_is_caught_up_with() {
    let yard = Yard::new();
    fill(&yard, 2);
    write(&yard, "main", "src/new.rs", "third\n");
    yard.sandbox.git("main", &["rm", "-q", "docs/c.md"]);
    yard.sandbox.git("main", &["add", "--all"]);
    yard.sandbox.git("main", &["commit", "-q", "-m", "third"]);
    let claimed = claim(&yard, "ann", "trunk").expect("ready");
    assert_eq!(fs::read_to_string(claimed.path.join("src/new.rs")).expect("a file"), "third\n");
    assert!(!claimed.path.join("docs/c.md").exists());
    assert_eq!(yard.sandbox.git("trees/worktrees/ann", &["status", "--porcelain"]), "");
    assert_eq!(fill(&yard, 2), Filled { ready: 2, made: 1, updated: 1, discarded: vec![] });
    let claimed = claim(&yard, "bob", "trunk").expect("ready");
    assert!(claimed.path.join("src/new.rs").exists());
    let older = claim(&yard, "eve", "trunk~2").expect("ready");
    assert_eq!(fs::read_to_string(older.path.join("src/a.rs")).expect("a file"), "first\n");
    assert_eq!(yard.whys("trees/worktrees/eve"), []);
}

/// Changes something in a worktree of the pool; it must not be handed out, and nothing of it be lost: whether it was
/// watched since it was made, or made before a restart, or watched again since then.
fn check_discarded(change: impl Fn(&Yard, &str)) {
    let is_ready = |yard: &Yard| fill(yard, 1).ready == 1;
    let watched_again = |yard: &Yard| yard.driver.recover() == Ok(());
    for restarts in [None, Some(false), Some(true)] {
        let mut yard = Yard::new();
        assert!(is_ready(&yard));
        if let Some(watches) = restarts {
            yard = yard.reopen();
            assert!(!watches || watched_again(&yard));
        }
        check_one_discarded(&yard, &change);
    }
}

fn check_one_discarded(yard: &Yard, change: &impl Fn(&Yard, &str)) {
    let name = fs::read_dir(yard.path("trees/pool")).expect("there").find_map(|entry| {
        entry.expect("an entry").file_name().into_string().ok().filter(|name| name.starts_with("pool-"))
    });
    let dir = format!("trees/pool/{}", name.expect("one"));
    change(yard, &dir);
    let before = yard.snapshot(&dir);
    assert_eq!(claim(yard, "ann", "trunk"), None);
    assert!(!yard.exists("refs/heads/comity/ann"));
    let trashed = yard.driver.trashed().expect("a list");
    assert_eq!(trashed.len(), 1);
    assert!(trashed[0].set_aside.is_some(), "it is never deleted");
    assert_eq!(yard.snapshot(&format!("trees/trash/{}/files", trashed[0].id)), before);
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}

#[test]
fn one_that_was_touched_is_not_handed_out() {
    check_discarded(|yard, dir| write(yard, dir, "src/a.rs", "secon!\n"));
    check_discarded(|yard, dir| write(yard, dir, "src/a.rs", "second\n"));
    check_discarded(|yard, dir| write(yard, dir, "src/new.rs", "work\n"));
    check_discarded(|yard, dir| write(yard, dir, ".env", "A=1\n"));
    check_discarded(|yard, dir| fs::remove_file(yard.path(dir).join("docs/c.md")).expect("removed"));
    check_discarded(|yard, dir| {
        drop(yard.sandbox.git(dir, &["commit", "-q", "--allow-empty", "-m", "work"]))
    });
    check_discarded(|yard, dir| {
        drop(yard.sandbox.git(dir, &["update-index", "--assume-unchanged", "src/a.rs"]))
    });
}

#[test]
fn one_that_was_touched_is_not_brought_to_another_base_either() {
    let yard = Yard::new();
    fill(&yard, 2);
    yard.sandbox.git("main", &["commit", "-q", "--allow-empty", "-m", "third"]);
    let touched = fs::read_dir(yard.path("trees/pool")).expect("there").find_map(|entry| {
        let path = entry.expect("an entry").path();
        path.is_dir().then_some(path)
    });
    fs::write(touched.expect("one").join("docs/new.md"), "work\n").expect("written");
    let claimed = claim(&yard, "ann", "trunk").expect("the other one");
    assert!(!claimed.path.join("docs/new.md").exists());
    assert_eq!(yard.sandbox.git("trees/worktrees/ann", &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(claim(&yard, "bob", "trunk"), None, "the touched one is in the trash, or stays where it is");
    let trashed = yard.driver.trashed().expect("a list");
    assert!(trashed.iter().all(|trashed| trashed.set_aside.is_some()), "{trashed:?}");
}

#[test]
fn what_was_made_ready_before_a_restart_is_handed_out() {
    let yard = Yard::new();
    fill(&yard, 2);
    let yard = yard.reopen();
    assert_eq!(yard.driver.ready(), Ok(2));
    assert!(claim(&yard, "ann", "trunk").is_some(), "after a look");
    assert_eq!(yard.driver.recover(), Ok(()));
    assert!(claim(&yard, "bob", "trunk").is_some(), "after a watch");
    assert_eq!(yard.driver.ready(), Ok(0));
}

#[test]
fn a_touched_one_is_replaced_when_the_pool_is_filled() {
    let yard = Yard::new();
    fill(&yard, 1);
    let pool = yard.path("trees/pool");
    let dirs =
        || fs::read_dir(&pool).expect("there").map(|it| it.expect("one").path()).filter(|it| it.is_dir());
    fs::write(dirs().next().expect("one").join("src/a.rs"), "work\n").expect("written");
    yard.sandbox.git("main", &["commit", "-q", "--allow-empty", "-m", "third"]);
    let filled = fill(&yard, 1);
    assert_eq!((filled.ready, filled.made, filled.discarded.len()), (1, 1, 1));
    assert!(claim(&yard, "ann", "trunk").is_some());
}

#[test]
fn many_claims_at_once_get_one_each() {
    let yard = Yard::new();
    fill(&yard, 3);
    let got: Vec<bool> = std::thread::scope(|scope| {
        let yard = &yard;
        let threads =
            (0..6).map(|number| scope.spawn(move || claim(yard, &format!("ann{number}"), "trunk").is_some()));
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(got.iter().filter(|got| **got).count(), 3);
    assert_eq!(yard.driver.list().expect("a list").len(), 3);
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
    assert_eq!(yard.driver.trashed(), Ok(vec![]));
    for listed in yard.driver.list().expect("a list") {
        let proof = yard.driver.prove_removable(&listed.path, super::yard::NOBODY);
        assert!(proof.is_ok(), "{proof:?}");
    }
}

#[test]
fn what_else_a_worktree_gets_comes_with_the_claim() {
    let yard = Yard::new();
    write(&yard, "main", ".worktreeinclude", ".env\n");
    fill(&yard, 1);
    write(&yard, "main", ".env", "newer than the pool\n");
    write(&yard, "main", "node_modules/x.js", "x\n");
    let setup = Setup { settings: vec![], links: vec![inner("node_modules")] };
    let claimed = claim_with(&yard, "ann", "trunk", &setup).expect("ready");
    assert_eq!(fs::read_to_string(claimed.path.join(".env")).expect("copied"), "newer than the pool\n");
    assert!(claimed.path.join("node_modules/x.js").exists());
    assert_eq!(yard.whys("trees/worktrees/ann"), []);
}

#[test]
fn a_claim_that_fails_leaves_nothing() {
    let yard = Yard::new();
    fill(&yard, 1);
    let (slug, setup) = (Slug::parse("ann").expect("a slug"), Setup::default());
    // The base exists, but an object of it is missing.
    let blob = yard.sandbox.git("main", &["rev-parse", "trunk~1:src/a.rs"]);
    let object = format!("main/.git/objects/{}/{}", &blob[..2], blob[2..].trim_end());
    fs::remove_file(yard.path(&object)).expect("removed");
    let new = NewWorktree { slug: &slug, branch: None, base: "trunk~1", setup: &setup, reserved: None };
    assert!(yard.driver.claim(&new).is_err());
    assert!(!yard.path("trees/worktrees/ann").exists());
    assert!(!yard.exists("refs/heads/comity/ann"));
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}

#[test]
fn without_a_ready_one_a_new_one_is_made() {
    let yard = Yard::new();
    let (slug, setup) = (Slug::parse("ann").expect("a slug"), Setup::default());
    let new = NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
    assert!(yard.driver.claim_or_create(&new).expect("made").path.exists());
}
