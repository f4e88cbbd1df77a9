//! `cargo xtask test`: every test of the workspace.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Failure, cargo, cargo_has};
use crate::tools;

/// Names the file in which tests that cannot run here say so.
const SKIPS: &str = "COMITY_SKIPS";
/// Names the program of the Firefox before the current one.
const FIREFOX_BEFORE: &str = "COMITY_FIREFOX_BEFORE";
/// Of the tests of the browser, those of what is the same with any Firefox: words, and whose turn it is.
const WITH_ONE_FIREFOX: [&str; 7] = [
    "crowd::",
    "owners::every_command",
    "pages::contexts_with_names",
    "pages::long_addresses",
    "planning::",
    "queue::",
    "words::",
];

/// Runs all tests, or those that the arguments select; fails as badly as the worst runner. What was skipped, and why,
/// comes last.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let skips = env::temp_dir().join(format!("comity-skips-{}", std::process::id()));
    fs::write(&skips, "").map_err(|error| Failure::new(format!("{}: {error}", skips.display())))?;
    let outcome = run_tests(arguments, &skips);
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    let _ = fs::remove_file(&skips);
    println!("\n{}", shown(&skipped));
    outcome
}

/// What was skipped, once each.
fn shown(skipped: &str) -> String {
    let skipped: BTreeSet<&str> = skipped.lines().collect();
    let lines: String = skipped.iter().map(|line| format!("\n  {line}")).collect();
    format!("== skipped: {}{lines}", skipped.len())
}

fn run_tests(arguments: &[String], skips: &Path) -> Result<(), Failure> {
    tools::report()?;
    // The end-to-end tests start these two as real processes.
    process::run(&mut cargo(&["build", "-p", "comity", "-p", "comity-hook"]))?;

    let selected = !arguments.is_empty();
    let has_nextest = cargo_has("nextest");
    let runner = || {
        let mut runner = cargo(if has_nextest { &["nextest", "run"] } else { &["test"] });
        runner.arg("--workspace").env(SKIPS, skips);
        runner
    };
    if !has_nextest {
        println!("cargo-nextest is not installed: using `cargo test`, which also runs the doc tests");
    }
    if selected {
        println!("Doc tests and the earlier Firefox are left out when arguments select tests.");
        return process::run(runner().args(arguments));
    }
    let mut outcome = process::run(runner().arg("--no-fail-fast"));
    if let Some(before) = earlier_firefox(skips)? {
        outcome = worst(outcome, with_earlier_firefox(runner().arg("--no-fail-fast"), &before));
    }
    if has_nextest {
        let doc_tests = process::run(&mut cargo(&["test", "--doc", "--workspace", "--no-fail-fast"]));
        outcome = worst(outcome, doc_tests);
    }
    outcome
}

/// The program of the Firefox before the current one; without one, its tests are skipped.
fn earlier_firefox(skips: &Path) -> Result<Option<PathBuf>, Failure> {
    let program = env::var_os(FIREFOX_BEFORE).map(PathBuf::from).filter(|program| program.is_file());
    if program.is_none() {
        let line = format!("the tests of the browser with the Firefox before: {FIREFOX_BEFORE} names none\n");
        let written =
            OpenOptions::new().append(true).open(skips).and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(|error| Failure::new(format!("{}: {error}", skips.display())))?;
    }
    Ok(program)
}

/// Runs the tests of the browser once more, with this Firefox as the one on the PATH.
fn with_earlier_firefox(runner: &mut Command, program: &Path) -> Result<(), Failure> {
    let version = process::output(&program.to_string_lossy(), &["--version"]);
    let version = version.ok_or_else(|| Failure::new(format!("{} does not start", program.display())))?;
    println!("\n== the tests of the browser again, with {}", version.trim());
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = program.parent().map(PathBuf::from).into_iter().chain(env::split_paths(&path));
    let path =
        env::join_paths(dirs).map_err(|error| Failure::new(format!("{}: {error}", program.display())))?;
    for test in browser_tests(&process::root())? {
        runner.arg("--test").arg(test);
    }
    runner.arg("--").args(WITH_ONE_FIREFOX.iter().flat_map(|name| ["--skip", name]));
    process::run(runner.env("PATH", path))
}

/// The names of the files with tests of the browser: of its driver, and of the whole program.
fn browser_tests(root: &Path) -> Result<BTreeSet<OsString>, Failure> {
    let dir = root.join("crates/comity-browser/tests");
    let files = fs::read_dir(&dir).map_err(|error| Failure::new(format!("{}: {error}", dir.display())))?;
    let paths = files.filter_map(|file| Some(file.ok()?.path()));
    let tests = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    Ok(tests.filter_map(|path| path.file_stem().map(Into::into)).chain(["browser".into()]).collect())
}

fn worst(one: Result<(), Failure>, other: Result<(), Failure>) -> Result<(), Failure> {
    match (one, other) {
        (Err(one), Err(other)) => {
            Err(Failure { says: format!("{}; {}", one.says, other.says), code: one.code.max(other.code) })
        }
        (one, other) => one.and(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_is_counted_once() {
        assert_eq!(shown(""), "== skipped: 0");
        assert_eq!(shown("b: no tmux\na: no git\nb: no tmux\n"), "== skipped: 2\n  a: no git\n  b: no tmux");
    }

    #[test]
    fn the_worst_exit_code_wins() {
        let check = |one: u8, other: u8, expected: u8| {
            let end = |code: u8| if code == 0 { Ok(()) } else { Err(Failure { says: String::new(), code }) };
            let code = worst(end(one), end(other)).err().map_or(0, |failure| failure.code);
            assert_eq!(code, expected, "{one} and {other}");
        };
        check(0, 0, 0);
        check(100, 0, 100);
        check(0, 101, 101);
        check(100, 101, 101);
        check(101, 100, 101);
    }
}
