//! Worktrees that can go: those without work, and those whose work is kept elsewhere.

use super::states::{commit, write};
use super::yard::{Yard, inner};
use comity_git::worktree::{KeepCause, Setup};

/// Does something in a worktree after which it can go.
fn check(change: impl Fn(&Yard, &str)) {
    let yard = Yard::new();
    let ann = yard.ann();
    change(&yard, &ann);
    let proof = yard.prove(&ann).unwrap_or_else(|kept| panic!("{kept:?}"));
    assert_eq!(proof.path(), yard.path(&ann));
}

#[test]
fn one_that_was_not_used() {
    check(|_, _| {});
    check(|yard, ann| yard.sandbox.make_dir(&format!("{ann}/empty/directory")));
    check(|yard, ann| drop(yard.sandbox.git(ann, &["status"])));
    check(|yard, ann| drop(yard.sandbox.git(ann, &["checkout", "-q", "--detach"])));
    check(|yard, ann| drop(yard.sandbox.git(ann, &["fetch", "-q", ".", "trunk"])));
    // A file that was changed and is as it was.
    check(|yard, ann| {
        write(yard, ann, "src/a.rs", "work\n");
        write(yard, ann, "src/a.rs", "second\n");
    });
}

#[test]
fn one_whose_commits_are_elsewhere() {
    let merged = |yard: &Yard, ann: &str| {
        commit(yard, ann, "work");
        yard.sandbox.git("main", &["merge", "-q", "comity/ann"]);
    };
    check(merged);
    check(|yard, ann| {
        commit(yard, ann, "work");
        yard.sandbox.git(ann, &["update-ref", "refs/remotes/origin/ann", "HEAD"]);
    });
    check(|yard, ann| {
        commit(yard, ann, "work");
        yard.sandbox.git(ann, &["tag", "kept"]);
    });
    check(|yard, ann| {
        commit(yard, ann, "work");
        yard.sandbox.git(ann, &["branch", "copy"]);
    });
}

#[test]
fn a_stash_does_not_keep_commits() {
    let yard = Yard::new();
    let ann = yard.ann();
    commit(&yard, &ann, "work");
    // The stash of another branch is on top of the commit.
    yard.sandbox.git("main", &["checkout", "-q", "--detach", "comity/ann"]);
    write(&yard, "main", "src/a.rs", "stashed\n");
    yard.sandbox.git("main", &["stash", "-q", "-m", "x"]);
    yard.sandbox.git("main", &["checkout", "-q", "trunk"]);
    assert!(yard.whys(&ann).contains(&KeepCause::Commits));
}

#[test]
fn stashes_of_others_are_none_of_its_own() {
    check(|yard, _| {
        write(yard, "main", "src/a.rs", "stashed in main\n");
        yard.sandbox.git("main", &["stash", "-q"]);
    });
}

#[test]
fn commits_can_be_saved() {
    let yard = Yard::new();
    let ann = yard.ann();
    commit(&yard, &ann, "one");
    commit(&yard, &ann, "two");
    yard.sandbox.git(&ann, &["reset", "-q", "--hard", "HEAD~1"]);
    commit(&yard, &ann, "three");
    let all = yard.sandbox.git(&ann, &["rev-list", "--walk-reflogs", "HEAD"]);
    assert_eq!(yard.whys(&ann), [KeepCause::Commits]);
    let saved = yard.driver.save_commits(&yard.path(&ann)).expect("saved");
    assert!(
        saved.iter().all(|name| name.starts_with("refs/comity/saved/ann-") && yard.exists(name)),
        "{saved:?}"
    );
    for commit in all.lines() {
        yard.sandbox.git("main", &["branch", "-q", "--contains", commit]);
        let holders = yard
            .sandbox
            .git("main", &["for-each-ref", "--contains", commit, "refs/comity/saved", "refs/heads/trunk"]);
        assert!(!holders.is_empty(), "{commit}");
    }
    assert!(yard.prove(&ann).is_ok());
    assert_eq!(yard.driver.save_commits(&yard.path(&ann)), Ok(vec![]), "nothing is left to save");
}

#[test]
fn one_with_what_we_put_there() {
    let yard = Yard::new();
    write(&yard, "main", "node_modules/x/index.js", "x\n");
    write(&yard, "main", ".worktreeinclude", ".env\nconf/\n");
    write(&yard, "main", ".env", "A=1\n");
    write(&yard, "main", "conf/deep/a.json", "{}\n");
    write(&yard, "main", "local.toml", "not ignored\n");
    let setup = Setup { settings: vec![inner("local.toml")], links: vec![inner("node_modules")] };
    let made = yard.make_with("ann", &setup);
    assert_eq!((made.setup.copied.len(), made.setup.linked.len()), (3, 1), "{:?}", made.setup);
    assert_eq!(yard.whys("trees/worktrees/ann"), []);
}

#[test]
fn one_that_is_sparse() {
    let yard = Yard::new();
    yard.sandbox.git("main", &["sparse-checkout", "set", "docs"]);
    let ann = yard.ann();
    assert!(!yard.path(&ann).join("src/a.rs").exists());
    assert_eq!(yard.whys(&ann), []);
    write(&yard, &ann, "src/a.rs", "work outside of what is checked out\n");
    assert_ne!(yard.whys(&ann), []);
}
