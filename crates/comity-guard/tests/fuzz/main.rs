//! A differential fuzz run: lines that the classifier calls read-only, in real shells, under strace.
//!
//! `cargo xtask fuzz-shell --lines 1000000` runs it for long; here a fixed number of seeds takes seconds.

mod grammar;
mod programs;
mod random;
mod sandbox;
mod shells;
mod watch;

use std::collections::HashSet;
use std::io::Write;
use std::time::Instant;

use comity_guard::{Classification, classify};
use sandbox::Sandbox;
use shells::SHELLS;

/// Lines of the run in CI.
const LINES: u64 = 4_000;
/// The first seed; line by line it goes up by one.
const SEED: u64 = 1;
/// Lines that are run under one strace.
const BATCH: usize = 150;

fn is_proven(line: &str) -> bool {
    matches!(classify(line), Classification::ReadOnly { .. })
}

/// What a run has come to.
#[derive(Default)]
struct Outcome {
    lines: u64,
    proven: usize,
    runs: usize,
    escapes: Vec<(u64, watch::Escape)>,
}

/// Makes lines from seeds, and runs those that are proven.
fn fuzz(first: u64, lines: u64, progress: bool, proves: impl Fn(&str) -> bool) -> Outcome {
    let sandbox = Sandbox::new();
    let started = Instant::now();
    let mut outcome = Outcome::default();
    let mut seen = HashSet::new();
    let mut batch: Vec<(u64, String)> = Vec::new();
    for seed in first..first + lines {
        let line = grammar::line(seed);
        outcome.lines += 1;
        if proves(&line) && seen.insert(line.clone()) {
            batch.push((seed, line));
        }
        if batch.len() == BATCH || (seed + 1 == first + lines && !batch.is_empty()) {
            outcome.proven += batch.len();
            let texts: Vec<&str> = batch.iter().map(|(_, line)| line.as_str()).collect();
            let (runs, escapes) = watch::run(&sandbox, &texts);
            outcome.runs += runs;
            for escape in escapes {
                let seed = batch.iter().find(|(_, line)| *line == escape.line).map_or(0, |(seed, _)| *seed);
                if progress {
                    println!(
                        "escape: --seed {seed} --lines 1\n  {:?}\n  {}: {}",
                        escape.line, escape.shell, escape.call
                    );
                }
                outcome.escapes.push((seed, escape));
            }
            batch.clear();
            if progress {
                let seconds = started.elapsed().as_secs();
                println!(
                    "{} lines, {} proven, {} runs, {} escapes, {seconds} s",
                    outcome.lines,
                    outcome.proven,
                    outcome.runs,
                    outcome.escapes.len()
                );
                std::io::stdout().flush().expect("it is printed");
            }
        }
    }
    outcome
}

/// Says what cannot be tried here.
fn can_run() -> bool {
    for shell in SHELLS {
        if let Some(missing) = shell.missing() {
            println!("skipped: {} ({missing} is not installed)", shell.name);
        }
    }
    let can_watch = watch::can_watch();
    if !can_watch {
        println!("skipped: strace cannot watch a process here");
    }
    can_watch
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn what_is_proven_only_reads() {
    if !can_run() {
        return;
    }
    let lines = number("COMITY_FUZZ_LINES");
    let outcome =
        fuzz(number("COMITY_FUZZ_SEED").unwrap_or(SEED), lines.unwrap_or(LINES), lines.is_some(), is_proven);
    println!(
        "classifier: {} lines fuzzed, {} proven, {} runs in real shells, {} escapes",
        outcome.lines,
        outcome.proven,
        outcome.runs,
        outcome.escapes.len()
    );
    assert!(outcome.escapes.is_empty(), "{:#?}", outcome.escapes);
}

/// Runs the jobs of a batch; started under strace by the tests above.
#[test]
#[ignore = "a part of the other tests"]
fn driver() {
    let Some(root) = std::env::var_os(watch::JOBS) else { return };
    watch::drive(&Sandbox::at(root.into()));
}
