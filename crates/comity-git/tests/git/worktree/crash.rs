//! A crash after any step of making or removing a worktree: nothing is lost, and what is left is found.

use std::panic::{AssertUnwindSafe, catch_unwind};

use comity_git::worktree::{Leftover, NewWorktree, Setup, Slug, Step};

use super::states::{commit, write};
use super::yard::{Yard, inner};

const ANN: &str = "trees/worktrees/ann";

/// Lets the driver die after a step.
fn dying(yard: Yard, at: Step) -> Yard {
    yard.watched(move |step| assert_ne!(step, at, "the process has died"))
}

fn setup() -> Setup {
    Setup { settings: vec![], links: vec![inner("node_modules")] }
}

/// A project whose main worktree has something to copy and to link.
fn project() -> Yard {
    let yard = Yard::new();
    write(&yard, "main", "node_modules/x.js", "x\n");
    write(&yard, "main", ".worktreeinclude", ".env\n");
    write(&yard, "main", ".env", "A=1\n");
    yard
}

fn dies(act: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err(), "the step was never done");
}

/// What was left is found; once it is out of the way, everything works again.
fn check_clears(yard: &Yard, step: Step) {
    let main = yard.sandbox.git("main", &["status", "--porcelain"]);
    let left = yard.driver.leftovers().expect("looked");
    assert!(!left.is_empty(), "{step:?}");
    for leftover in &left {
        assert!(!leftover.to_string().is_empty());
        assert!(
            yard.driver.list().expect("a list").iter().all(|listed| listed.path != yard.path(ANN)),
            "{step:?}"
        );
        yard.driver.set_aside(leftover).expect("set aside");
    }
    assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
    assert_eq!(yard.sandbox.git("main", &["worktree", "list"]).lines().count(), 1, "{step:?}");
    assert_eq!(yard.sandbox.git("main", &["worktree", "prune", "--dry-run", "-v"]), "", "{step:?}");
    assert_eq!(yard.sandbox.git("main", &["status", "--porcelain"]), main, "{step:?}");
    assert!(
        yard.driver.trashed().expect("a list").iter().all(|trashed| trashed.set_aside.is_some()),
        "{step:?}"
    );
}

#[test]
fn while_a_worktree_is_made() {
    use Step::{Added, BranchMade, CheckedOut, Made, Recorded, Reserved, SetUp};
    for step in [Reserved, BranchMade, Added, Recorded, CheckedOut, SetUp, Made] {
        let yard = dying(project(), step);
        dies(|| drop(yard.make_with("ann", &setup())));
        let yard = yard.reopen();
        check_clears(&yard, step);
        yard.make_with("ann", &setup());
        assert_eq!(yard.driver.list().expect("a list").len(), 1, "{step:?}");
    }
}

#[test]
fn a_name_whose_worktree_was_never_finished_can_be_used_at_once() {
    use Step::{Added, BranchMade, CheckedOut, Made, Recorded, Reserved, SetUp};
    for step in [Reserved, BranchMade, Added, Recorded, CheckedOut, SetUp, Made] {
        let yard = dying(project(), step);
        dies(|| drop(yard.make_with("ann", &setup())));
        let yard = yard.reopen();
        let left = yard.driver.leftovers().expect("looked");
        let expected = Leftover::HalfMade { path: yard.path(ANN), slug: Some("ann".into()) };
        assert_eq!(left, [expected], "{step:?}");
        assert!(left[0].next_step().contains("comity worktree add ann"), "{step:?}");
        yard.make_with("ann", &setup());
        assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
        assert_eq!(yard.whys(ANN), [], "{step:?}");
    }
}

#[test]
fn while_a_worktree_is_claimed() {
    for step in [Step::Claimed, Step::SetUp] {
        let yard = project();
        yard.driver.fill("trunk", 1).expect("filled");
        let yard = dying(yard, step);
        let (slug, setup) = (Slug::parse("ann").expect("a slug"), setup());
        let new = NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
        dies(|| drop(yard.driver.claim(&new)));
        let yard = yard.reopen();
        // Even git's own cleaning leaves it alone.
        yard.sandbox.git("main", &["worktree", "prune", "--expire=now"]);
        let left = yard.driver.leftovers().expect("looked");
        let expected = Leftover::HalfMade { path: yard.path(ANN), slug: Some("ann".into()) };
        assert_eq!(left, [expected], "{step:?}");
        check_clears(&yard, step);
        yard.driver.claim_or_create(&new).expect("made");
    }
}

#[test]
fn while_one_is_made_ready() {
    let yard = project();
    yard.sandbox.git("main", &["worktree", "add", "-q", "--detach", "../trees/pool/pool-1", "trunk"]);
    let path = yard.path("trees/pool/pool-1");
    assert_eq!(yard.driver.leftovers(), Ok(vec![Leftover::HalfMade { path, slug: None }]));
    let filled = yard.driver.fill("trunk", 1).expect("filled");
    assert_eq!((filled.ready, yard.driver.leftovers()), (1, Ok(vec![])));
    assert_eq!(yard.driver.trashed().expect("a list").len(), 1, "it is in the trash");
}

#[test]
fn while_a_worktree_is_removed() {
    use Step::{BranchRemoved, CommitSaved, EntryMoved, FilesMoved, LinksRemoved, Locked, RemovalRecorded};
    for step in [RemovalRecorded, CommitSaved, Locked, FilesMoved, EntryMoved, LinksRemoved, BranchRemoved] {
        let yard = project();
        yard.make_with("ann", &setup());
        commit(&yard, ANN, "work");
        yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
        let git_dir = yard.git_dir(ANN);
        let before =
            (yard.snapshot(ANN), yard.snapshot(&git_dir), yard.sandbox.git("main", &["for-each-ref"]));
        let yard = dying(yard, step);
        dies(|| drop(yard.driver.remove(yard.prove(ANN).expect("clean"))));
        let yard = yard.reopen();
        yard.sandbox.git("main", &["worktree", "prune", "--expire=now"]);
        let trashed = yard.driver.trashed().expect("a list");
        assert_eq!(trashed.len(), 1, "{step:?}");
        let is_whole = matches!(step, EntryMoved | LinksRemoved | BranchRemoved);
        let found = yard.driver.leftovers().expect("looked");
        let expected = Leftover::HalfRemoved { id: trashed[0].id.clone(), path: yard.path(ANN) };
        assert_eq!(found, if is_whole { vec![] } else { vec![expected] }, "{step:?}");
        yard.driver.restore(&trashed[0].id).expect("restored");
        let after =
            (yard.snapshot(ANN), yard.snapshot(&git_dir), yard.sandbox.git("main", &["for-each-ref"]));
        assert_eq!(after, before, "{step:?}");
        assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
        yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
    }
}
