//! The seeded simulator: agents, the human, time and restarts act at random on the rules, and after every step
//! the invariants are checked by the rules' own list and by a naive model that reads the records alone.
//!
//! Everything follows from the seed, so a failure can be seen again: `SEED=123 cargo test -p comity-sim`.

mod chance;
mod failure;
mod news;
mod oracle;
mod restart;
mod rng;
mod rules;
mod sim_paths;
mod simulation;
mod speed;

pub use failure::SimFailure;
pub use rng::Rng;
pub use rules::{RealRules, Rules};
pub use simulation::Simulation;
pub use speed::{LIFE_STEPS, Speed, steps_per_second};
