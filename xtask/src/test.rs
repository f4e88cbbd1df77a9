//! `cargo xtask test`: every test of the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::process::{self, Failure, cargo, cargo_has};
use crate::tools;

/// Names the file in which tests that cannot run here say so.
const SKIPS: &str = "COMITY_SKIPS";

/// Runs all tests, or those that the arguments select; fails as badly as the worst runner. What was skipped, and why,
/// comes last.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let skips = std::env::temp_dir().join(format!("comity-skips-{}", std::process::id()));
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
    if !cargo_has("nextest") {
        println!("cargo-nextest is not installed: using `cargo test`, which also runs the doc tests");
        let mut runner = cargo(&["test", "--workspace"]);
        runner.env(SKIPS, skips);
        if !selected {
            runner.arg("--no-fail-fast");
        }
        return process::run(runner.args(arguments));
    }

    let mut runner = cargo(&["nextest", "run", "--workspace"]);
    runner.env(SKIPS, skips);
    if selected {
        println!("Doc tests are left out when arguments select tests.");
        return process::run(runner.args(arguments));
    }
    let tests = process::run(runner.arg("--no-fail-fast"));
    let doc_tests = process::run(&mut cargo(&["test", "--doc", "--workspace", "--no-fail-fast"]));
    worst(tests, doc_tests)
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
