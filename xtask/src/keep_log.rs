//! `cargo xtask keep-log`: keeps a log of this release, which every later one has to read.

use crate::process::{self, Failure, cargo};

/// Plays the scenario that has every operation on a real server, and keeps its log.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::usage("usage: cargo xtask keep-log"));
    }
    let scenario = "every_operation_works_and_some_are_refused";
    let mut test = cargo(&["test", "-p", "comity", "--test", "catalog", "--", "--exact", scenario]);
    let to =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/comity/tests/old_logs/", env!("CARGO_PKG_VERSION"));
    process::run(test.env("COMITY_KEEP_LOG", to))
}
