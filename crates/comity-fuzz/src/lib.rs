//! A differential fuzz run: lines that the classifier calls read-only, in real shells, watched for anything else.

mod filter;
mod grammar;
mod programs;
mod random;
mod sandbox;
mod shells;
mod watch;

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use grammar::{line, proven_commands};
use sandbox::Sandbox;
pub use shells::{RealShell, SHELLS};
pub use watch::{Escape, problem};

/// Proven lines that are run together.
const BATCH: usize = 1_500;
/// Lines that one process of a shell runs.
const SCRIPT_LINES: usize = 75;
/// How many lines that may never end are run at a time, for each processor.
const SLOW_AT_ONCE: usize = 8;

/// What a run has come to.
#[derive(Default)]
pub struct FuzzTotals {
    /// Lines that were made, and how many of them were proven.
    pub lines: u64,
    pub proven: usize,
    /// How often a line was run by a shell.
    pub runs: usize,
    /// Each with the seed of its line.
    pub escapes: Vec<(u64, Escape)>,
}

/// Whether the classifier proves that a line only reads.
pub fn is_proven(line: &str) -> bool {
    matches!(comity_guard::classify(line), comity_guard::Classification::ReadOnly { .. })
}

/// Makes lines from seeds, the first of which is given, and runs those that are proven; tells how far it is.
pub fn fuzz(
    first: u64,
    lines: u64,
    proves: impl Fn(&str) -> bool,
    mut progress: impl FnMut(&FuzzTotals),
) -> FuzzTotals {
    let sandbox = Sandbox::new();
    let mut outcome = FuzzTotals::default();
    let mut seeds: HashMap<String, u64> = HashMap::new();
    let mut batch = Vec::new();
    for seed in first..first + lines {
        let line = grammar::line(seed);
        outcome.lines += 1;
        if proves(&line) && !seeds.contains_key(&line) {
            batch.push(line.clone());
            seeds.insert(line, seed);
        }
        if batch.len() == BATCH || seed + 1 == first + lines {
            let (runs, escapes) = run_in(&sandbox, &batch);
            outcome.proven += batch.len();
            outcome.runs += runs;
            let with_seed = |escape: Escape| (seeds.get(&escape.line).copied().unwrap_or_default(), escape);
            outcome.escapes.extend(escapes.into_iter().map(with_seed));
            batch.clear();
            progress(&outcome);
        }
    }
    outcome
}

/// Runs each line with each shell; gives how often one was run, and the escapes.
pub fn run(lines: &[String]) -> (usize, Vec<Escape>) {
    run_in(&Sandbox::new(), lines)
}

/// Lines for one process of a shell.
type ShellLines<'a> = (&'static RealShell, Vec<&'a str>);

fn run_in(sandbox: &Sandbox, lines: &[String]) -> (usize, Vec<Escape>) {
    let (mut slow, mut quick): (Vec<ShellLines<'_>>, Vec<ShellLines<'_>>) = (Vec::new(), Vec::new());
    for shell in SHELLS.iter().filter(|shell| shell.missing().is_none()) {
        let suited = lines.iter().map(String::as_str).filter(|line| shell.suits(line));
        let (joined, alone): (Vec<&str>, Vec<&str>) = suited.partition(|line| shell.joins(line));
        slow.extend(alone.into_iter().map(|line| (shell, vec![line])));
        quick.extend(joined.chunks(SCRIPT_LINES).map(|lines| (shell, lines.to_vec())));
    }
    let runs = slow.iter().chain(&quick).map(|(_, lines)| lines.len()).sum();
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let escapes = Mutex::new(Vec::new());
    let next = [AtomicUsize::new(0), AtomicUsize::new(0)];
    thread::scope(|scope| {
        for (which, (jobs, workers)) in
            [(&slow, processors * SLOW_AT_ONCE), (&quick, processors)].into_iter().enumerate()
        {
            let (next, escapes) = (&next[which], &escapes);
            for _ in 0..workers.min(jobs.len()) {
                scope.spawn(move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some((shell, lines)) = jobs.get(at) else { return };
                        let name = format!("{}-{which}-{at}", std::process::id());
                        let found = shell.run(sandbox, &name, lines);
                        escapes.lock().expect("nobody has failed").extend(found);
                    }
                });
            }
        }
    });
    (runs, escapes.into_inner().expect("nobody has failed"))
}
