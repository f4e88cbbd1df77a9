//! A test that cannot run here is counted, and says why: `cargo xtask test` shows them all at its end.

use std::fs::File;
use std::io::Write;

/// Names the file in which a run collects what was skipped, a line each.
const SKIPS: &str = "COMITY_SKIPS";

/// Says that a test, or a part of it, is left out.
pub fn skip(test: &str, why: &str) {
    let line = format!("{test}: {why}\n");
    eprint!("SKIPPED {line}");
    let file = std::env::var_os(SKIPS).map(|file| File::options().append(true).open(file));
    if let Some(Ok(mut file)) = file {
        // One write, so that lines of tests that end together stay whole.
        let _full = file.write_all(line.as_bytes());
    }
}
