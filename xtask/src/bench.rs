//! `cargo xtask bench`: the figures, measured on the release programs.

use crate::build::{self, target_dir};
use crate::process::{self, Failure, cargo};

/// Builds what is shipped and what measures it, and hands its arguments to that.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    build::run(&[])?;
    process::run(&mut cargo(&["build", "--release", "-p", "comity-bench"]))?;
    build::empty()?;
    let mut bench = std::process::Command::new(target_dir().join("release/comity-bench"));
    process::run(bench.args(arguments))
}
