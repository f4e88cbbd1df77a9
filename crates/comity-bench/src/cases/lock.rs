//! One lock over the socket, against a ping-pong of as many bytes and one commit of one row.

use serde_json::json;

use crate::Bench;
use crate::bench_env::FREE_PATH;
use crate::compare::{Comparison, Ratio, Round, in_turns, timed};
use crate::machine::OneCore;
use crate::quantity::{Unit, per_mille};
use crate::raw::commit::RawCommits;
use crate::raw::echo::{Echo, PingPong};
use crate::report::Goal;
use crate::server::{BenchServer, input};

const SAMPLES: usize = 2_000;
const CHUNK: usize = 50;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let server = BenchServer::start(&bench.stage, "lock")?;
    let mut agent = server.join("writer")?;
    let lock = input(&json!({ "paths": [FREE_PATH], "reason": "measured" }))?;
    let unlock = input(&json!({ "paths": [FREE_PATH] }))?;
    let frame = agent.frame_bytes("lock", &lock)?;
    agent.ask("unlock", &unlock)?;
    let echo = Echo::start(&bench.stage)?;
    let mut raw = echo.open(frame)?;
    let commits = RawCommits::open(bench.stage.dir())?;

    let samples = bench.scaled(SAMPLES);
    let mut parts = Vec::new();
    let mut round = |raw: &mut PingPong| {
        let mut pings = Vec::new();
        let round = in_turns(
            samples,
            CHUNK,
            || {
                pings.push(timed(|| raw.play())?);
                timed(|| commits.commit())
            },
            || {
                let locked = timed(|| agent.ask("lock", &lock))?;
                agent.ask("unlock", &unlock)?;
                Ok(locked)
            },
        )?;
        let ping = per_mille(&mut pings, 500);
        parts.push((ping, round.reference));
        Ok(Round { reference: ping + round.reference, subject: round.subject })
    };
    let what =
        |name, goal| Comparison { name, unit: Unit::Nanoseconds, ratio: Ratio::SubjectToReference, goal };
    let goal = Some(Goal::AtMost(2.0));
    bench.compare(what("hot, to a ping-pong and a commit, wherever they run", goal), || round(&mut raw))?;
    {
        // Like is compared with like: see the check.
        let _kept = OneCore::of(&[server.pid(), echo.pid()])?;
        let mut raw = echo.open(frame)?;
        bench.compare(what("the same on one core", goal), || round(&mut raw))?;
    }
    let side = |part: fn(&(f64, f64)) -> f64| parts.iter().map(part).collect::<Vec<f64>>();
    bench.measured("the ping-pong alone", Unit::Nanoseconds, &side(|(ping, _)| *ping), None);
    bench.measured("the commit alone", Unit::Nanoseconds, &side(|(_, commit)| *commit), None);
    Ok(())
}
