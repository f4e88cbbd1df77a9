//! How fast the simulator takes its steps, every invariant checked after each.

use std::time::Duration;

use crate::Bench;
use crate::quantity::Unit;
use crate::report::Goal;

const FOR_MS: usize = 2_000;
const SEED: u64 = 1;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let span = Duration::from_millis(bench.scaled(FOR_MS) as u64);
    let mut rates = Vec::new();
    for _ in 0..bench.options.rounds {
        let speed = comity_sim::steps_per_second(span, SEED)
            .map_err(|failure| format!("an invariant broke: {failure}"))?;
        rates.push(speed.steps_per_second());
    }
    bench.measured("steps of the simulator", Unit::PerSecond, &rates, Some(Goal::AtLeast(100_000.0)));
    Ok(())
}
