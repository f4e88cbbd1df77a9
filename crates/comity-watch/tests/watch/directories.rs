//! Directories: new ones are watched, ignored ones and other repositories are not.

use std::fs;

use crate::stand::{Stand, git, write};

#[test]
fn what_is_in_a_new_directory_before_it_is_watched_is_found() {
    let mut stand = Stand::new(|_| {}).ready();
    {
        let _held = stand.hold();
        stand.write("src/a.rs", "// the watcher stops at this\n");
        for number in 0..50 {
            stand.write(&format!("new/deep/{number}/deeper/file"), "x");
        }
    }
    let seen = stand.seen();
    let expected: Vec<String> = (0..50).map(|number| format!("new/deep/{number}/deeper/file")).collect();
    let missing: Vec<&String> = expected.iter().filter(|path| !seen.changed.contains(*path)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    stand.write("new/deep/7/deeper/later", "x");
    assert_eq!(stand.seen().changed(), ["new/deep/7/deeper/later"], "and from then on it is watched");
}

#[test]
fn a_renamed_directory_is_watched_under_its_new_name() {
    let mut stand = Stand::new(|root| write(root, "old/deep/file", "x")).ready();
    fs::rename(stand.root.join("old"), stand.root.join("new")).expect("renamed");
    assert_eq!(stand.seen().changed(), ["new/deep/file", "old/deep/file"]);
    stand.write("new/deep/file", "y");
    assert_eq!(stand.seen().changed(), ["new/deep/file"]);
}

#[test]
fn what_git_ignores_costs_no_watch() {
    let ignored = |root: &std::path::Path, top: &str| {
        for number in 0..2_000 {
            fs::create_dir_all(root.join(format!("{top}/{number}"))).expect("made");
        }
    };
    let stand = Stand::new(|root| {
        write(root, ".gitignore", "target\nnode_modules/\n*.log\n");
        ignored(root, "target");
    });
    let state = stand.until_state(|state| state.trees == 1);
    assert_eq!(state.directories, 2, "the top and src: {state:?}");
    assert!(state.troubles.is_empty(), "{state:?}");

    let mut stand = stand;
    ignored(&stand.root, "src/node_modules");
    stand.write("src/node_modules/7/index.js", "x");
    stand.write("noise.log", "x");
    let seen = stand.seen();
    assert!(seen.changed.is_empty() && seen.state.is_none(), "nothing came to be watched: {seen:?}");
}

#[test]
fn an_ignored_directory_with_tracked_files_is_watched() {
    let mut stand = Stand::new(|root| {
        write(root, ".gitignore", "target\n");
        write(root, "target/kept/file", "x");
        git(root, &["add", "--force", "target/kept/file"]);
    })
    .ready();
    stand.write("target/kept/file", "y");
    assert_eq!(stand.seen().changed(), ["target/kept/file"]);
}

#[test]
fn rules_that_change_count_at_once() {
    let mut stand = Stand::new(|root| {
        write(root, ".gitignore", "out\n");
        fs::create_dir_all(root.join("out/deep")).expect("made");
        write(root, "noise/file", "x");
    })
    .ready();
    stand.write(".gitignore", "noise\n");
    let seen = stand.seen();
    assert_eq!(seen.changed(), [".gitignore"]);
    if seen.state.is_none_or(|state| state.directories != 5) {
        stand.until_state(|state| state.directories == 5);
    }
    stand.write("out/deep/file", "x");
    assert_eq!(stand.seen().changed(), ["out/deep/file"]);
    // A directory with a tracked file is watched, whatever the rules say; once it is untracked it is not.
    stand.git(&["rm", "--quiet", "-r", "--cached", "noise"]);
    stand.write(".gitignore", "noise\n# again\n");
    stand.until_state(|state| state.directories == 4);
}

#[test]
fn other_repositories_in_it_are_not_its_files() {
    let mut stand = Stand::new(|root| {
        fs::create_dir_all(root.join("other/src")).expect("made");
        git(&root.join("other"), &["init", "--quiet"]);
        write(root, ".gitignore", "/other\n");
    })
    .ready();
    stand.git(&["worktree", "add", "--quiet", "trees/one"]);
    stand.write("other/src/b.rs", "x");
    stand.write("trees/one/src/a.rs", "changed\n");
    let seen = stand.seen();
    assert!(seen.changed.is_empty(), "{seen:?}");
}

#[test]
fn worktrees_come_and_go() {
    let stand = Stand::new(|_| {}).ready();
    let second = stand.root.with_file_name("second");
    stand.git(&["worktree", "add", "--quiet", second.to_str().expect("a text")]);
    stand.want(&[&stand.root, &second]);
    stand.until_state(|state| state.trees == 2);
    write(&second, "src/a.rs", "changed\n");
    stand.until_settled("src/a.rs");
    fs::rename(&second, second.with_file_name("trash")).expect("moved");
    let state = stand.until_state(|state| state.trees == 1);
    assert_eq!(state.directories, 2);
    stand.want(&[]);
    let state = stand.until_state(|state| state.trees == 0);
    assert_eq!(state.directories, 0);
}
