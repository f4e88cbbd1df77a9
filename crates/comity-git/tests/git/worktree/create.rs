//! Making a worktree, or leaving nothing behind.

use std::fs;
use std::time::Duration;

use comity_git::worktree::{Driver, FailureKind, NewWorktree, Places, Setup, Slug};

use super::yard::{Yard, branch};

#[test]
fn a_worktree_with_a_branch_of_its_own() {
    let yard = Yard::new();
    let made = yard.make("team/ann");
    let dir = "trees/worktrees/team+ann";
    assert_eq!(made.path, yard.path(dir));
    assert_eq!(made.branch, Some(branch("comity/team/ann")));
    let trunk = yard.sandbox.git("main", &["rev-parse", "trunk"]);
    assert_eq!((made.base.name.as_str(), made.base.commit.as_str()), ("trunk", trunk.trim_end()));
    assert_eq!(yard.sandbox.git(dir, &["rev-parse", "HEAD"]), trunk);
    assert_eq!(yard.sandbox.git(dir, &["symbolic-ref", "HEAD"]), "refs/heads/comity/team/ann\n");
    assert_eq!(yard.sandbox.git(dir, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(fs::read_to_string(made.path.join("src/a.rs")).expect("a file"), "second\n");
    assert_eq!(yard.sandbox.git("main", &["status", "--porcelain"]), "");
    assert!(!yard.sandbox.git("main", &["worktree", "list", "-v"]).contains("locked"));
    let listed = yard.driver.list().expect("a list");
    assert_eq!((listed.len(), &listed[0].path, &listed[0].base), (1, &made.path, &made.base));
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}

#[test]
fn the_base_is_what_it_is_now() {
    let yard = Yard::new();
    let first = yard.sandbox.git("main", &["rev-parse", "trunk~1"]).trim_end().to_owned();
    yard.sandbox.git("main", &["tag", "-a", "-m", "x", "v1", "trunk~1"]);
    yard.sandbox.git("main", &["update-ref", "refs/remotes/origin/main", "trunk~1"]);
    yard.sandbox.git("main", &["branch", "deep/one", "trunk~1"]);
    let setup = Setup::default();
    let bases =
        ["trunk~1", "v1", "origin/main", "deep/one", "refs/heads/deep/one", "HEAD~1", &first, &first[..12]];
    for (number, base) in bases.into_iter().enumerate() {
        let slug = Slug::parse(&format!("ann{number}")).expect("a slug");
        let new = NewWorktree { slug: &slug, branch: None, base, setup: &setup, reserved: None };
        assert_eq!(yard.driver.create(&new).expect(base).base.commit.as_str(), first, "{base}");
    }
    for base in ["nothing", "", "-", "--help", "trunk:src/a.rs", "a\nb", "a\0b", "trunk^{tree}"] {
        let slug = Slug::parse("bob").expect("a slug");
        let new = NewWorktree { slug: &slug, branch: None, base, setup: &setup, reserved: None };
        let kind = yard.driver.create(&new).expect_err(base).kind();
        assert!(matches!(kind, FailureKind::NotFound | FailureKind::BadName), "{base:?}: {kind:?}");
    }
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
    assert!(!yard.path("trees/worktrees/bob").exists());
}

#[test]
fn a_name_that_is_a_tag_and_a_branch_means_to_us_what_it_means_to_git() {
    let yard = Yard::new();
    yard.sandbox.git("main", &["tag", "twice", "trunk~1"]);
    yard.sandbox.git("main", &["branch", "twice", "trunk"]);
    let slug = Slug::parse("ann").expect("a slug");
    let setup = Setup::default();
    let made = yard.driver.create(&NewWorktree {
        slug: &slug,
        branch: None,
        base: "twice",
        setup: &setup,
        reserved: None,
    });
    let git = yard.sandbox.git("main", &["rev-parse", "twice"]);
    assert_eq!(made.expect("made").base.commit.as_str(), git.trim_end());
}

#[test]
fn a_branch_can_be_asked_for() {
    let yard = Yard::new();
    let (slug, setup, name) =
        (Slug::parse("ann").expect("a slug"), Setup::default(), branch("feature/login"));
    let new = NewWorktree { slug: &slug, branch: Some(&name), base: "trunk", setup: &setup, reserved: None };
    assert_eq!(yard.driver.create(&new).expect("made").branch.as_ref(), Some(&name));
    let other = Slug::parse("bob").expect("a slug");
    let no = yard.driver.create(&NewWorktree { slug: &other, ..new }).expect_err("it exists");
    assert_eq!(no.kind(), FailureKind::Taken);
}

/// Asks for a worktree in a project that cannot give one; nothing may be left of it.
fn check_nothing_left(yard: &Yard, driver: &Driver) -> String {
    let slug = Slug::parse("ann").expect("a slug");
    let setup = Setup::default();
    let refs = yard.sandbox.git("main", &["for-each-ref"]);
    let no = driver.create(&NewWorktree {
        slug: &slug,
        branch: None,
        base: "trunk",
        setup: &setup,
        reserved: None,
    });
    let no = no.expect_err("it can't be made").to_string();
    assert!(!yard.path("trees/worktrees/ann").exists(), "{no}");
    assert_eq!(yard.sandbox.git("main", &["for-each-ref"]), refs, "{no}");
    assert_eq!(yard.sandbox.git("main", &["worktree", "list"]).lines().count(), 1, "{no}");
    assert_eq!(driver.leftovers(), Ok(vec![]), "{no}");
    no
}

#[test]
fn a_checkout_that_fails_leaves_nothing() {
    let yard = Yard::new();
    // An object of the commit is missing.
    let blob = yard.sandbox.git("main", &["rev-parse", "trunk:src/b.rs"]);
    let object = format!("main/.git/objects/{}/{}", &blob[..2], blob[2..].trim_end());
    fs::remove_file(yard.path(&object)).expect("removed");
    let said = check_nothing_left(&yard, &yard.driver);
    assert!(said.contains("git reset"), "{said}");
}

#[test]
fn git_that_is_too_slow_leaves_nothing() {
    let yard = Yard::new();
    let places = Places::within(&yard.path("trees"));
    let hasty = Driver::open(&yard.path("main/.git"), &places, Duration::ZERO).expect("a driver");
    let said = check_nothing_left(&yard, &hasty);
    assert!(said.contains("not done in time"), "{said}");
}

#[test]
fn what_git_thinks_is_there_is_left_alone() {
    let yard = Yard::new();
    let ann = yard.ann();
    // The user has deleted the files; git still has the entry, with the only trace of a commit.
    yard.sandbox.git(&ann, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let git_dir = yard.git_dir(&ann);
    fs::remove_dir_all(yard.path(&ann)).expect("removed");
    yard.sandbox.git("main", &["branch", "-q", "-m", "comity/ann", "kept"]);
    let slug = Slug::parse("ann").expect("a slug");
    let setup = Setup::default();
    let no = yard.driver.create(&NewWorktree {
        slug: &slug,
        branch: None,
        base: "trunk",
        setup: &setup,
        reserved: None,
    });
    assert_eq!(no.expect_err("taken").kind(), FailureKind::Taken);
    assert!(yard.path(&git_dir).join("logs/HEAD").exists());
}

#[test]
fn a_place_in_the_way_is_not_followed() {
    let yard = Yard::new();
    yard.sandbox.make_dir("outside");
    yard.sandbox.link(yard.path("outside"), "trees/worktrees/ann");
    let slug = Slug::parse("ann").expect("a slug");
    let setup = Setup::default();
    let no = yard.driver.create(&NewWorktree {
        slug: &slug,
        branch: None,
        base: "trunk",
        setup: &setup,
        reserved: None,
    });
    assert_eq!(no.expect_err("taken").kind(), FailureKind::Taken);
    assert_eq!(fs::read_dir(yard.path("outside")).expect("a directory").count(), 0);
}

#[test]
fn two_at_once_for_one_name() {
    let yard = Yard::new();
    let slug = Slug::parse("ann").expect("a slug");
    let setup = Setup::default();
    let new = NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
    let made: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| yard.driver.create(&new).is_ok())).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(made.iter().filter(|is_made| **is_made).count(), 1);
    assert_eq!(yard.sandbox.git("trees/worktrees/ann", &["status", "--porcelain"]), "");
    assert_eq!(yard.driver.leftovers(), Ok(vec![]));
}
