//! Many who commit at once, and a person with plain git among them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use comity_git::commit::{CommitRequest, commit};

use crate::committing::{ask_for, below, request, shown, staged};
use crate::sandbox::Sandbox;

const THREADS: usize = 16;
const COMMITS: usize = 20;
const COMMITS_OF_PERSON: usize = 100;

/// One of the crowd: changes its own files again and again, and commits them.
fn work(sandbox: &Sandbox, number: usize) {
    let dir = format!("of{number}");
    let scope = below(&[&dir]);
    for round in 0..COMMITS {
        sandbox.write(&format!("main/{dir}/x"), &format!("{number} {round}\n"));
        let message = format!("crowd {number} {round}\n");
        let committed = ask_for(sandbox, "main", &CommitRequest { message: &message, ..request(&scope) });
        let letter = if round == 0 { 'A' } else { 'M' };
        assert_eq!(shown(&committed.changes), [format!("{letter} {dir}/x")]);
    }
}

/// A person who stages and commits in the same checkout, and tries again when git says that somebody else works there.
fn person(sandbox: &Sandbox, crowd_is_done: &AtomicBool) -> usize {
    let mut commits = 0;
    while commits < COMMITS_OF_PERSON && !crowd_is_done.load(Ordering::Relaxed) {
        sandbox.write("main/person", &format!("{commits}\n"));
        let add = sandbox.try_git("main", &["add", "person"]);
        let commit = add.status.success()
            && sandbox.try_git("main", &["commit", "-q", "-m", "of a person"]).status.success();
        commits += usize::from(commit);
    }
    commits
}

#[test]
fn nobody_fails_and_nobody_takes_anything_of_another() {
    let sandbox = Sandbox::with(&["dirty", "person"]);
    sandbox.write("main/dirty", "by somebody who never commits it\n");
    let (crowd_is_done, left) = (AtomicBool::new(false), AtomicUsize::new(THREADS));
    let by_person = std::thread::scope(|threads| {
        for number in 0..THREADS {
            let (sandbox, crowd_is_done, left) = (&sandbox, &crowd_is_done, &left);
            threads.spawn(move || {
                // Also if it panics, so that the person stops.
                let _done = Done { left, crowd_is_done };
                work(sandbox, number);
            });
        }
        threads.spawn(|| person(&sandbox, &crowd_is_done)).join().expect("a person")
    });
    let mut by_subject: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let log = sandbox.git("main", &["log", "--format=%x01%s", "--name-only", "--no-renames"]);
    for commit in log.split('\u{1}').filter(|commit| !commit.is_empty()) {
        let mut lines = commit.lines().filter(|line| !line.is_empty()).map(str::to_owned);
        let subject = lines.next().expect("a subject");
        by_subject.entry(subject).or_default().extend(lines);
    }
    for number in 0..THREADS {
        for round in 0..COMMITS {
            let paths = by_subject.remove(&format!("crowd {number} {round}"));
            assert_eq!(paths, Some(vec![format!("of{number}/x")]), "{number} {round}");
        }
        let text = sandbox.git("main", &["show", &format!("HEAD:of{number}/x")]);
        assert_eq!(text, format!("{number} {}\n", COMMITS - 1), "something was taken back");
    }
    assert_eq!(by_subject.remove("first"), Some(vec!["dirty".to_owned(), "person".to_owned()]));
    assert_eq!(by_subject.remove("of a person").unwrap_or_default(), vec!["person"; by_person]);
    assert_eq!(by_subject, BTreeMap::new());
    assert!(staged(&sandbox, "main").iter().all(|path| path == "person"));
    assert!(!sandbox.path("main/.git/index.lock").exists());
    sandbox.git("main", &["fsck", "--strict"]);
}

/// Says that one of the crowd has gone home.
struct Done<'a> {
    left: &'a AtomicUsize,
    crowd_is_done: &'a AtomicBool,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.crowd_is_done.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn worktrees_of_one_repository_share_the_turn() {
    let sandbox = Sandbox::with(&["a"]);
    let dirs = ["main", "one", "two", "three"];
    for dir in &dirs[1..] {
        sandbox.git("main", &["worktree", "add", "-q", "-b", dir, &format!("../{dir}")]);
    }
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for dir in dirs {
            let (sandbox, inside, most) = (&sandbox, &inside, &most);
            threads.spawn(move || {
                for round in 0..5 {
                    sandbox.write(&format!("{dir}/a"), &format!("{dir} {round}\n"));
                    let scope = below(&["a"]);
                    let outcome = commit(&sandbox.repository(dir), &request(&scope), &mut |_| {
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        Ok(())
                    });
                    assert!(outcome.is_ok(), "{outcome:?}");
                }
            });
        }
    });
    assert_eq!(most.into_inner(), 1);
    for dir in dirs {
        assert_eq!(sandbox.git(dir, &["rev-list", "--count", "HEAD"]), "6\n");
    }
}
