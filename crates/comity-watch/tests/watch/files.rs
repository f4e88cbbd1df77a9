//! Files: bursts, files that are put in another's place, and those that go.

use std::fs;
use std::time::Duration;

use comity_watch::Bounds;

use crate::stand::Stand;

#[test]
fn a_burst_of_writes_is_told_once() {
    let bounds = Bounds { settle: Duration::from_millis(500), ..Bounds::default() };
    let mut stand = Stand::with(bounds, |_| {}).ready();
    for number in 0..50 {
        stand.write("src/a.rs", &format!("fn a{number}() {{}}\n"));
    }
    let seen = stand.seen();
    assert_eq!(seen.paths, ["src/a.rs"]);
    assert_eq!(seen.changed(), ["src/a.rs"]);
    stand.write("src/a.rs", "fn again() {}\n");
    assert_eq!(stand.seen().paths, ["src/a.rs"], "a later burst is told again");
}

#[test]
fn a_file_put_in_the_place_of_another_is_a_write() {
    let mut stand = Stand::new(|_| {}).ready();
    stand.write("src/.a.rs.tmp", "fn b() {}\n");
    fs::rename(stand.root.join("src/.a.rs.tmp"), stand.root.join("src/a.rs")).expect("renamed");
    assert_eq!(stand.seen().changed(), ["src/a.rs"], "the other name is gone, so it isn't news");
}

#[test]
fn what_vanishes_within_the_burst_is_no_news() {
    let mut stand = Stand::new(|_| {}).ready();
    for name in ["4913", "src/.a.rs.swp", "src/.#a.rs", "src/a.rs~", "deep/new/tmp"] {
        stand.write(name, "x");
        fs::remove_file(stand.root.join(name)).expect("removed");
    }
    assert!(stand.seen().changed.is_empty());
}

#[test]
fn what_is_written_back_is_no_news() {
    let mut stand = Stand::new(|_| {}).ready();
    stand.write("src/a.rs", "fn other() {}\n");
    stand.write("src/a.rs", "fn a() {}\n");
    let seen = stand.seen();
    assert_eq!((seen.paths, seen.changed.len()), (vec!["src/a.rs".to_owned()], 0));
}

#[test]
fn deletions_are_told() {
    let mut stand = Stand::new(|root| {
        for file in ["gone/a", "gone/deep/b", "moved/c", "moved/deep/d"] {
            crate::stand::write(root, file, "x");
        }
    })
    .ready();
    fs::remove_file(stand.root.join("src/a.rs")).expect("removed");
    fs::remove_dir_all(stand.root.join("gone")).expect("removed");
    let elsewhere = stand.root.with_file_name("elsewhere");
    fs::rename(stand.root.join("moved"), &elsewhere).expect("moved");
    let seen = stand.seen();
    assert_eq!(seen.changed(), ["gone/a", "gone/deep/b", "moved/c", "moved/deep/d", "src/a.rs"]);
    let state = seen.state.expect("directories went");
    assert_eq!(state.directories, 2, "the top and src");
    fs::write(elsewhere.join("c"), "y").expect("written");
    assert!(stand.seen().paths.is_empty(), "what was moved away is not watched");
}

#[test]
fn only_a_changed_mode_is_told() {
    let mut stand = Stand::new(|_| {}).ready();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(stand.root.join("src/a.rs"), executable).expect("changed");
    assert_eq!(stand.seen().changed(), ["src/a.rs"]);
}
