//! Ten client processes that lock and unlock paths of their own, against an echo server with as many bytes.

use std::borrow::Cow;

use comity_wire::Request;
use serde_json::json;

use crate::Bench;
use crate::bench_env::FREE_PATH;
use crate::compare::{Comparison, Ratio, Round};
use crate::quantity::Unit;
use crate::raw::echo::{Echo, greeting};
use crate::raw::worker::{WorkerTask, run_all};
use crate::report::Goal;
use crate::server::{BenchServer, input, line, request};

const CLIENTS: usize = 10;
const FOR_MS: usize = 2_000;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let server = BenchServer::start(&stage, "throughput")?;
    let echo = Echo::start(&stage)?;
    let for_ms = bench.scaled(FOR_MS) as u64;
    let (mut raw, mut ours) = (Vec::new(), Vec::new());
    for client in 0..CLIENTS {
        let (echoed, locked) = tasks(&server, &echo, client, for_ms)?;
        raw.push(echoed);
        ours.push(locked);
    }
    let what = Comparison {
        name: "10 clients, to an echo server",
        unit: Unit::PerSecond,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtLeast(0.4)),
    };
    let mut failed = 0;
    bench.compare(what, || {
        let reference = run_all(&stage, &raw)?;
        let subject = run_all(&stage, &ours)?;
        failed += subject.failed;
        let rate = |answered: u64| answered as f64 * 1_000.0 / for_ms as f64;
        Ok(Round { reference: rate(reference.answered), subject: rate(subject.answered) })
    })?;
    bench.measured("requests that failed", Unit::Count, &[failed as f64], Some(Goal::AtMost(0.0)));
    Ok(())
}

/// The same work for the echo server and for ours.
fn tasks(
    server: &BenchServer,
    echo: &Echo,
    client: usize,
    for_ms: u64,
) -> Result<(WorkerTask, WorkerTask), String> {
    let mut agent = server.join(&format!("client{client}"))?;
    let paths = input(&json!({ "paths": [format!("src/d1/own{client}.rs")] }))?;
    let free = input(&json!({ "path": FREE_PATH }))?;
    let frames = [agent.frame_bytes("lock", &paths)?, agent.frame_bytes("unlock", &paths)?];
    let ask = |op| line(&Request { id: 1, ..request(op, &paths, &agent.cwd) });
    let questions = vec![ask("lock")?, ask("unlock")?];
    let introduction =
        Request { id: 1, token: Some(Cow::Borrowed(&*agent.token)), ..request("check", &free, &agent.cwd) };
    let locked = WorkerTask {
        socket: server.home().socket(),
        greeting: line(&introduction)?,
        is_answered: true,
        questions: questions.clone(),
        for_ms,
        mailbox: None,
    };
    let echoed = WorkerTask {
        socket: echo.socket().into(),
        greeting: String::from_utf8_lossy(&greeting(&frames)).into_owned(),
        is_answered: false,
        questions,
        for_ms,
        mailbox: None,
    };
    Ok((echoed, locked))
}
