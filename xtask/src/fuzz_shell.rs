//! `cargo xtask fuzz-shell`: generated command lines that are called read-only, in real shells, watched for anything else.

use crate::process::{self, Failure, cargo};

/// Hands its arguments to the fuzz run, which knows their meaning.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut fuzz = cargo(&["run", "--release", "-p", "comity-fuzz", "--"]);
    process::run(fuzz.args(arguments))
}
