//! Assignment: from the completion that makes a task ready to the answer that the waiting agent gets.

use std::sync::mpsc::sync_channel;
use std::time::Instant;

use serde_json::json;

use crate::Bench;
use crate::quantity::{Unit, per_mille};
use crate::report::Goal;
use crate::server::{BenchAgent, BenchServer, input};

const ROUNDS: usize = 200;
/// A hundred milliseconds.
const GOAL_NS: f64 = 100e6;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let server = BenchServer::start(&bench.stage, "task")?;
    let (mut worker, mut waiter) = (server.join("worker")?, server.join("waiter")?);
    let mut samples = Vec::new();
    for round in 0..bench.scaled(ROUNDS) {
        samples.push(assignment(&mut worker, &mut waiter, round)?);
    }
    let name = |part: &str| format!("from done to the waiting agent, {part}");
    let middle = per_mille(&mut samples, 500);
    bench.measured(&name("p50"), Unit::Nanoseconds, &[middle], Some(Goal::AtMost(GOAL_NS)));
    let slow = per_mille(&mut samples, 990);
    bench.measured(&name("p99"), Unit::Nanoseconds, &[slow], Some(Goal::AtMost(GOAL_NS)));
    Ok(())
}

/// One task waits for another; the other is done, and whoever waits for work gets the first.
fn assignment(worker: &mut BenchAgent, waiter: &mut BenchAgent, round: usize) -> Result<u64, String> {
    let (first, second) = (format!("first{round}"), format!("second{round}"));
    worker.ask("task_add", &input(&json!({ "id": first, "title": "it" }))?)?;
    worker.ask("task_add", &input(&json!({ "id": second, "title": "it", "depends_on": [first] }))?)?;
    worker.ask("task_start", &input(&json!({ "id": first }))?)?;
    let (about_to_wait, waits) = sync_channel(1);
    let answered = std::thread::scope(|scope| {
        let waiting = scope.spawn(move || -> Result<Instant, String> {
            let wait = input(&json!({ "wait": "20s" }))?;
            let _ = about_to_wait.send(());
            waiter.ask("task_claim", &wait)?;
            let answered = Instant::now();
            waiter.ask("task_start", &input(&json!({ "id": second }))?)?;
            waiter.ask("task_done", &input(&json!({ "id": second, "evidence": "measured" }))?)?;
            Ok(answered)
        });
        waits.recv().map_err(|error| error.to_string())?;
        // The log is asked until it has heard of the waiter, so that nothing but the assignment is measured.
        let sought = input(&json!({ "type": "task_sought", "limit": 1_000 }))?;
        while worker.ask("log", &sought)?.get().matches("\"action\":\"task_sought\"").count() <= round {}
        let done = input(&json!({ "id": first, "evidence": "measured" }))?;
        let begun = Instant::now();
        worker.ask("task_done", &done)?;
        let answered = waiting.join().map_err(|_| "the waiter panicked".to_owned())??;
        Ok::<_, String>(answered.duration_since(begun))
    })?;
    Ok(u64::try_from(answered.as_nanos()).unwrap_or(u64::MAX))
}
