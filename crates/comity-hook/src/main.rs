//! `comity-hook`: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    comity_hook::run(std::env::args_os().skip(1))
}
