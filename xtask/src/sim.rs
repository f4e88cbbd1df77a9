//! `cargo xtask sim`: the seeded simulator, at full speed; with `--models`, every order of what can wait for what.

use crate::process::{self, Failure, cargo};

/// Hands its arguments to the simulator, which knows their meaning.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments == ["--models"] {
        let all = ["test", "--release", "-p", "comity-sim", "--test", "model_waits"];
        return process::run(cargo(&all).env("COMITY_WHOLE_GRAPH", "1"));
    }
    let mut simulator = cargo(&["run", "--release", "-p", "comity-sim", "--"]);
    process::run(simulator.args(arguments))
}
