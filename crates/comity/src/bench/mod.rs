//! The figures, measured.

use std::process::ExitCode;

/// Runs the benchmarks.
pub(crate) fn run(_: &[String]) -> ExitCode {
    ExitCode::FAILURE
}
