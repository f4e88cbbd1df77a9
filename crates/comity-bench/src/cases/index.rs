//! The index of locked paths: it finds what a naive scan finds, and does not slow down with the number of locks.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use comity_core::paths::{CaseRule, PathPattern, PatternIndex, overlaps};
use comity_sim::Rng;

use crate::Bench;
use crate::bench_env::{FREE_PATH, locked_path};
use crate::quantity::Unit;
use crate::report::Goal;

const PAIRS: usize = 1_000_000;
const PATHS_PER_SET: usize = 20;
const LOCKS_PER_SET_MAX: usize = 32;
const SEED: u64 = 0xc0417;
const LOOKS: usize = 200_000;
/// Globs in one directory, to see what a crowd in one place costs.
const CROWD: usize = 1_000;

const NAMES: [&str; 8] = ["a", "b", "ab", "ba", "c", "abc", "src", "mod.rs"];
const PIECES: [&str; 16] = [
    "a", "b", "ab", "c", "src", "mod.rs", "*", "?", "a*", "*b", "[ab]", "[!a]", "**", "{a,b}", "{ab,c*}",
    "*.rs",
];

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let sets = bench.scaled(PAIRS) / PATHS_PER_SET;
    let mut chance = Rng::new(SEED);
    let (mut mismatches, mut pairs) = (0_usize, 0_usize);
    let start = Instant::now();
    for _ in 0..sets {
        let (looked, wrong) = one_set(&mut chance)?;
        pairs += looked;
        mismatches += wrong;
    }
    let rate = pairs as f64 / start.elapsed().as_secs_f64();
    let name = format!("mismatches with a naive scan in {pairs} pairs");
    bench.measured(&name, Unit::Count, &[mismatches as f64], Some(Goal::AtMost(0.0)));
    bench.measured("pairs compared", Unit::PerSecond, &[rate], None);
    for count in [10, 1_000, 100_000] {
        let locks = (0..count).map(locked_path);
        let times = look(bench, locks, FREE_PATH)?;
        bench.measured(&format!("one look among {count} locks"), Unit::Nanoseconds, &times, None);
    }
    let crowd = (0..CROWD).map(|n| format!("src/d0/made{n}_*.rs"));
    let times = look(bench, crowd, FREE_PATH)?;
    bench.measured(
        &format!("one look among {CROWD} globs in one directory"),
        Unit::Nanoseconds,
        &times,
        None,
    );
    Ok(())
}

/// Compares index and scan for some paths against one set of locks; gives how many, and how many differ.
fn one_set(chance: &mut Rng) -> Result<(usize, usize), String> {
    let count = 1 + chance.below(LOCKS_PER_SET_MAX);
    let locks = (0..count).map(|_| pattern(&random(chance, &PIECES))).collect::<Result<Vec<_>, String>>()?;
    let mut index = PatternIndex::default();
    for (id, lock) in locks.iter().enumerate() {
        index.insert(id as u64, lock);
    }
    let mut wrong = 0;
    for asked in 0..PATHS_PER_SET {
        // Mostly paths of files, as in life; some globs.
        let pieces: &[&str] = if asked % 4 == 0 { &PIECES } else { &NAMES };
        let asked = pattern(&random(chance, pieces))?;
        let scanned = locks.iter().enumerate().filter(|(_, lock)| overlaps(lock, &asked));
        let scanned: Vec<u64> = scanned.map(|(id, _)| id as u64).collect();
        wrong += usize::from(index.overlaps(&asked) != scanned);
    }
    Ok((PATHS_PER_SET, wrong))
}

fn random(chance: &mut Rng, pieces: &[&str]) -> String {
    let depth = 1 + chance.below(4);
    let mut names: Vec<&str> = (0..depth).filter_map(|_| chance.pick(pieces).copied()).collect();
    if chance.happens(10) {
        names.push("");
    }
    names.join("/")
}

/// Nanoseconds of one look for a path, round by round.
fn look(bench: &Bench, locks: impl Iterator<Item = String>, path: &str) -> Result<Vec<f64>, String> {
    let mut index = PatternIndex::default();
    for (id, lock) in locks.enumerate() {
        index.insert(id as u64, &pattern(&lock)?);
    }
    let (asked, looks) = (pattern(path)?, bench.scaled(LOOKS));
    let round = |_| {
        let start = Instant::now();
        for _ in 0..looks {
            let _ = black_box(index.visit_overlaps(black_box(&asked), ControlFlow::Break));
        }
        start.elapsed().as_nanos() as f64 / looks as f64
    };
    Ok((0..bench.options.rounds).map(round).collect())
}

fn pattern(text: &str) -> Result<PathPattern, String> {
    PathPattern::parse(text, CaseRule::Exact).map_err(|refusal| format!("{text}: {refusal}"))
}
