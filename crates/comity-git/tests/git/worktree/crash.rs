//! A crash after any step of making or removing a worktree: nothing is lost, and what is left is found.

use std::panic::{AssertUnwindSafe, catch_unwind};

use comity_git::worktree::{Leftover, NewWorktree, Setup, Slug, WorktreeStep};

use super::states::{commit, write};
use super::yard::{Yard, inner};

const ANN: &str = "trees/worktrees/ann";

/// Lets the driver die after a step.
fn dying(yard: Yard, at: WorktreeStep) -> Yard {
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
fn check_clears(yard: &Yard, step: WorktreeStep) {
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
    use WorktreeStep::{Added, BranchMade, CheckedOut, Made, Recorded, Reserved, SetUp};
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
    use WorktreeStep::{Added, BranchMade, CheckedOut, Made, Recorded, Reserved, SetUp};
    for step in [Reserved, BranchMade, Added, Recorded, CheckedOut, SetUp, Made] {
        let yard = dying(project(), step);
        dies(|| drop(yard.make_with("ann", &setup())));
        let yard = yard.reopen();
        let left = yard.driver.leftovers().expect("looked");
        let expected = Leftover::HalfMade { path: yard.path(ANN), slug: Some("ann".into()) };
        assert_eq!(left, [expected], "{step:?}");
        assert!(left[0].next_step().contains("worktree_add"), "{step:?}");
        yard.make_with("ann", &setup());
        assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
        assert_eq!(yard.whys(ANN), [], "{step:?}");
    }
}

#[test]
fn while_a_worktree_is_claimed() {
    for step in [WorktreeStep::Claimed, WorktreeStep::SetUp] {
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

/// After a crash and a recovery git has what we have: the main checkout and so many that are ready.
fn check_recovers(yard: Yard, step: WorktreeStep) {
    let yard = yard.reopen();
    yard.driver.recover().expect("recovered");
    let ready = yard.driver.ready().expect("a number");
    assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
    let list = yard.sandbox.git("main", &["worktree", "list"]);
    assert_eq!(list.lines().count(), 1 + ready, "{step:?}: {list}");
    assert_eq!(yard.sandbox.git("main", &["worktree", "prune", "--dry-run", "-v"]), "", "{step:?}");
    let in_trash = std::fs::read_dir(yard.path("trees/trash")).expect("the trash").count();
    // Beside what is there: the lock.
    assert_eq!(in_trash, 1 + yard.driver.trashed().expect("a list").len(), "{step:?}");
    assert_eq!(yard.driver.fill("trunk", 2).expect("filled").ready, 2, "{step:?}");
}

#[test]
fn what_was_left_of_one_in_the_pool_goes_with_the_next_start() {
    use WorktreeStep::{Added, CheckedOut, FilesMoved, Held, Recorded, RemovalRecorded};
    // Made from nothing.
    for step in [Added, CheckedOut] {
        let yard = dying(project(), step);
        dies(|| drop(yard.driver.fill("trunk", 1)));
        check_recovers(yard, step);
    }
    // Brought to another commit.
    for step in [Held, CheckedOut, Recorded] {
        let yard = project();
        yard.driver.fill("trunk", 1).expect("filled");
        yard.sandbox.git("main", &["commit", "-q", "--allow-empty", "-m", "third"]);
        let yard = dying(yard, step);
        dies(|| drop(yard.driver.fill("trunk", 1)));
        check_recovers(yard, step);
    }
    // On its way to the trash.
    for step in [Held, RemovalRecorded, FilesMoved] {
        let yard = project();
        yard.driver.fill("trunk", 1).expect("filled");
        let pool = std::fs::read_dir(yard.path("trees/pool")).expect("the pool");
        let pooled = pool.map(|entry| entry.expect("an entry").path()).find(|path| path.is_dir());
        std::fs::write(pooled.expect("one").join("work.txt"), "work\n").expect("touched");
        let (slug, setup) = (Slug::parse("ann").expect("a slug"), setup());
        let new = NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
        let yard = dying(yard, step);
        dies(|| drop(yard.driver.claim(&new)));
        check_recovers(yard, step);
    }
}

#[test]
fn a_branch_without_a_worktree_goes_with_the_next_start() {
    let yard = dying(project(), WorktreeStep::BranchMade);
    dies(|| drop(yard.make_with("ann", &setup())));
    let path = yard.path(ANN);
    let yard = yard.reopen();
    // A second crash, while the next one takes it back: its directory is gone, its branch is not.
    std::fs::remove_dir(path).expect("an empty directory");
    yard.driver.recover().expect("recovered");
    assert!(!yard.exists("refs/heads/comity/ann"));
    assert!(!yard.path("trees/worktrees/.ann.making").exists());
}

#[test]
fn while_a_worktree_is_removed() {
    use WorktreeStep::{
        BranchRemoved, CommitSaved, EntryMoved, FilesMoved, LinksRemoved, Locked, RemovalRecorded,
    };
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

#[test]
fn while_a_worktree_comes_back() {
    use WorktreeStep::{BroughtBack, EntryBack, FilesBack, RefsBack};
    for step in [EntryBack, FilesBack, RefsBack, BroughtBack] {
        let yard = project();
        yard.make_with("ann", &setup());
        commit(&yard, ANN, "work");
        yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
        let git_dir = yard.git_dir(ANN);
        let state = |yard: &Yard| {
            (yard.snapshot(ANN), yard.snapshot(&git_dir), yard.sandbox.git("main", &["for-each-ref"]))
        };
        let before = state(&yard);
        let trashed = yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
        let yard = dying(yard, step);
        dies(|| drop(yard.driver.restore(&trashed.id)));
        let yard = yard.reopen();
        yard.sandbox.git("main", &["worktree", "prune", "--expire=now"]);
        yard.driver.recover().expect("recovered");
        let found = yard.driver.trashed().expect("a list");
        assert_eq!(found.len(), 1, "{step:?}: it can be asked for again");
        assert_eq!(found[0].is_back, step == BroughtBack, "{step:?}");
        let restored = yard.driver.restore(&trashed.id).expect("restored");
        let branch = restored.branch.map(|branch| branch.as_str().to_owned());
        assert_eq!(branch.as_deref(), Some("comity/ann"), "{step:?}");
        assert_eq!(state(&yard), before, "{step:?}");
        assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
        assert_eq!(yard.driver.trashed(), Ok(vec![]), "{step:?}");
    }
}

#[test]
fn while_a_worktree_that_came_back_is_forgotten() {
    for step in [WorktreeStep::Hidden, WorktreeStep::Unwritten] {
        let yard = project();
        yard.make_with("ann", &setup());
        let trashed = yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
        let yard = dying(yard, step);
        dies(|| drop(yard.driver.restore(&trashed.id)));
        let yard = yard.reopen();
        assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
        yard.driver.recover().expect("recovered");
        assert_eq!(
            std::fs::read_dir(&yard.driver.places().trash)
                .expect("a directory")
                .filter(|entry| { entry.as_ref().is_ok_and(|entry| entry.file_name() != ".lock") })
                .count(),
            0,
            "{step:?}"
        );
    }
}

#[test]
fn work_that_was_done_after_a_worktree_came_back_stays() {
    let yard = project();
    yard.make_with("ann", &setup());
    let trashed = yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
    let yard = dying(yard, WorktreeStep::BroughtBack);
    dies(|| drop(yard.driver.restore(&trashed.id)));
    let yard = yard.reopen();
    commit(&yard, ANN, "later");
    let before = (yard.snapshot(ANN), yard.sandbox.git(ANN, &["symbolic-ref", "HEAD"]));
    yard.driver.restore(&trashed.id).expect("restored");
    assert_eq!((yard.snapshot(ANN), yard.sandbox.git(ANN, &["symbolic-ref", "HEAD"])), before);
    assert_eq!(yard.driver.trashed(), Ok(vec![]));
}

#[test]
fn a_removal_that_was_interrupted_can_be_asked_for_again() {
    use WorktreeStep::{
        BranchRemoved, CommitSaved, EntryMoved, FilesMoved, LinksRemoved, Locked, RemovalRecorded,
    };
    for step in [RemovalRecorded, CommitSaved, Locked, FilesMoved, EntryMoved, LinksRemoved, BranchRemoved] {
        let yard = project();
        yard.make_with("ann", &setup());
        yard.make_with("ann-2", &setup());
        let yard = dying(yard, step);
        dies(|| drop(yard.driver.remove(yard.prove(ANN).expect("clean"))));
        let yard = yard.reopen();
        yard.driver.take_back_interrupted(&yard.path(ANN)).expect("taken back");
        if !matches!(step, EntryMoved | LinksRemoved | BranchRemoved) {
            yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
        }
        let trashed = yard.driver.trashed_from(&yard.path(ANN)).expect("looked").expect("in the trash");
        assert_eq!(yard.driver.trashed().expect("a list"), [trashed], "{step:?}: nothing is there twice");
        assert_eq!(yard.driver.leftovers(), Ok(vec![]), "{step:?}");
        let saved = yard.sandbox.git("main", &["for-each-ref", "--format=%(refname)", "refs/comity"]);
        assert_eq!(saved.lines().count(), 1, "{step:?}: {saved}");
    }
}

#[test]
fn a_lock_that_a_crash_left_without_its_reason_is_taken_back() {
    let yard = project();
    yard.make_with("ann", &setup());
    let yard = dying(yard, WorktreeStep::CommitSaved);
    dies(|| drop(yard.driver.remove(yard.prove(ANN).expect("clean"))));
    let yard = yard.reopen();
    // Made, but not written yet.
    std::fs::write(yard.path(&yard.git_dir(ANN)).join("locked"), "").expect("written");
    yard.driver.take_back_interrupted(&yard.path(ANN)).expect("taken back");
    yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
}

#[test]
fn work_that_was_done_after_an_interrupted_removal_stays() {
    let yard = project();
    yard.make_with("ann", &setup());
    let yard = dying(yard, WorktreeStep::Locked);
    dies(|| drop(yard.driver.remove(yard.prove(ANN).expect("clean"))));
    let yard = yard.reopen();
    commit(&yard, ANN, "later");
    let before = (yard.snapshot(ANN), yard.sandbox.git(ANN, &["symbolic-ref", "HEAD"]));
    yard.driver.take_back_interrupted(&yard.path(ANN)).expect("taken back");
    assert_eq!((yard.snapshot(ANN), yard.sandbox.git(ANN, &["symbolic-ref", "HEAD"])), before);
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}
