//! `comity bench`: becomes the program that measures, where that is installed.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use super::output::{self, OutputFormat};

const PROGRAM: &str = "comity-bench";

/// Becomes the program next to this one, otherwise the one on the PATH; returns only if there is none.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    let program = beside.filter(|program| program.is_file()).unwrap_or_else(|| PROGRAM.into());
    let error = Command::new(&program).args(arguments).exec();
    let problem = match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("{PROGRAM} is not installed; in a checkout of Comity, run: cargo xtask bench")
        }
        _ => format!("{} can't be started: {error}", program.display()),
    };
    output::fault(OutputFormat::Text, &problem)
}
