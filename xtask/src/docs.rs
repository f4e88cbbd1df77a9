//! `cargo xtask docs`: the generated reference under docs/reference.

use crate::process::{self, Failure, cargo, root};
use std::process::Command;

const REFERENCE: &str = "docs/reference";

/// Writes the reference; with `--check`, fails if that changed anything.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(Failure::usage("usage: cargo xtask docs [--check]")),
    };
    process::run(&mut cargo(&["run", "-q", "-p", "comity", "--", "docs", "reference", "--out", REFERENCE]))?;
    if !check {
        return Ok(());
    }
    let mut compare = Command::new("git");
    compare.args(["diff", "--exit-code", "--", REFERENCE]).current_dir(root());
    let changed = process::run(&mut compare).is_err();
    // `git diff` is silent about files that git does not know yet.
    let new = process::output("git", &["ls-files", "--others", "--exclude-standard", "--", REFERENCE]);
    let new = new.unwrap_or_default();
    if !changed && new.is_empty() {
        return Ok(());
    }
    print!("{new}");
    Err(Failure::new(format!("{REFERENCE} is not current: run `cargo xtask docs` and commit what it wrote")))
}
