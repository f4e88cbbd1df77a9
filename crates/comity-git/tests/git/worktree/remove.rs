//! Taking a worktree away.

use std::fs;

use comity_git::worktree::{KeepCause, RemovalRules, Setup};

use super::states::{commit, write};
use super::yard::{Idle, Yard, inner};

const ANN: &str = "trees/worktrees/ann";

#[test]
fn it_goes_to_the_trash_as_it_is() {
    let yard = Yard::new();
    let ann = yard.ann();
    commit(&yard, &ann, "work");
    yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
    let head = yard.sandbox.git(&ann, &["rev-parse", "HEAD"]);
    let (files, git_dir) = (yard.snapshot(&ann), yard.git_dir(&ann));
    let trashed = yard.driver.remove(yard.prove(&ann).expect("clean")).expect("removed");
    assert!(!yard.path(&ann).exists() && !yard.path(&git_dir).exists());
    assert!(trashed.id.starts_with("ann-") && trashed.set_aside.is_none());
    assert_eq!(trashed.path, yard.path(&ann));
    assert_eq!(yard.snapshot(&format!("trees/trash/{}/files", trashed.id)), files);
    assert!(!yard.exists("refs/heads/comity/ann"), "the branch was merged");
    let saved =
        yard.sandbox.git("main", &["for-each-ref", "--format=%(objectname) %(refname)", "refs/comity/saved"]);
    assert!(saved.starts_with(&format!("{} refs/comity/saved/ann-", head.trim_end())), "{saved}");
    assert_eq!(yard.sandbox.git("main", &["worktree", "list"]).lines().count(), 1);
    assert_eq!(yard.sandbox.git("main", &["worktree", "prune", "--dry-run", "-v"]), "");
    assert_eq!(yard.driver.trashed(), Ok(vec![trashed]));
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
    // The name is free again.
    yard.make("ann");
}

#[test]
fn directories_that_are_linked_survive() {
    let yard = Yard::new();
    write(&yard, "main", "node_modules/x/index.js", "x\n");
    let before = yard.snapshot("main/node_modules");
    yard.make_with("ann", &Setup { settings: vec![], links: vec![inner("node_modules")] });
    let trashed = yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
    assert_eq!(yard.snapshot("main/node_modules"), before);
    let link = yard.path("trees/trash").join(&trashed.id).join("files/node_modules");
    assert!(link.symlink_metadata().is_err(), "the link itself is gone");
    yard.driver.restore(&trashed.id).expect("restored");
    assert_eq!(
        fs::read_link(yard.path(ANN).join("node_modules")).expect("a link"),
        yard.path("main/node_modules")
    );
    yard.driver.remove(yard.prove(ANN).expect("clean")).expect("removed");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(8 * 24 * 3600);
    let purged = yard.driver.purge(later, comity_git::worktree::TRASH_KEPT_FOR).expect("purged");
    assert_eq!(purged.len(), 1);
    assert_eq!(yard.snapshot("main/node_modules"), before);
}

/// Proves a worktree, changes something, and asks to remove it.
fn check_refused(change: impl Fn(&Yard), expected: KeepCause) {
    let yard = Yard::new();
    write(&yard, "main", "node_modules/x/index.js", "x\n");
    yard.make_with("ann", &Setup { settings: vec![], links: vec![inner("node_modules")] });
    let proof = yard.prove(ANN).expect("clean");
    change(&yard);
    let before = yard.snapshot(ANN);
    let refs = yard.sandbox.git("main", &["for-each-ref"]);
    let kept = yard.driver.remove(proof).expect_err("it has changed");
    assert!(kept.iter().any(|kept| kept.why == expected), "{kept:?}");
    assert_eq!(yard.snapshot(ANN), before);
    assert_eq!(yard.sandbox.git("main", &["for-each-ref"]), refs);
    assert_eq!(yard.driver.trashed(), Ok(vec![]));
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}

#[test]
fn what_has_changed_since_the_proof_stays() {
    check_refused(|yard| write(yard, ANN, "src/new.rs", "work\n"), KeepCause::Changed);
    check_refused(|yard| write(yard, ANN, "src/a.rs", "secon!\n"), KeepCause::Changed);
    check_refused(|yard| write(yard, ANN, ".env", "A=1\n"), KeepCause::Changed);
    check_refused(|yard| commit(yard, ANN, "work"), KeepCause::Changed);
    check_refused(
        |yard| drop(yard.sandbox.git(ANN, &["commit", "-q", "--allow-empty", "-m", "x"])),
        KeepCause::Changed,
    );
    check_refused(
        |yard| drop(yard.sandbox.git(ANN, &["update-index", "--assume-unchanged", "src/a.rs"])),
        KeepCause::Changed,
    );
    let replace_link = |yard: &Yard| {
        fs::remove_file(yard.path(ANN).join("node_modules")).expect("a link");
        write(yard, ANN, "node_modules/own.js", "work\n");
    };
    check_refused(replace_link, KeepCause::Changed);
    check_refused(
        |yard| drop(yard.sandbox.git("main", &["worktree", "lock", &format!("../{ANN}")])),
        KeepCause::Unknown,
    );
}

#[test]
fn whoever_came_since_the_proof_keeps_it() {
    let yard = Yard::new();
    let ann = yard.ann();
    let is_in_use = std::sync::atomic::AtomicBool::new(false);
    let in_use = |_: &std::path::Path| is_in_use.load(std::sync::atomic::Ordering::Relaxed);
    let rules = RemovalRules { build_dirs: &[], in_use: &in_use };
    let prove = || yard.driver.prove_removable(&yard.path(&ann), rules).expect("clean");
    let proof = prove();
    let process = Idle::start(&yard.path(&ann), None);
    assert_eq!(yard.driver.remove(proof).expect_err("a process")[0].why, KeepCause::Process);
    drop(process);
    let proof = prove();
    is_in_use.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(yard.driver.remove(proof).expect_err("in use")[0].why, KeepCause::InUse);
    assert!(yard.path(&ann).join("src/a.rs").exists());
}

#[test]
fn branches_of_the_user_stay() {
    let yard = Yard::new();
    let ann = yard.ann();
    yard.sandbox.git(&ann, &["switch", "-q", "-c", "feature"]);
    yard.driver.remove(yard.prove(&ann).expect("clean")).expect("removed");
    assert!(yard.exists("refs/heads/feature") && yard.exists("refs/heads/comity/ann"));
}

#[test]
fn removed_twice_at_once_goes_once() {
    let yard = Yard::new();
    let ann = yard.ann();
    let removed: Vec<bool> = std::thread::scope(|scope| {
        let proofs = [yard.prove(&ann).expect("clean"), yard.prove(&ann).expect("clean")];
        let threads = proofs.map(|proof| scope.spawn(|| yard.driver.remove(proof).is_ok()));
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(removed.iter().filter(|removed| **removed).count(), 1);
    assert_eq!(yard.driver.trashed().expect("a list").len(), 1);
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}

#[test]
fn builds_go_along() {
    let yard = Yard::new();
    let ann = yard.ann();
    write(&yard, &ann, "target/debug/app", "binary\n");
    let dirs = [inner("target")];
    let rules = RemovalRules { build_dirs: &dirs, in_use: &|_| false };
    let proof = yard.driver.prove_removable(&yard.path(&ann), rules).expect("clean");
    // A build goes on; that is no work.
    write(&yard, &ann, "target/debug/other", "binary\n");
    let trashed = yard.driver.remove(proof).expect("removed");
    yard.driver.restore(&trashed.id).expect("restored");
    assert!(yard.path(&ann).join("target/debug/other").exists());
}
