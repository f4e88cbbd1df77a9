//! How fast the rules are simulated, every invariant checked after every step.

use std::time::{Duration, Instant};

use crate::failure::SimFailure;
use crate::simulation::Simulation;

/// Steps in the life of one world; then a new one begins with the next seed.
pub const LIFE_STEPS: u64 = 1_000;

/// What a run of the simulator came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Speed {
    pub steps: u64,
    pub worlds: u64,
    /// Seconds it took.
    pub seconds: f64,
}

impl Speed {
    /// Steps in a second, on one core.
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.seconds.max(f64::EPSILON)
    }
}

/// Simulates world after world for this long, from `seed` on.
pub fn steps_per_second(duration: Duration, seed: u64) -> Result<Speed, SimFailure> {
    let start = Instant::now();
    let mut worlds = 0;
    while start.elapsed() < duration {
        Simulation::new(seed.wrapping_add(worlds)).run(LIFE_STEPS)?;
        worlds += 1;
    }
    Ok(Speed { steps: worlds * LIFE_STEPS, worlds, seconds: start.elapsed().as_secs_f64() })
}
