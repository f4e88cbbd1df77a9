//! The classifier of read-only commands: lines that it proves, in real shells, and how many do more than read.

use crate::Bench;
use crate::quantity::Unit;
use crate::report::Goal;

/// Lines of one round; each round has lines of its own. `cargo xtask fuzz-shell` runs millions.
const LINES: usize = 400;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    if let Some(problem) = comity_fuzz::problem() {
        bench.report.skipped("lines that do more than read", &problem);
        return Ok(());
    }
    let lines = (bench.scaled(LINES) * bench.options.rounds) as u64;
    let outcome = comity_fuzz::fuzz(1, lines, comity_fuzz::is_proven, |_| ());
    bench.measured("lines fuzzed", Unit::Count, &[outcome.lines as f64], None);
    bench.measured("of them proven to only read", Unit::Count, &[outcome.proven as f64], None);
    bench.measured("of them escaped", Unit::Count, &[outcome.escapes.len() as f64], Some(Goal::AtMost(0.0)));
    Ok(())
}
