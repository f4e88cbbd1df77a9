//! A failed simulation: what was found, after which steps, and how to see it again.

use std::fmt;

/// What a simulation found, and how to find it again.
#[derive(Clone, PartialEq, Debug)]
pub struct SimFailure {
    /// The seed of the simulation.
    pub seed: u64,
    /// The step after which it was found, from 1.
    pub step: u64,
    pub problem: String,
    /// The last steps, the failed one last.
    pub last_steps: Vec<String>,
}

impl fmt::Display for SimFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SimFailure { seed, step, problem, last_steps } = self;
        writeln!(f, "seed {seed} fails at step {step}: {problem}")?;
        writeln!(f, "the last {} steps:", last_steps.len())?;
        last_steps.iter().try_for_each(|step| writeln!(f, "  {step}"))?;
        write!(f, "replay it with: SEED={seed} cargo test -p comity-sim seeds -- --nocapture")
    }
}

impl std::error::Error for SimFailure {}
