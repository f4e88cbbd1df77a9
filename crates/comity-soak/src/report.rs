//! The figures of a run, each with its goal, and whether it was met.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::killer::Sample;

/// From the kill to the first answer of the next server, for all but one in a hundred.
const RESTART_MAX: Duration = Duration::from_millis(500);
/// How much larger the last quarter may be than the first one.
const GROWTH_MAX: f64 = 1.25;
/// What it may grow by in any case: caches fill, and small servers look as if they grew a lot.
const GROWTH_KIB_MIN: u64 = 8 * 1024;
/// Samples of one life that show whether it grew.
const LIFE_SAMPLES_MIN: usize = 40;
/// The server moves its write-ahead log when it is as large as this.
const WAL_BYTES_MAX: u64 = 128 << 20;
/// Findings that are shown of each kind.
const SHOWN_MAX: usize = 5;

/// One figure.
#[derive(Clone, Debug)]
pub struct SoakFigure {
    pub name: &'static str,
    pub value: String,
    /// What is wanted; nothing if it is only told.
    pub goal: String,
    pub is_met: bool,
    pub findings: Vec<String>,
}

/// All figures of a run.
#[derive(Clone, Debug)]
pub struct SoakReport {
    /// What the run chose by.
    pub seed: u64,
    pub figures: Vec<SoakFigure>,
}

impl SoakReport {
    /// The figures whose goals were missed.
    pub fn missed(&self) -> impl Iterator<Item = &SoakFigure> {
        self.figures.iter().filter(|figure| !figure.is_met)
    }

    /// For programs.
    pub fn to_json(&self) -> Value {
        let figures = self.figures.iter().map(|figure| {
            let SoakFigure { name, value, goal, is_met, findings } = figure;
            json!({ "name": name, "value": value, "goal": goal, "met": is_met, "findings": findings })
        });
        json!({ "seed": self.seed, "figures": figures.collect::<Vec<_>>() })
    }

    pub(crate) fn tell(&mut self, name: &'static str, value: impl fmt::Display) {
        let (goal, findings) = (String::new(), Vec::new());
        self.figures.push(SoakFigure { name, value: value.to_string(), goal, is_met: true, findings });
    }

    /// A figure that counts what should not be.
    pub(crate) fn none_of(&mut self, name: &'static str, findings: Vec<String>) {
        let (value, is_met) = (findings.len().to_string(), findings.is_empty());
        self.figures.push(SoakFigure { name, value, goal: "0".into(), is_met, findings });
    }

    pub(crate) fn restarts(&mut self, mut times: Vec<Duration>) {
        times.sort_unstable();
        let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1));
        let (middle, most, last) = (at(50), at(99), times.last());
        let (Some(middle), Some(most), Some(last)) = (middle, most, last) else { return };
        self.tell("kills", times.len());
        self.figures.push(SoakFigure {
            name: "restart p50, p99, max",
            value: format!("{}, {}, {} ms", middle.as_millis(), most.as_millis(), last.as_millis()),
            goal: format!("p99 below {} ms", RESTART_MAX.as_millis()),
            is_met: *most < RESTART_MAX,
            findings: Vec::new(),
        });
    }

    pub(crate) fn memory(&mut self, samples: &[Sample]) {
        let starts: Vec<u64> =
            samples.iter().filter(|sample| sample.is_first).map(|sample| sample.rss_kib).collect();
        self.flat("memory after the start", &starts);
        let looks: Vec<&Sample> = samples.iter().filter(|sample| !sample.is_first).collect();
        let lives = looks.chunk_by(|one, other| one.pid == other.pid);
        let Some(longest) = lives.max_by_key(|life| life.len()).filter(|life| life.len() >= LIFE_SAMPLES_MIN)
        else {
            return;
        };
        // Caches fill first.
        let warm = &longest[longest.len() / 5..];
        self.flat(
            "memory of the longest life",
            &warm.iter().map(|sample| sample.rss_kib).collect::<Vec<_>>(),
        );
    }

    /// Compares the first quarter with the last one.
    fn flat(&mut self, name: &'static str, sizes: &[u64]) {
        let quarter = sizes.len() / 4;
        let (Some(first), Some(last)) = (median(&sizes[..quarter]), median(&sizes[sizes.len() - quarter..]))
        else {
            return;
        };
        let allowed = ((first as f64 * GROWTH_MAX) as u64).max(first + GROWTH_KIB_MIN);
        self.figures.push(SoakFigure {
            name,
            value: format!("{:.1}, then {:.1} MiB", mib(first * 1024), mib(last * 1024)),
            goal: format!("flat, at most {:.1} MiB", mib(allowed * 1024)),
            is_met: last <= allowed,
            findings: Vec::new(),
        });
    }

    pub(crate) fn backlog(&mut self, samples: &[Sample]) {
        let largest = samples.iter().map(|sample| sample.wal_bytes).max().unwrap_or_default();
        self.figures.push(SoakFigure {
            name: "write-ahead log, max",
            value: format!("{:.1} MiB", mib(largest)),
            goal: format!("at most {:.0} MiB", mib(WAL_BYTES_MAX)),
            is_met: largest <= WAL_BYTES_MAX,
            findings: Vec::new(),
        });
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

pub(crate) fn median(sizes: &[u64]) -> Option<u64> {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

impl fmt::Display for SoakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for SoakFigure { name, value, goal, is_met, .. } in &self.figures {
            let end = match (goal.is_empty(), is_met) {
                (true, _) => "",
                (false, true) => "met",
                (false, false) => "MISSED",
            };
            writeln!(f, "{}", format!("{name:<28} {value:<24} {goal:<24} {end}").trim_end())?;
        }
        for figure in self.missed().filter(|figure| !figure.findings.is_empty()) {
            writeln!(f, "\n{}:", figure.name)?;
            for finding in figure.findings.iter().take(SHOWN_MAX) {
                writeln!(f, "  {finding}")?;
            }
            if figure.findings.len() > SHOWN_MAX {
                writeln!(f, "  and {} more", figure.findings.len() - SHOWN_MAX)?;
            }
        }
        write!(f, "seed {}", self.seed)
    }
}
