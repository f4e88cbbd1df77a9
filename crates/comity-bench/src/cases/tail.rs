//! The slowest of 40,000 writes over the socket, against their middle.

use serde_json::json;

use crate::Bench;
use crate::bench_env::FREE_PATH;
use crate::compare::{Comparison, Ratio, Round, timed};
use crate::quantity::{Spread, Unit, per_mille};
use crate::raw::echo::Echo;
use crate::report::{Goal, GoalResult};
use crate::server::{BenchServer, input};

const WRITES: usize = 40_000;
const CHUNK: usize = 200;
/// If a ping-pong's slowest is at least this part of ours, it is the machine that stalls.
const MACHINE_SHARE: f64 = 0.5;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let server = BenchServer::start(&bench.stage, "tail")?;
    let mut agent = server.join("writer")?;
    let paths = input(&json!({ "paths": [FREE_PATH] }))?;
    let frame = agent.frame_bytes("lock", &paths)?;
    agent.ask("unlock", &paths)?;
    let echo = Echo::start(&bench.stage)?;
    let mut raw = echo.open(frame)?;
    let writes = bench.scaled(WRITES);
    let mut machine = Vec::new();
    let what = Comparison {
        name: "p99.9 of writes, to their p50",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(20.0)),
    };
    let mut figure = bench.judge(what, || {
        let (mut pings, mut samples) = (Vec::new(), Vec::new());
        while samples.len() < writes {
            for _ in 0..CHUNK {
                pings.push(timed(|| raw.play())?);
            }
            for _ in 0..CHUNK / 2 {
                samples.push(timed(|| agent.ask("lock", &paths))?);
                samples.push(timed(|| agent.ask("unlock", &paths))?);
            }
        }
        machine.push(Round { reference: per_mille(&mut pings, 500), subject: per_mille(&mut pings, 999) });
        Ok(Round { reference: per_mille(&mut samples, 500), subject: per_mille(&mut samples, 999) })
    })?;
    let slowest = |rounds: &[Round]| {
        let slow: Vec<f64> = rounds.iter().map(|round| round.subject).collect();
        Spread::of(&slow)
    };
    let (ours, raw) = (slowest(&figure.rounds), slowest(&machine));
    if figure.verdict == GoalResult::Missed && raw.median > ours.median * MACHINE_SHARE {
        figure.verdict = GoalResult::Inconclusive("a ping-pong stalls about as long".into());
    }
    bench.report.add(figure);
    bench.measured("p99.9 of a ping-pong meanwhile", Unit::Nanoseconds, &[raw.median], None);
    Ok(())
}
