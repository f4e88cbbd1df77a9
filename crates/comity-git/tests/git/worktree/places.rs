//! Where worktrees can be kept.

use std::fs;
use std::path::Path;

use comity_git::worktree::{Driver, FailureKind, Places};

use super::yard::{PATIENCE, Yard};

fn open(yard: &Yard, places: &Places) -> Result<Driver, FailureKind> {
    Driver::open(&yard.path("main/.git"), places, PATIENCE).map_err(|failure| failure.kind())
}

#[test]
fn places_that_show_in_nobodys_status() {
    let yard = Yard::new();
    let check = |dir: &str, expected: Option<FailureKind>| {
        assert_eq!(open(&yard, &Places::within(&yard.path(dir))).err(), expected, "{dir}");
    };
    check("elsewhere", None);
    check("main/.git/comity", None);
    check("main/.comity", Some(FailureKind::BadPlace));
    check("main", Some(FailureKind::BadPlace));
    let ann = yard.ann();
    check(&format!("{ann}/inside"), Some(FailureKind::BadPlace));
    yard.sandbox.link(yard.path("main"), "link");
    check("link/there", Some(FailureKind::BadPlace));
}

#[test]
fn places_are_apart() {
    let yard = Yard::new();
    let at = |name: &str| yard.path(name);
    let places = Places { worktrees: at("x"), trash: at("x/trash"), pool: at("pool") };
    assert_eq!(open(&yard, &places).err(), Some(FailureKind::BadPlace));
    let places = Places { worktrees: at("x"), trash: at("y"), pool: at("x") };
    assert_eq!(open(&yard, &places).err(), Some(FailureKind::BadPlace));
}

#[test]
fn places_are_on_one_file_system() {
    let yard = Yard::new();
    let device = |path: &Path| rustix::fs::stat(path).expect("there").st_dev;
    let other = tempfile::tempdir_in("/dev/shm").ok();
    let other = other.filter(|other| device(other.path()) != device(&yard.path("main")));
    let Some(other) = other else {
        return comity_skip::skip("places_are_on_one_file_system", "/dev/shm is no file system of its own");
    };
    assert_eq!(open(&yard, &Places::within(other.path())).err(), Some(FailureKind::BadPlace));
}

#[test]
fn worktrees_in_gits_directory_work() {
    let yard = Yard::new();
    let places = Places::within(&yard.path("main/.git/comity"));
    let driver = Driver::open(&yard.path("main/.git"), &places, PATIENCE).expect("a driver");
    let yard = Yard { driver, ..yard };
    let made = yard.make("ann");
    assert_eq!(made.path, yard.path("main/.git/comity/worktrees/ann"));
    assert_eq!(fs::read_to_string(made.path.join("src/a.rs")).expect("a file"), "second\n");
    assert_eq!(yard.sandbox.git("main", &["status", "--porcelain", "--ignored"]), "");
    let proof = yard.driver.prove_removable(&made.path, super::yard::NOBODY).expect("clean");
    yard.driver.remove(proof).expect("removed");
    assert!(!made.path.exists());
}
