//! The real rules under many seeds; `SEED=123 cargo test -p comity-sim seeds -- --nocapture` follows one of them.

use comity_sim::{LIFE_STEPS, Simulation};

/// Sized so that it takes some seconds in a debug build.
const SEEDS: u64 = 40;

#[test]
fn seeds() {
    if let Some(seed) = std::env::var("SEED").ok().and_then(|text| text.parse().ok()) {
        let mut simulation = Simulation::new(seed);
        simulation.follow = Some(|step| println!("{step}"));
        return simulation.run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
    }
    for seed in 0..SEEDS {
        Simulation::new(seed).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn a_seed_is_one_story() {
    let told = |seed| {
        let mut simulation = Simulation::new(seed);
        simulation.run(300).unwrap_or_else(|failure| panic!("{failure}"));
        simulation.last_steps()
    };
    assert_eq!(told(7), told(7));
    assert_ne!(told(7), told(8));
}
