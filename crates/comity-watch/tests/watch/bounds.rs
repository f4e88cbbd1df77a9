//! Reaching a bound is told, and what can be watched goes on being watched.

use std::fs;

use comity_watch::{Bounds, WatchTrouble};

use crate::stand::{Stand, write};

#[test]
fn more_directories_than_are_watched() {
    let bounds = Bounds { directories_max: 4, ..Bounds::default() };
    let stand = Stand::with(bounds, |root| {
        for number in 0..10 {
            write(root, &format!("d{number}/file"), "x");
        }
    });
    let state = stand.until_state(|state| !state.troubles.is_empty());
    assert_eq!(state.directories, 4);
    let trouble = WatchTrouble::TooManyDirectories { root: stand.root.clone(), directories_max: 4 };
    assert_eq!(state.troubles, std::slice::from_ref(&trouble));
    assert!(trouble.to_string().contains("4 are watched at most"), "{trouble}");
    // With fewer directories it is well again: the rules say which.
    stand.write(".gitignore", "*\n");
    stand.git(&["rm", "--quiet", "-r", "--cached", "."]);
    stand.write(".gitignore", "/*\n!/src\n");
    stand.until_state(|state| state.troubles.is_empty() && state.directories == 2);
}

#[test]
fn more_paths_at_once_than_are_kept() {
    let bounds = Bounds { paths_max: 10, ..Bounds::default() };
    let mut stand = Stand::with(bounds, |_| {}).ready();
    {
        let _held = stand.hold();
        for number in 0..30 {
            stand.write(&format!("src/{number}"), "x");
        }
    }
    let state = stand.until_state(|state| !state.troubles.is_empty());
    assert_eq!(state.troubles, [WatchTrouble::TooManyPaths { root: stand.root.clone(), paths_max: 10 }]);
    stand.until_settled("src/0");
    stand.write("src/a.rs", "later\n");
    stand.until_settled("src/a.rs");
    assert!(stand.seen().paths.is_empty(), "the room is free again");
}

#[test]
fn more_events_than_the_kernel_keeps() {
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a number");
    let most: usize = most.trim().parse().expect("a number");
    let mut stand = Stand::new(|_| {}).ready();
    {
        let _held = stand.hold();
        stand.write("src/a.rs", "// the watcher stops at this\n");
        let (one, other) = (stand.root.join("src/one"), stand.root.join("src/other"));
        fs::write(&one, "x").expect("written");
        // Twice as many as are kept: the watcher may have read some before it stopped.
        for _ in 0..most / 2 {
            fs::rename(&one, &other).expect("renamed");
            fs::rename(&other, &one).expect("renamed");
        }
        // Of this the kernel tells nothing any more.
        stand.write("src/new/deep/file", "x");
    }
    let state = stand.until_state(|state| !state.troubles.is_empty());
    assert_eq!(state.troubles, [WatchTrouble::Overrun { times: 1 }]);
    stand.write("src/new/deep/file", "later\n");
    assert!(stand.seen().changed.contains("src/new/deep/file"), "what came meanwhile is watched");
}
