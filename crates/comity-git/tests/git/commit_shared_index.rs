//! What a commit means for the index that all users of a worktree share, and for their own commits.

use std::fs;
use std::time::{Duration, SystemTime};

use comity_git::commit::{CommitOutcome, CommitRequest, NotCommitted, SharedIndex, commit};

use crate::committing::{ask, below, commit_below, lines, paths_of, request, shown, staged};
use crate::sandbox::Sandbox;

fn tree() -> Sandbox {
    Sandbox::with(&["src/a.rs", "src/b.rs", "src/c.rs", "docs/d.md", "docs/e.md"])
}

fn status(sandbox: &Sandbox) -> Vec<String> {
    lines(sandbox, "main", &["status", "--porcelain", "-z"])
}

/// A plain commit of somebody else, which has to contain exactly these paths.
fn person_commits(sandbox: &Sandbox, paths: &[&str]) {
    sandbox.git("main", &["commit", "-q", "-m", "of a person"]);
    assert_eq!(paths_of(sandbox, "main", "HEAD"), paths);
}

#[test]
fn a_plain_commit_afterwards_takes_nothing_back() {
    let sandbox = tree();
    sandbox.write("main/docs/d.md", "staged by a person\n");
    sandbox.git("main", &["add", "docs/d.md"]);
    sandbox.write("main/src/a.rs", "ours\n");
    sandbox.write("main/src/n.rs", "ours\n");
    fs::remove_file(sandbox.path("main/src/b.rs")).expect("removed");
    commit_below(&sandbox, &["src"]);
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
    person_commits(&sandbox, &["docs/d.md"]);
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "ours\n");
    assert_eq!(lines(&sandbox, "main", &["ls-files", "-z", "src"]), ["src/a.rs", "src/c.rs", "src/n.rs"]);
    assert_eq!(status(&sandbox), [""; 0]);
}

#[test]
fn the_same_without_anything_staged() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    sandbox.write("main/docs/d.md", "changed by a person\n");
    commit_below(&sandbox, &["src"]);
    assert_eq!(status(&sandbox), [" M docs/d.md"]);
    sandbox.git("main", &["commit", "-q", "-a", "-m", "of a person"]);
    assert_eq!(paths_of(&sandbox, "main", "HEAD"), ["docs/d.md"]);
}

#[test]
fn what_is_staged_while_the_commit_is_built_stays_staged() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    let scope = below(&["src"]);
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |next| {
        assert_eq!(shown(next.changes), ["M src/a.rs"]);
        sandbox.write("main/docs/d.md", "staged by a person\n");
        sandbox.git("main", &["add", "docs/d.md"]);
        Ok(())
    });
    assert!(matches!(outcome, Ok(CommitOutcome::Committed(_))), "{outcome:?}");
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
    person_commits(&sandbox, &["docs/d.md"]);
    assert_eq!(status(&sandbox), [""; 0]);
}

#[test]
fn what_is_changed_while_the_commit_is_built_is_not_in_it() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    let scope = below(&["src"]);
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |_| {
        sandbox.write("main/src/a.rs", "ours, and a little later\n");
        Ok(())
    });
    assert!(matches!(outcome, Ok(CommitOutcome::Committed(_))), "{outcome:?}");
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "ours\n");
    assert_eq!(status(&sandbox), [" M src/a.rs"]);
}

#[test]
fn a_commit_in_between_is_built_upon() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    sandbox.write("main/src/b.rs", "ours\n");
    let scope = below(&["src"]);
    let mut asked = Vec::new();
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |next| {
        asked.push(shown(next.changes));
        if asked.len() <= 2 {
            sandbox.write("main/docs/d.md", &format!("by a person, {}\n", asked.len()));
            sandbox.git("main", &["commit", "-q", "-m", "of a person", "--", "docs/d.md"]);
        }
        if asked.len() == 1 {
            // The person commits one of our files, too.
            sandbox.git("main", &["commit", "-q", "-m", "of a person", "--", "src/b.rs"]);
        }
        Ok(())
    });
    let Ok(CommitOutcome::Committed(committed)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(asked, [vec!["M src/a.rs", "M src/b.rs"], vec!["M src/a.rs"], vec!["M src/a.rs"]]);
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
    assert_eq!(committed.overtaken.first, [std::path::PathBuf::from("src/b.rs")]);
    assert_eq!(sandbox.git("main", &["log", "--format=%s"]).lines().count(), 5);
    assert_eq!(sandbox.git("main", &["show", "HEAD:docs/d.md"]), "by a person, 2\n");
    assert_eq!(status(&sandbox), [""; 0]);
    sandbox.git("main", &["fsck", "--strict"]);
}

#[test]
fn a_branch_that_moves_without_the_working_tree() {
    // Somebody pushes to the branch, or commits to it elsewhere: the files here are older than the branch.
    let sandbox = tree();
    sandbox.git("main", &["worktree", "add", "-q", "--detach", "../elsewhere"]);
    sandbox.write("elsewhere/docs/d.md", "pushed\n");
    sandbox.write("elsewhere/src/b.rs", "pushed\n");
    sandbox.git("elsewhere", &["commit", "-q", "-a", "-m", "pushed"]);
    let pushed = sandbox.git("elsewhere", &["rev-parse", "HEAD"]);
    sandbox.write("main/src/a.rs", "ours\n");
    let scope = below(&["src/a.rs"]);
    let mut asked = 0;
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |_| {
        asked += 1;
        if asked == 1 {
            sandbox.git("main", &["update-ref", "refs/heads/trunk", pushed.trim()]);
        }
        Ok(())
    });
    let Ok(CommitOutcome::Committed(committed)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        (shown(&committed.changes), committed.parent),
        (vec!["M src/a.rs".into()], Some(pushed.trim().into()))
    );
    assert_eq!(sandbox.git("main", &["show", "HEAD:docs/d.md", "HEAD:src/b.rs"]), "pushed\npushed\n");
}

#[test]
fn somebody_who_is_always_quicker_has_to_wait_at_last() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    let scope = below(&["src"]);
    let (mut asked, mut beaten) = (0, 0);
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |_| {
        asked += 1;
        sandbox.write("main/docs/d.md", &format!("by a person, {asked}\n"));
        let plain = sandbox.try_git("main", &["commit", "-q", "-m", "of a person", "--", "docs/d.md"]);
        beaten += usize::from(!plain.status.success());
        Ok(())
    });
    assert!(matches!(outcome, Ok(CommitOutcome::Committed(_))), "{outcome:?}");
    assert_eq!((asked, beaten), (3, 1));
}

#[test]
fn a_refusal_leaves_everything_as_it_was() {
    let sandbox = tree();
    sandbox.write("main/docs/d.md", "staged by a person\n");
    sandbox.git("main", &["add", "docs/d.md"]);
    sandbox.write("main/src/a.rs", "ours\n");
    let read = || {
        let file = |path: &str| fs::read(sandbox.path(path)).expect(path);
        (
            file("main/.git/index"),
            file("main/.git/HEAD"),
            file("main/.git/refs/heads/trunk"),
            file("main/src/a.rs"),
        )
    };
    let before = read();
    let scope = below(&["src"]);
    let no = comity_core::Refusal::bad_input("the lock is gone", "lock it again");
    let outcome = commit(&sandbox.repository("main"), &request(&scope), &mut |_| Err(no.clone()));
    assert_eq!(outcome, Err(NotCommitted::Refused(no)));
    assert!(read() == before);
    let left: Vec<_> =
        fs::read_dir(sandbox.path("main/.git/comity")).expect("a directory").flatten().collect();
    let left: Vec<_> = left.iter().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["commit.lock"]);
    assert_eq!(shown(&commit_below(&sandbox, &["src"]).changes), ["M src/a.rs"]);
}

#[test]
fn a_lock_of_another_git_is_waited_for() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    let lock = sandbox.path("main/.git/index.lock");
    let scope = below(&["src"]);
    let outcome = std::thread::scope(|threads| {
        commit(&sandbox.repository("main"), &request(&scope), &mut |_| {
            fs::write(&lock, "").expect("a lock");
            let lock = lock.clone();
            threads.spawn(move || {
                // sleeps: the lock has to be there for a while after the callback has returned
                std::thread::sleep(Duration::from_millis(50));
                fs::remove_file(lock).expect("removed");
            });
            Ok(())
        })
    });
    let Ok(CommitOutcome::Committed(committed)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(committed.index, SharedIndex::Refreshed);
    assert_eq!(status(&sandbox), [""; 0]);
}

#[test]
fn a_lock_that_nobody_gives_back_is_named_and_not_removed() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "ours\n");
    let before = sandbox.git("main", &["rev-parse", "HEAD"]);
    let lock = sandbox.path("main/.git/index.lock");
    fs::write(&lock, "of somebody").expect("a lock");
    let scope = below(&["src"]);
    // Shorter than the wait for a lock, but long enough for git to come that far, if need be in a later round.
    let patience = [1, 2, 4, 8, 300].map(Duration::from_secs);
    let rounds = patience.map(|patience| CommitRequest { patience, ..request(&scope) });
    let mut nots = rounds.iter().map(|request| ask(&sandbox, "main", request).expect_err("locked"));
    let not = nots.find(|not| !matches!(not, NotCommitted::Fault { .. }));
    assert_eq!(not, Some(NotCommitted::IndexLocked { lock: lock.clone() }));
    assert_eq!(fs::read(&lock).expect("the lock"), b"of somebody");
    assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]), before);
    fs::remove_file(&lock).expect("removed");
    commit_below(&sandbox, &["src"]);
    assert_eq!(status(&sandbox), [""; 0]);
}

#[test]
fn entries_that_git_cannot_trust_yet_stay_so() {
    // A file that was changed in the same second as the index was written, and has the same size as before: git sees
    // the change only because the index is not newer than the file.
    let sandbox = tree();
    sandbox.git("main", &["config", "core.checkStat", "minimal"]);
    sandbox.git("main", &["config", "core.trustctime", "false"]);
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let set_time = |path: &str| {
        let file = fs::File::options().write(true).open(sandbox.path(path)).expect("a file");
        file.set_modified(moment).expect("another time");
    };
    set_time("main/docs/d.md");
    sandbox.git("main", &["update-index", "--refresh"]);
    sandbox.write("main/docs/d.md", "fir5t\n");
    set_time("main/docs/d.md");
    set_time("main/.git/index");
    sandbox.write("main/src/a.rs", "ours\n");
    commit_below(&sandbox, &["src"]);
    assert_eq!(status(&sandbox), [" M docs/d.md"]);
}
