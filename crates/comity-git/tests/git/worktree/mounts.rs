//! What is mounted inside a worktree is somebody else's, and is never deleted through it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use comity_git::worktree::{Purged, RemovalRules, TRASH_KEPT_FOR};

use super::states::{commit, write};
use super::yard::{Yard, inner};

/// Namespaces of its own, in which only its own processes are seen.
const OWN: &str = "-rmpf";
/// Set where a test runs in such.
const INSIDE: &str = "COMITY_TEST_MAY_MOUNT";

/// Runs the test again where it may mount; says whether this is that run.
fn may_mount(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    if !Command::new("unshare").args([OWN, "--mount-proc", "true"]).status().is_ok_and(|done| done.success())
    {
        comity_skip::skip(test, "namespaces are not allowed here");
        return false;
    }
    let own = std::env::current_exe().expect("this program");
    let mut again = Command::new("unshare");
    again.args([OWN, "--mount-proc"]).arg(own).args([
        "--exact",
        &format!("worktree::mounts::{test}"),
        "--nocapture",
    ]);
    let said = again.env(INSIDE, "1").output().expect("it runs");
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    assert!(text.contains("1 passed"), "{text}");
    false
}

fn bind(from: &Path, to: &Path) {
    let done = Command::new("mount").arg("--bind").args([from, to]).status().expect("mount");
    assert!(done.success(), "{} can't be mounted at {}", from.display(), to.display());
}

/// Something precious on the same file system.
fn precious(yard: &Yard) -> std::path::PathBuf {
    write(yard, "precious", "work.txt", "a year's work\n");
    yard.path("precious")
}

fn is_whole(yard: &Yard) -> bool {
    fs::read_to_string(yard.path("precious/work.txt")).is_ok_and(|text| text == "a year's work\n")
}

#[test]
fn a_worktree_with_a_mount_is_kept() {
    if !may_mount("a_worktree_with_a_mount_is_kept") {
        return;
    }
    let yard = Yard::new();
    let ann = yard.ann();
    let (precious, inside) = (precious(&yard), yard.path(&ann).join("target/in it"));
    fs::create_dir_all(&inside).expect("made");
    bind(&precious, &inside);
    let build_dirs = [inner("target")];
    let rules = RemovalRules { build_dirs: &build_dirs, in_use: &|_| false };
    let kept = yard.driver.prove_removable(&yard.path(&ann), rules).expect_err("kept");
    assert!(kept.iter().any(|kept| kept.to_string().contains("target/in it")), "{kept:?}");
    assert!(is_whole(&yard));
}

#[test]
fn the_trash_is_not_emptied_through_a_mount() {
    if !may_mount("the_trash_is_not_emptied_through_a_mount") {
        return;
    }
    let later = SystemTime::now() + TRASH_KEPT_FOR + Duration::from_secs(60);
    for is_begun in [false, true] {
        let yard = Yard::new();
        let ann = yard.ann();
        commit(&yard, &ann, "work");
        yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
        fs::create_dir_all(yard.path(&ann).join("target/deep")).expect("made");
        let build_dirs = [inner("target")];
        let rules = RemovalRules { build_dirs: &build_dirs, in_use: &|_| false };
        let proof = yard.driver.prove_removable(&yard.path(&ann), rules).expect("clean");
        let id = yard.driver.remove(proof).expect("removed").id;
        let mut dir = yard.path("trees/trash").join(&id);
        if is_begun {
            // It was decided before, and the server died while it deleted.
            let begun = dir.with_file_name(format!("{id}.purging"));
            fs::rename(&dir, &begun).expect("renamed");
            dir = begun;
        }
        bind(&precious(&yard), &dir.join("files/target/deep"));
        let purged = yard.driver.purge(later, TRASH_KEPT_FOR).expect("looked");
        assert!(is_whole(&yard), "{purged:?}");
        let is_told = |why: &str| why.contains("something is mounted at");
        assert!(matches!(&purged[..], [Purged::Kept { why, .. }] if is_told(why)), "{purged:?}");
        let done = Command::new("umount").arg(dir.join("files/target/deep")).status().expect("umount");
        assert!(done.success());
        let purged = yard.driver.purge(later, TRASH_KEPT_FOR).expect("looked");
        assert!(matches!(&purged[..], [Purged::Gone { .. }]), "{purged:?}");
    }
}
