//! A command as a process: what a letter costs whoever has no connection, from start to exit.

use std::process::Command;

use super::hook::{beside, succeeded};
use super::mail::{MailReader, TEXT};
use crate::Bench;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::quantity::Unit;
use crate::raw::commit::RawCommits;
use crate::report::Goal;
use crate::server::BenchServer;

const SPAWNS: usize = 300;
const NAME: &str = "comity mail send, to an empty program and a durable commit";

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let Some(empty) = beside(bench, "comity-empty") else {
        bench.report.skipped(NAME, "comity-empty is not beside this program: cargo xtask bench");
        return Ok(());
    };
    let stage = bench.stage.clone();
    let server = BenchServer::start(&stage, "command")?;
    let reader = MailReader::start(server.join("boss")?);
    let sender = server.join("ann")?;
    let raw = RawCommits::open_durable(stage.dir())?;
    let mut empty = stage.command(&empty, server.home().path());
    let mut send = stage.command(stage.program(), server.home().path());
    send.env("COMITY_TOKEN", &sender.token).args(["mail", "send", "boss", "--message", TEXT]);
    let ran = |command: &mut Command| succeeded(command.status());
    let what = Comparison {
        name: NAME,
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(2.5)),
    };
    let spawns = bench.scaled(SPAWNS).div_ceil(bench.options.rounds);
    bench.compare(what, || {
        in_turns(
            spawns,
            1,
            || timed(|| ran(&mut empty).and_then(|()| raw.commit())),
            || timed(|| ran(&mut send)),
        )
    })?;
    reader.stop().map(drop)
}
