//! What is in the trash comes back whole, or goes after a week.

use std::fs;
use std::time::{Duration, SystemTime};

use comity_git::worktree::{FailureKind, Purged, TRASH_KEPT_FOR};

use super::states::{commit, write};
use super::yard::{Idle, Yard};

const WEEK: Duration = TRASH_KEPT_FOR;

/// A worktree with merged work, in the trash; and its name there.
fn trashed() -> (Yard, String) {
    let yard = Yard::new();
    let ann = yard.ann();
    commit(&yard, &ann, "work");
    yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
    let trashed = yard.driver.remove(yard.prove(&ann).expect("clean")).expect("removed");
    (yard, trashed.id)
}

fn in_days(days: u64) -> SystemTime {
    SystemTime::now() + Duration::from_secs(days * 24 * 3600 + 60)
}

#[test]
fn it_comes_back_whole() {
    let yard = Yard::new();
    let ann = yard.ann();
    commit(&yard, &ann, "work");
    yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
    let git_dir = yard.git_dir(&ann);
    let before = (yard.snapshot(&ann), yard.snapshot(&git_dir), yard.sandbox.git("main", &["for-each-ref"]));
    let trashed = yard.driver.remove(yard.prove(&ann).expect("clean")).expect("removed");
    // Days later, after git has cleaned up.
    yard.sandbox.git("main", &["worktree", "prune", "--expire=now"]);
    yard.sandbox.git("main", &["gc", "-q", "--prune=now"]);
    let restored = yard.driver.restore(&trashed.id).expect("restored");
    assert_eq!(restored.path, yard.path(&ann));
    assert_eq!(restored.branch.map(|branch| branch.to_string()).as_deref(), Some("comity/ann"));
    let after = (yard.snapshot(&ann), yard.snapshot(&git_dir), yard.sandbox.git("main", &["for-each-ref"]));
    assert_eq!(after, before);
    assert_eq!(yard.sandbox.git(&ann, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(yard.sandbox.git("main", &["worktree", "prune", "--dry-run", "-v"]), "");
    assert_eq!(yard.driver.trashed(), Ok(vec![]));
    assert!(yard.prove(&ann).is_ok(), "it can go again");
    assert_eq!(yard.driver.restore(&trashed.id).expect_err("gone").kind(), FailureKind::NotFound);
}

#[test]
fn it_comes_back_beside_others() {
    let (yard, id) = trashed();
    yard.make("ann");
    assert_eq!(yard.driver.restore(&id).expect_err("taken").kind(), FailureKind::Taken);
    // Git gives the entry of a new worktree elsewhere the name that ours had.
    yard.driver.remove(yard.prove("trees/worktrees/ann").expect("clean")).expect("removed");
    yard.sandbox.git("main", &["worktree", "add", "-q", "-b", "comity/ann", "../users/ann"]);
    let restored = yard.driver.restore(&id).expect("restored");
    assert_eq!(restored.branch, None, "somebody else has the branch");
    assert_eq!(yard.sandbox.git("trees/worktrees/ann", &["status", "--porcelain"]), "");
    assert_eq!(yard.sandbox.git("users/ann", &["status", "--porcelain"]), "");
    assert_eq!(yard.sandbox.git("main", &["worktree", "list"]).lines().count(), 3);
}

#[test]
fn names_that_lead_out_of_the_trash_are_refused() {
    let (yard, _) = trashed();
    yard.sandbox.link(yard.path("main"), "trees/trash/link");
    for id in ["..", ".", "", "../worktrees", "/etc", "link", "nothing"] {
        assert_eq!(yard.driver.restore(id).expect_err(id).kind(), FailureKind::NotFound, "{id:?}");
    }
}

#[test]
fn it_goes_after_a_week() {
    let (yard, id) = trashed();
    assert_eq!(yard.driver.purge(in_days(6), WEEK), Ok(vec![]));
    assert_eq!(yard.driver.purge(SystemTime::UNIX_EPOCH, WEEK), Ok(vec![]), "a clock that went back");
    assert_eq!(yard.driver.purge(in_days(7), WEEK), Ok(vec![Purged::Gone { id }]));
    assert_eq!(yard.driver.trashed(), Ok(vec![]));
    assert_eq!(yard.snapshot("trees/trash").into_keys().collect::<Vec<_>>(), [std::path::Path::new(".lock")]);
    assert_eq!(yard.sandbox.git("main", &["for-each-ref", "refs/comity"]), "", "trunk has the commit");
}

/// Changes something about an entry; it must stay for ever, whole.
fn check_kept(change: impl Fn(&Yard, &str), words: &str) {
    let (yard, id) = trashed();
    change(&yard, &id);
    let before = yard.snapshot("trees/trash");
    let purged = yard.driver.purge(in_days(400), WEEK).expect("looked at");
    let [Purged::Kept { why, .. }] = purged.as_slice() else { panic!("{purged:?}") };
    assert!(why.contains(words), "{why}");
    assert_eq!(yard.snapshot("trees/trash"), before);
}

#[test]
fn what_is_not_as_it_was_stays() {
    check_kept(|yard, id| write(yard, &format!("trees/trash/{id}/files"), "new.txt", "work\n"), "changed");
    check_kept(|yard, id| write(yard, &format!("trees/trash/{id}/files"), "src/a.rs", "secon!\n"), "changed");
    check_kept(|yard, id| write(yard, &format!("trees/trash/{id}/git"), "HEAD", "x\n"), "changed");
    check_kept(
        |yard, id| fs::remove_file(yard.path(&format!("trees/trash/{id}/entry.json"))).expect("removed"),
        "written",
    );
    check_kept(|yard, id| write(yard, &format!("trees/trash/{id}"), "entry.json", "{}"), "version");
    let drop_saved = |yard: &Yard, _: &str| {
        let saved = yard.sandbox.git("main", &["for-each-ref", "--format=%(refname)", "refs/comity/saved"]);
        yard.sandbox.git("main", &["update-ref", "-d", saved.trim_end()]);
    };
    check_kept(drop_saved, "does not keep its commit");
    let rename = |yard: &Yard, id: &str| {
        fs::rename(yard.path("trees/trash").join(id), yard.path("trees/trash/other-00000000"))
            .expect("renamed");
    };
    check_kept(rename, "it says that it is");
}

#[test]
fn what_we_did_not_put_there_stays() {
    let yard = Yard::new();
    write(&yard, "trees/trash", "stranger/files/work.txt", "work\n");
    yard.sandbox.make_dir("outside");
    write(&yard, "outside", "work.txt", "work\n");
    yard.sandbox.link(yard.path("outside"), "trees/trash/link");
    let before = (yard.snapshot("trees/trash"), yard.snapshot("outside"));
    let purged = yard.driver.purge(in_days(400), WEEK).expect("looked at");
    assert!(purged.iter().all(|purged| matches!(purged, Purged::Kept { .. })) && purged.len() == 2);
    fs::remove_file(yard.path("trees/trash/.lock")).expect("ours");
    assert_eq!((yard.snapshot("trees/trash"), yard.snapshot("outside")), before);
}

#[test]
fn a_process_in_the_trash_keeps_it() {
    let (yard, id) = trashed();
    let process = Idle::start(&yard.path(&format!("trees/trash/{id}/files/src")), None);
    let purged = yard.driver.purge(in_days(400), WEEK).expect("looked at");
    assert!(matches!(purged.as_slice(), [Purged::Kept { .. }]), "{purged:?}");
    drop(process);
    assert_eq!(yard.driver.purge(in_days(400), WEEK), Ok(vec![Purged::Gone { id }]));
}

#[test]
fn links_are_deleted_and_never_followed() {
    let yard = Yard::new();
    let ann = yard.ann();
    yard.sandbox.make_dir("outside/deep");
    write(&yard, "outside", "deep/work.txt", "work\n");
    yard.sandbox.link(yard.path("outside"), &format!("{ann}/way-out"));
    yard.sandbox.git(&ann, &["add", "way-out"]);
    yard.sandbox.git(&ann, &["commit", "-q", "-m", "a link"]);
    yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
    let trashed = yard.driver.remove(yard.prove(&ann).expect("clean")).expect("removed");
    assert_eq!(yard.driver.purge(in_days(7), WEEK), Ok(vec![Purged::Gone { id: trashed.id }]));
    assert!(yard.path("outside/deep/work.txt").exists());
}

#[test]
fn a_purge_that_was_interrupted_goes_on() {
    let (yard, id) = trashed();
    // As after a crash in the middle.
    let name = format!("{id}.purging");
    fs::rename(yard.path("trees/trash").join(&id), yard.path("trees/trash").join(&name)).expect("renamed");
    fs::remove_file(yard.path("trees/trash").join(&name).join("files/src/a.rs")).expect("removed");
    assert_eq!(yard.driver.restore(&name).expect_err("too late").kind(), FailureKind::Changed);
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
    assert_eq!(yard.driver.purge(SystemTime::now(), WEEK), Ok(vec![Purged::Gone { id }]));
}
