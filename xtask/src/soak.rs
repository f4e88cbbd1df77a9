//! `cargo xtask soak`: a real server under load for minutes or hours, killed again and again.

use crate::build::target_dir;
use crate::process::{self, Failure, cargo};

/// Hands its arguments to the harness, which knows their meaning, with the program as it is shipped.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    process::run(&mut cargo(&[
        "build",
        "--release",
        "-p",
        "comity",
        "-p",
        "comity-hook",
        "-p",
        "comity-soak",
    ]))?;
    let release = target_dir().join("release");
    let mut soak = std::process::Command::new(release.join("comity-soak"));
    process::run(soak.arg("--comity").arg(release.join("comity")).args(arguments))
}
