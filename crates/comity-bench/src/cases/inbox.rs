//! The inbox with much in it, against one with little: each as a command, from start to exit.

use std::process::Command;

use serde_json::json;

use super::hook::succeeded;
use crate::Bench;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchServer, input};

const FEW: usize = 10;
const MANY: usize = 1_000;
const SPAWNS: usize = 300;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let mut servers = Vec::new();
    let mut commands: Vec<Command> = Vec::new();
    for (name, waiting) in [("inbox-few", FEW), ("inbox-many", MANY)] {
        let server = BenchServer::start(&stage, name)?;
        let mut lead = server.join("lead")?;
        // Tasks that failed wait for who declared them.
        for number in 0..waiting {
            let id = format!("task-{number}");
            lead.ask("task_add", &input(&json!({ "id": id, "title": "it" }))?)?;
            lead.ask("task_start", &input(&json!({ "id": id }))?)?;
            lead.ask("task_fail", &input(&json!({ "id": id, "reason": "measured" }))?)?;
        }
        let listed = lead.ask("inbox", &input(&json!({}))?)?;
        if !listed.get().contains(&format!("\"count\":{waiting}")) {
            return Err(format!("{waiting} things should wait: {}", listed.get()));
        }
        let mut command = stage.command(stage.program(), server.home().path());
        command.env("COMITY_TOKEN", &lead.token).args(["inbox", "list"]);
        commands.push(command);
        servers.push(server);
    }
    let [few, many] = &mut commands[..] else { return Err("there are two".into()) };
    let what = Comparison {
        name: "comity inbox with 1,000 entries, to one with 10",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(2.0)),
    };
    let spawns = bench.scaled(SPAWNS).div_ceil(bench.options.rounds);
    bench.compare(what, || {
        in_turns(
            spawns,
            1,
            || timed(|| succeeded(few.output().map(|ran| ran.status))),
            || timed(|| succeeded(many.output().map(|ran| ran.status))),
        )
    })?;
    Ok(())
}
