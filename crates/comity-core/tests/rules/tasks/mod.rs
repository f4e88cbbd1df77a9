//! Tasks by example: each test is a short script and what comes of it.

mod assign;
mod claim;
mod declare;
mod generated;
mod history;
mod limits;
mod steer;
pub(crate) mod words;

use comity_core::invariants;
use comity_core::snapshot::Snapshot;
use comity_core::world::{Timeouts, World};
use expect_test::Expect;

use crate::script::Stage;

/// Runs a script and compares what came of it; the log folds again to the same world.
fn check(script: &str, expect: Expect) {
    let mut stage = Stage::default();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        words::play(&mut stage, line);
        invariants::check(&stage.world).unwrap_or_else(|wrong| panic!("after `{line}`: {wrong}"));
    }
    let mut again = World::new(Timeouts::default());
    stage.log.iter().for_each(|record| again.apply(record));
    assert_eq!(Snapshot::of(&again), Snapshot::of(&stage.world), "the log folds to the same world");
    expect.assert_eq(&stage.said.join("\n"));
}
