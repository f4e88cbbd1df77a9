//! When nothing is committed, and what is said about it.

use std::fs;
use std::time::Duration;

use comity_git::Repository;
use comity_git::Unfinished;
use comity_git::commit::{Author, CommitRequest, NotCommitted, commit};

use crate::committing::{ask, below, commit_below, nothing_below, request, shown, skipped, staged};
use crate::sandbox::Sandbox;

/// Two branches that changed the same line.
fn torn() -> Sandbox {
    let sandbox = Sandbox::with(&["src/a.rs", "docs/d.md"]);
    sandbox.git("main", &["checkout", "-q", "-b", "side"]);
    sandbox.write("main/src/a.rs", "side\n");
    sandbox.git("main", &["commit", "-q", "-am", "side"]);
    sandbox.git("main", &["checkout", "-q", "trunk"]);
    sandbox.write("main/src/a.rs", "trunk\n");
    sandbox.git("main", &["commit", "-q", "-am", "trunk"]);
    sandbox
}

#[test]
fn what_is_not_finished_comes_first() {
    let check = |begin: &[&str], expected: NotCommitted| {
        let sandbox = torn();
        sandbox.try_git("main", begin);
        sandbox.write("main/docs/d.md", "ours\n");
        let before = sandbox.git("main", &["rev-parse", "HEAD"]);
        let not = ask(&sandbox, "main", &request(&below(&["docs"]))).expect_err("not finished");
        assert_eq!(not, expected, "{begin:?}");
        assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]), before);
    };
    // A merge is finished by whoever has locked what it is about.
    let what = "is part of what you made of the merge, and you have not locked it".into();
    check(&["merge", "side"], NotCommitted::Unresolved { path: "src/a.rs".into(), what });
    check(&["rebase", "side"], NotCommitted::Unfinished(Unfinished::Rebase));
    check(&["cherry-pick", "side"], NotCommitted::Unfinished(Unfinished::CherryPick));
    check(&["revert", "HEAD~1..HEAD", "--no-commit"], NotCommitted::Unfinished(Unfinished::Revert));
    check(&["bisect", "start"], NotCommitted::Unfinished(Unfinished::Bisect));
}

#[test]
fn what_others_do_in_another_worktree_is_no_obstacle() {
    let sandbox = torn();
    sandbox.git("main", &["worktree", "add", "-q", "-b", "third", "../linked"]);
    sandbox.try_git("main", &["merge", "side"]);
    sandbox.write("linked/docs/d.md", "ours\n");
    let scope = below(&["docs"]);
    assert!(ask(&sandbox, "linked", &request(&scope)).is_ok());
}

#[test]
fn a_merge_that_begins_meanwhile_is_seen() {
    let sandbox = torn();
    sandbox.write("main/docs/d.md", "ours\n");
    let scope = below(&["docs"]);
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |_| {
        sandbox.try_git("main", &["merge", "side"]);
        Ok(())
    });
    assert_eq!(outcome, Err(NotCommitted::Unfinished(Unfinished::Merge)));
    assert_eq!(
        outcome.expect_err("not finished").to_string(),
        "a merge is not finished in this worktree; finish or abort it first"
    );
}

#[test]
fn a_cherry_pick_where_refs_are_in_tables() {
    let sandbox = Sandbox::empty();
    sandbox.git("", &["init", "-q", "-b", "trunk", "--ref-format=reftable", "main"]);
    sandbox.commit_files("main", &["a"]);
    sandbox.git("main", &["checkout", "-q", "-b", "side"]);
    sandbox.write("main/a", "side\n");
    sandbox.git("main", &["commit", "-q", "-am", "side"]);
    sandbox.git("main", &["checkout", "-q", "trunk"]);
    sandbox.write("main/a", "trunk\n");
    sandbox.git("main", &["commit", "-q", "-am", "trunk"]);
    sandbox.try_git("main", &["cherry-pick", "side"]);
    let not = ask(&sandbox, "main", &request(&below(&["a"]))).expect_err("not finished");
    assert_eq!(not, NotCommitted::Unfinished(Unfinished::CherryPick));
}

#[test]
fn conflicts_without_a_merge_are_left_out() {
    let sandbox = Sandbox::with(&["src/a.rs", "src/b.rs"]);
    sandbox.write("main/src/a.rs", "stashed\n");
    sandbox.git("main", &["stash", "-q"]);
    sandbox.write("main/src/a.rs", "committed\n");
    sandbox.git("main", &["commit", "-q", "-am", "second"]);
    sandbox.try_git("main", &["stash", "pop", "-q"]);
    sandbox.write("main/src/b.rs", "ours\n");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), ["M src/b.rs"]);
    assert_eq!(skipped(&committed.report), ["src/a.rs: Unmerged"]);
    assert_eq!(sandbox.git("main", &["ls-files", "--unmerged"]).lines().count(), 3);
    assert_eq!(skipped(&nothing_below(&sandbox, &["src"])), ["src/a.rs: Unmerged"]);
    assert_eq!(staged(&sandbox, "main"), ["src/a.rs"]);
}

#[test]
fn messages_and_authors_that_cannot_be_committed() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.write("main/a", "second\n");
    let scope = below(&["a"]);
    let check = |message: &str, author: (&str, &str), problem: &str| {
        let author = Some(Author { name: author.0, email: author.1 });
        let not = ask(&sandbox, "main", &CommitRequest { message, author, ..request(&scope) });
        assert_eq!(not, Err(NotCommitted::BadRequest { problem: problem.into() }));
    };
    let bob = ("bob", "bob@example.org");
    check("", bob, "the message is empty");
    check(" \n\t", bob, "the message is empty");
    check("a\0b", bob, "the message has a NUL character");
    check(&"x".repeat(65_537), bob, "the message is longer than 65,536 bytes");
    let size = "the author's name and address have to have 1 to 256 bytes each";
    check("x", ("", "bob@example.org"), size);
    check("x", ("bob", " "), size);
    check("x", (&"b".repeat(257), "bob@example.org"), size);
    let characters = "the author's name or address has control characters, `<` or `>`";
    check("x", ("bob\nparent 0", "bob@example.org"), characters);
    check("x", ("bob", "<bob@example.org>"), characters);
    assert_eq!(sandbox.git("main", &["rev-list", "--count", "HEAD"]), "1\n");
}

#[test]
fn what_takes_too_long_is_given_up_before_anything_is_published() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.write("main/a", "second\n");
    let scope = below(&["a"]);
    let hurried = CommitRequest { patience: Duration::ZERO, ..request(&scope) };
    let not = ask(&sandbox, "main", &hurried).expect_err("late").to_string();
    assert!(not.ends_with("it was not done in time"), "{not}");
    // One who waits for another commit is told so.
    let (inner, outer) = (sandbox.repository("main"), sandbox.repository("main"));
    let outcome = commit(&outer, &request(&scope), &mut |_| {
        let hurried = CommitRequest { patience: Duration::from_millis(10), ..request(&scope) };
        let second = commit(&inner, &hurried, &mut |_| Ok(()));
        assert_eq!(second, Err(NotCommitted::Busy));
        Ok(())
    });
    assert!(outcome.is_ok());
}

#[test]
fn another_process_that_commits_is_waited_for() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.write("main/a", "second\n");
    sandbox.make_dir("main/.git/comity");
    let file = fs::File::create(sandbox.path("main/.git/comity/commit.lock")).expect("a file");
    // A lock belongs to who opened the file, so this is as good as another process.
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).expect("a lock");
    let scope = below(&["a"]);
    let hurried = CommitRequest { patience: Duration::from_millis(20), ..request(&scope) };
    assert_eq!(ask(&sandbox, "main", &hurried), Err(NotCommitted::Busy));
    drop(file);
    commit_below(&sandbox, &["a"]);
}

#[test]
fn a_worktree_that_is_gone() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    let repository =
        Repository::containing(&sandbox.path("linked")).expect("a directory").expect("a worktree");
    sandbox.git("main", &["worktree", "remove", "../linked"]);
    let scope = below(&["a"]);
    let not = commit(&repository, &request(&scope), &mut |_| Ok(())).expect_err("gone").to_string();
    assert!(not.ends_with("linked is no longer a worktree"), "{not}");
}

#[test]
fn a_directory_of_ours_that_leads_elsewhere_is_not_followed() {
    let sandbox = Sandbox::with(&["a"]);
    sandbox.write("main/a", "second\n");
    sandbox.write("precious/passing-x", "not ours\n");
    sandbox.link(sandbox.path("precious"), "main/.git/comity");
    let scope = below(&["a"]);
    let not = ask(&sandbox, "main", &request(&scope)).expect_err("led astray").to_string();
    assert!(not.ends_with("main/.git/comity is not a directory"), "{not}");
    assert_eq!(fs::read(sandbox.path("precious/passing-x")).expect("still there"), b"not ours\n");
}
