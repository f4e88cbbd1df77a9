//! May I touch this path? Over an open connection, against a ping-pong of as many bytes.

use std::time::Duration;

use serde_json::json;

use crate::Bench;
use crate::bench_env::FREE_PATH;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::machine::{self, OneCore};
use crate::quantity::Unit;
use crate::raw::echo::Echo;
use crate::report::Goal;
use crate::server::{BenchServer, input};

const FEW_LOCKS: usize = 10;
const MANY_LOCKS: usize = 100_000;
const HOT_SAMPLES: usize = 5_000;
const IDLE_SAMPLES: usize = 150;
const CHUNK: usize = 100;
/// What agents do most of the time between two questions.
const PAUSE: Duration = Duration::from_millis(5);

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let few = BenchServer::start(&bench.stage, "few")?;
    few.fill(FEW_LOCKS)?;
    let path = input(&json!({ "path": FREE_PATH }))?;
    let mut agent = few.join("asker")?;
    let echo = Echo::start(&bench.stage)?;
    let frame = agent.frame_bytes("check", &path)?;
    let mut raw = echo.open(frame)?;

    let hot = bench.scaled(HOT_SAMPLES);
    let latency =
        |name, goal| Comparison { name, unit: Unit::Nanoseconds, ratio: Ratio::SubjectToReference, goal };
    bench.compare(latency("hot, to a ping-pong, wherever they run", Some(Goal::AtMost(2.0))), || {
        in_turns(hot, CHUNK, || timed(|| raw.play()), || timed(|| agent.ask("check", &path)))
    })?;
    {
        // Where the scheduler puts whom decides much; on one core it is the same for both. The goal holds for either.
        let _kept = OneCore::of(&[few.pid(), echo.pid()])?;
        let mut raw = echo.open(frame)?;
        bench.compare(latency("hot, to a ping-pong, on one core", Some(Goal::AtMost(2.0))), || {
            in_turns(hot, CHUNK, || timed(|| raw.play()), || timed(|| agent.ask("check", &path)))
        })?;
    }
    let idle = bench.scaled(IDLE_SAMPLES);
    bench.compare(latency("5 ms idle, to a ping-pong", None), || {
        in_turns(
            idle,
            1,
            || rested(|| timed(|| raw.play())),
            || rested(|| timed(|| agent.ask("check", &path))),
        )
    })?;

    let many = BenchServer::start(&bench.stage, "many")?;
    many.fill(MANY_LOCKS)?;
    let mut among_many = many.join("asker")?;
    let _kept = OneCore::of(&[few.pid(), many.pid()])?;
    bench.compare(latency("100,000 locks, to 10 locks", Some(Goal::AtMost(1.3))), || {
        in_turns(
            hot,
            CHUNK,
            || timed(|| agent.ask("check", &path)),
            || timed(|| among_many.ask("check", &path)),
        )
    })?;
    let memory = machine::resident_bytes(many.pid())?;
    bench.measured("memory of the server with 100,000 locks", Unit::Bytes, &[memory], None);
    Ok(())
}

fn rested<T>(work: impl FnOnce() -> T) -> T {
    std::thread::sleep(PAUSE);
    work()
}
