//! The hook that agents run before every edit, against a program that does nothing.

use std::path::PathBuf;
use std::process::Command;

use crate::bench::Bench;
use crate::bench::compare::{Comparison, Ratio, in_turns, timed};
use crate::bench::quantity::Unit;
use crate::bench::report::Goal;
use crate::bench::server::Server;
use crate::bench::stage::FREE_PATH;

/// In all rounds together.
const SPAWNS: usize = 250;
const AT_ONCE: usize = 10;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let (Some(empty), Some(hook)) = (beside(bench, "comity-empty"), beside(bench, "comity-hook")) else {
        let why =
            "comity-hook and comity-empty are not beside this program: cargo build --release -p comity-hook";
        bench.report.skipped("spawn to exit, to an empty program", why);
        return Ok(());
    };
    let stage = bench.stage.clone();
    let server = Server::start(&stage, "hook")?;
    let agent = server.join("editor")?;
    let command = |program: &PathBuf| {
        let mut command = stage.command(program, server.home().path());
        command.env("COMITY_TOKEN", &agent.token);
        command
    };
    let mut empty = command(&empty);
    let mut hook = command(&hook);
    hook.args(["check", FREE_PATH]);

    let spawns = bench.scaled(SPAWNS).div_ceil(bench.options.rounds);
    let what =
        |name, goal| Comparison { name, unit: Unit::Nanoseconds, ratio: Ratio::SubjectToReference, goal };
    bench.compare(what("spawn to exit, to an empty program", Some(Goal::AtMost(1.5))), || {
        in_turns(spawns, 1, || timed(|| run_once(&mut empty)), || timed(|| run_once(&mut hook)))
    })?;
    let times = spawns.div_ceil(AT_ONCE).max(3);
    bench.compare(what("10 at once, to 10 empty programs", None), || {
        in_turns(times, 1, || timed(|| run_many(&mut empty)), || timed(|| run_many(&mut hook)))
    })?;
    Ok(())
}

fn beside(bench: &Bench, name: &str) -> Option<PathBuf> {
    Some(bench.stage.program().with_file_name(name)).filter(|path| path.is_file())
}

fn run_once(command: &mut Command) -> Result<(), String> {
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    succeeded(child.wait())
}

fn run_many(command: &mut Command) -> Result<(), String> {
    let spawned = (0..AT_ONCE).map(|_| command.spawn()).collect::<Result<Vec<_>, std::io::Error>>();
    spawned.map_err(|error| error.to_string())?.iter_mut().try_for_each(|child| succeeded(child.wait()))
}

fn succeeded(status: std::io::Result<std::process::ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("it ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}
