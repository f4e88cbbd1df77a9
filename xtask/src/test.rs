//! `cargo xtask test`: every test of the workspace.

use crate::process::{self, Failure, cargo, cargo_has};
use crate::tools;

/// Runs all tests, or those that the arguments select; fails as badly as the worst runner.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    tools::report()?;
    // The end-to-end tests start these two as real processes.
    process::run(&mut cargo(&["build", "-p", "comity", "-p", "comity-hook"]))?;

    let selected = !arguments.is_empty();
    if !cargo_has("nextest") {
        println!("cargo-nextest is not installed: using `cargo test`, which also runs the doc tests");
        let mut runner = cargo(&["test", "--workspace"]);
        if !selected {
            runner.arg("--no-fail-fast");
        }
        return process::run(runner.args(arguments));
    }

    let mut runner = cargo(&["nextest", "run", "--workspace"]);
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
