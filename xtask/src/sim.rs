//! `cargo xtask sim`: the seeded simulator, at full speed.

use crate::process::{self, Failure, cargo};

/// Hands its arguments to the simulator, which knows their meaning.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut simulator = cargo(&["run", "--release", "-p", "comity-sim", "--"]);
    process::run(simulator.args(arguments))
}
