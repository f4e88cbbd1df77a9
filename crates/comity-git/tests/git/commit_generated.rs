//! Any changes, anything staged, any scope: what is committed is what a few lines of naive code say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use comity_git::commit::{CommitOutcome, NotCommitted};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

use crate::committing::{ask, below, enlarge, lines, request};
use crate::sandbox::Sandbox;

const CASES: u32 = 60;
/// Some of them can only be there if others are not; those that end with `.log` are ignored.
const PATHS: &[&str] =
    &["a/x", "a/y", "a/s", "a/s/z", "b/x", "b/y.log", "c", "c/inner", "c/deep/er", "d.log"];
const SCOPES: &[&str] = &["a", "a/x", "a/s", "a/s/z", "b", "b/y.log", "c", "c/inner", "d.log", "e"];

/// What a large repository is made of; it never changes.
const BULK: &str = "bulk/";

/// What a path has: the mode and the contents, as git lists them.
type Files = BTreeMap<String, (String, String)>;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Text(u8),
    Program(u8),
    Link(u8),
}

#[derive(Clone, Copy, Debug)]
enum Staging {
    Put(Kind),
    Intend(Kind),
    Remove,
}

#[derive(Clone, Debug)]
struct Case {
    /// Whether the repository has so many files that git is not asked about all of them.
    is_large: bool,
    committed: Vec<(usize, Kind)>,
    staged: Vec<(usize, Staging)>,
    changed: Vec<(usize, Option<Kind>)>,
    scope: Vec<usize>,
}

fn case() -> impl Strategy<Value = Case> {
    let path = || 0..PATHS.len();
    let kind = || {
        prop_oneof![
            3 => (0..3u8).prop_map(Kind::Text),
            1 => (0..2u8).prop_map(Kind::Program),
            1 => (0..2u8).prop_map(Kind::Link)
        ]
    };
    let staging = prop_oneof![
        3 => kind().prop_map(Staging::Put),
        1 => kind().prop_map(Staging::Intend),
        1 => Just(Staging::Remove)
    ];
    let changed = prop_oneof![2 => kind().prop_map(Some), 1 => Just(None)];
    (
        prop::bool::weighted(0.25),
        prop::collection::vec((path(), kind()), 0..7),
        prop::collection::vec((path(), staging), 0..4),
        prop::collection::vec((path(), changed), 0..7),
        prop::collection::vec(0..SCOPES.len(), 1..4),
    )
        .prop_map(|(is_large, committed, staged, changed, scope)| Case {
            is_large,
            committed,
            staged,
            changed,
            scope,
        })
}

/// Puts a file there, whatever stood in its way.
fn put(sandbox: &Sandbox, path: &str, kind: Kind) {
    let full = sandbox.main().join(path);
    remove(&full);
    for above in full.ancestors().skip(1).take_while(|above| *above != sandbox.main()) {
        if above.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            fs::remove_file(above).expect("removed");
        }
    }
    fs::create_dir_all(full.parent().expect("a parent")).expect("a directory");
    match kind {
        Kind::Text(text) => fs::write(full, format!("{text}\n")).expect("a file"),
        Kind::Program(text) => {
            fs::write(&full, format!("{text}\n")).expect("a file");
            fs::set_permissions(full, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        Kind::Link(target) => symlink(format!("nowhere{target}"), full).expect("a symlink"),
    }
}

fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).expect("removed"),
        Ok(_) => fs::remove_file(path).expect("removed"),
        Err(_) => {}
    }
}

/// The files of the working tree.
fn on_disk(sandbox: &Sandbox) -> Files {
    let mut files = Files::new();
    let mut dirs = vec![sandbox.main()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("a directory").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            let name = path.strip_prefix(sandbox.main()).expect("below").to_str().expect("text").to_owned();
            if kind.is_symlink() {
                let target = fs::read_link(path).expect("a target").display().to_string();
                files.insert(name, ("120000".into(), target));
            } else if kind.is_file() {
                let is_program = entry.metadata().expect("a mode").permissions().mode() & 0o100 != 0;
                let mode = if is_program { "100755" } else { "100644" };
                files.insert(name, (mode.into(), fs::read_to_string(path).expect("text")));
            } else if name != ".git" {
                dirs.push(path);
            }
        }
    }
    files
}

/// The files of the commit.
fn in_head(sandbox: &Sandbox) -> Files {
    let listed = lines(sandbox, "main", &["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", "HEAD"]);
    let file = |line: &String| {
        let (mode, path) = line.split_once(' ').expect("two words");
        let text = sandbox.git("main", &["cat-file", "blob", &format!("HEAD:{path}")]);
        (path.to_owned(), (mode.to_owned(), text))
    };
    listed.iter().filter(|line| !line.contains(BULK)).map(file).collect()
}

/// The entries of the index, as git shows them.
fn in_index(sandbox: &Sandbox) -> BTreeMap<String, String> {
    let listed = lines(sandbox, "main", &["ls-files", "--stage", "-z"]);
    let entry = |line: &String| {
        let (entry, path) = line.split_once('\t').expect("two halves");
        (path.to_owned(), entry.to_owned())
    };
    listed.iter().filter(|line| !line.contains(BULK)).map(entry).collect()
}

fn stands_in_the_way(a: &str, b: &str) -> bool {
    a != b && (Path::new(a).starts_with(b) || Path::new(b).starts_with(a))
}

fn property(case: Case) -> Result<(), TestCaseError> {
    let sandbox = Sandbox::empty();
    sandbox.init("main");
    sandbox.write("main/.git/info/exclude", "*.log\n");
    case.committed.iter().for_each(|(path, kind)| put(&sandbox, PATHS[*path], *kind));
    sandbox.commit_files("main", &[]);
    if case.is_large {
        enlarge(&sandbox);
    }
    for (path, staging) in &case.staged {
        let path = PATHS[*path];
        match staging {
            Staging::Put(kind) => {
                put(&sandbox, path, *kind);
                sandbox.git("main", &["add", "--force", "--", path]);
            }
            Staging::Intend(kind) => {
                put(&sandbox, path, *kind);
                sandbox.git("main", &["add", "--force", "--intent-to-add", "--", path]);
            }
            Staging::Remove => {
                sandbox.git("main", &["rm", "-q", "-r", "-f", "--cached", "--ignore-unmatch", "--", path]);
            }
        }
    }
    for (path, kind) in &case.changed {
        match kind {
            Some(kind) => put(&sandbox, PATHS[*path], *kind),
            None => remove(&sandbox.main().join(PATHS[*path])),
        }
    }
    let scope: Vec<&str> = case.scope.iter().map(|at| SCOPES[*at]).collect();
    let (head, disk, index) = (in_head(&sandbox), on_disk(&sandbox), in_index(&sandbox));

    let is_covered = |path: &str| scope.iter().any(|dir| Path::new(path).starts_with(dir));
    let is_ignored =
        |path: &str| path.ends_with(".log") && !head.contains_key(path) && !index.contains_key(path);
    let all: BTreeSet<&String> = head.keys().chain(disk.keys()).collect();
    let mut expected = Files::new();
    for path in all {
        let from = if is_covered(path) && !is_ignored(path) { &disk } else { &head };
        expected.extend(from.get(path).map(|file| (path.clone(), file.clone())));
    }
    let is_possible = !expected.keys().any(|a| expected.keys().any(|b| stands_in_the_way(a, b)));

    let outcome = ask(&sandbox, "main", &request(&below(&scope)));
    let (head_after, index_after) = (in_head(&sandbox), in_index(&sandbox));
    prop_assert_eq!(on_disk(&sandbox), disk);
    let committed: BTreeSet<String> = match outcome {
        Ok(CommitOutcome::Committed(committed)) => {
            prop_assert!(is_possible);
            committed.changes.iter().map(|change| change.path.display().to_string()).collect()
        }
        Ok(CommitOutcome::Nothing(_)) => BTreeSet::new(),
        Err(NotCommitted::BeyondScope { .. }) => {
            prop_assert!(!is_possible);
            prop_assert_eq!((&head_after, &index_after), (&head, &index));
            return Ok(());
        }
        Err(not) => return Err(TestCaseError::fail(not.to_string())),
    };
    prop_assert_eq!(&head_after, &expected);
    let changed: BTreeSet<String> = head
        .keys()
        .chain(expected.keys())
        .filter(|path| head.get(*path) != expected.get(*path))
        .cloned()
        .collect();
    prop_assert_eq!(&committed, &changed);
    let bulk = lines(&sandbox, "main", &["ls-tree", "-z", "--name-only", "HEAD", BULK]);
    prop_assert_eq!(bulk.len() > 1_000, case.is_large);
    let staged_now = crate::committing::staged(&sandbox, "main");
    for path in index.keys().chain(index_after.keys()) {
        let is_displaced =
            changed.iter().any(|new| expected.contains_key(new) && stands_in_the_way(new, path));
        if changed.contains(path) {
            prop_assert!(!staged_now.contains(path), "{} stays staged", path);
        } else if is_displaced {
            prop_assert_eq!(index_after.get(path), None);
        } else {
            prop_assert_eq!(index_after.get(path), index.get(path));
        }
    }
    sandbox.git("main", &["fsck", "--strict"]);
    Ok(())
}

#[test]
fn what_is_committed_is_what_is_covered_and_changed() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    TestRunner::new(config).run(&case(), property).unwrap_or_else(|failure| panic!("{failure}"));
}
