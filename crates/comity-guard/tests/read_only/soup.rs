//! Pieces of shell in any order: where the classifier says read-only, real shells run no program that it does not know.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::is_proven;
use super::tree::{Tree, changed};

/// Lines that are made; most of them are not proven, and so not run.
const LINES: usize = 60_000;
/// Lines that have to be run at least, so that the test says something.
const RUN_MIN: usize = 150;

/// Pieces of which lines are made. `harm` is a program that leaves a trace.
const PIECES: [&str; 74] = [
    "harm",
    "harm",
    "harm ",
    " harm",
    "\nharm\n",
    ";harm;",
    "ls ",
    "echo ",
    "cat ",
    "true",
    "echo a",
    "echo 'a'",
    " ",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "\\",
    "\\\n",
    " \\\n",
    "$",
    "$(",
    "${",
    "}",
    "$((",
    "))",
    "((",
    "$'",
    "\\'",
    "#",
    " #",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<<-E\n",
    "<<<",
    "<(",
    ">&-",
    ">&2",
    " >/dev/null",
    "2>&1",
    "[[ ",
    " ]]",
    "[ ",
    " ]",
    "if ",
    "; then ",
    "; fi",
    "for i in ",
    "; do ",
    "; done",
    "case a in a) ",
    ";; esac",
    "f() { ",
    "; f",
    "!",
    "*",
    "{a,b}",
    "x=",
    "$x",
    "\t",
    "~",
];

#[test]
fn shells_run_nothing_that_is_not_seen() {
    let tree = Tree::new();
    let trace = tree.path().join("tmp/trace");
    let programs = tempfile::tempdir().expect("a directory for programs");
    let harm = programs.path().join("harm");
    fs::write(&harm, format!("#!/bin/sh\n: > '{}'\n", trace.display())).expect("a program");
    fs::set_permissions(&harm, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let before = tree.snapshot();
    let run = |shell: &str, line: &str| {
        let path = std::env::var("PATH").expect("a PATH");
        let line = format!("PATH='{}':'{path}'\n{line}", programs.path().display());
        tree.spawned(Command::new(shell).args(["-c", &line]));
    };
    run("bash", "harm");
    assert!(fs::remove_file(&trace).is_ok(), "the program leaves a trace");
    let config = Config { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let lines = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 2..10);
    let mut ran = 0;
    for _ in 0..LINES {
        let line = lines.new_tree(&mut runner).expect("a line").current().concat();
        if !line.contains("harm") || !is_proven(&line) {
            continue;
        }
        ran += 1;
        for shell in ["bash", "sh"] {
            run(shell, &line);
            assert!(!trace.exists(), "{shell} runs what is in {line:?}");
        }
    }
    let changed: Vec<_> = changed(&before, &tree.snapshot())
        .into_iter()
        // The trace that was removed above has touched its directory.
        .filter(|path| *path != tree.path().join("tmp"))
        .collect();
    assert!(changed.is_empty(), "{changed:?}");
    assert!(ran >= RUN_MIN, "only {ran} lines were run");
}
