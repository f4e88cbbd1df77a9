//! `comity-sim [--seconds N] [--seed S] [--steps N]`: simulates the rules until the time is up or something is wrong.

use std::process::ExitCode;
use std::time::Duration;

use comity_sim::{SimFailure, Simulation, steps_per_second};

const USAGE: &str = "usage: comity-sim [--seconds N] [--seed S] [--steps N]
  --seconds N  simulate world after world for N seconds (10)
  --seed S     begin with this seed (1)
  --steps N    take N steps in the one world of the seed instead";

struct SimOptions {
    seconds: f64,
    seed: u64,
    steps: Option<u64>,
}

fn main() -> ExitCode {
    let Some(wishes) = wishes(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match simulate(&wishes) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn simulate(wishes: &SimOptions) -> Result<String, SimFailure> {
    let SimOptions { seconds, seed, steps } = *wishes;
    if let Some(steps) = steps {
        Simulation::new(seed).run(steps)?;
        return Ok(format!("seed {seed}: {steps} steps, nothing wrong"));
    }
    let speed = steps_per_second(Duration::from_secs_f64(seconds), seed)?;
    let per_second = speed.steps_per_second();
    Ok(format!(
        "{} steps in {} worlds from seed {seed}, nothing wrong: {per_second:.0} steps a second",
        speed.steps, speed.worlds
    ))
}

fn wishes(mut arguments: impl Iterator<Item = String>) -> Option<SimOptions> {
    let mut wishes = SimOptions { seconds: 10.0, seed: 1, steps: None };
    while let Some(name) = arguments.next() {
        let value = arguments.next()?;
        match name.as_str() {
            "--seconds" => {
                wishes.seconds = value.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds))?;
            }
            "--seed" => wishes.seed = value.parse().ok()?,
            "--steps" => wishes.steps = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some(wishes)
}
