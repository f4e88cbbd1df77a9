//! Reference and subject in turns, round by round, and what their ratios say.

use std::time::Instant;

use serde::Serialize;

use super::Bench;
use super::quantity::{Spread, Unit, per_mille};
use super::report::{BenchFigure, Goal, GoalResult};

/// A reference that changes more than this between rounds says nothing.
const REFERENCE_SPREAD_MAX: f64 = 2.0;
/// How often a figure is measured again for that.
const ATTEMPTS_MAX: usize = 3;

/// What one round gave: a value of each side.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Round {
    pub(super) reference: f64,
    pub(super) subject: f64,
}

/// A figure that compares.
pub(super) struct Comparison<'a> {
    pub(super) name: &'a str,
    /// What both sides are counted in.
    pub(super) unit: Unit,
    /// Which way they are divided.
    pub(super) ratio: Ratio,
    /// What the ratio has to be.
    pub(super) goal: Option<Goal>,
}

/// Which way two sides are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ratio {
    /// How many times the reference the subject is.
    SubjectToReference,
    /// How many times faster the subject is.
    ReferenceToSubject,
}

impl Bench {
    /// Measures until the reference holds still, and reports.
    pub(super) fn compare(
        &mut self,
        what: Comparison<'_>,
        round: impl FnMut() -> Result<Round, String>,
    ) -> Result<(), String> {
        let figure = self.judge(what, round)?;
        self.report.add(figure);
        Ok(())
    }

    /// Measures until the reference holds still, for who has more to say about the verdict.
    pub(super) fn judge(
        &self,
        what: Comparison<'_>,
        mut round: impl FnMut() -> Result<Round, String>,
    ) -> Result<BenchFigure, String> {
        let mut attempt = 1;
        let (rounds, steady) = loop {
            let rounds = (0..self.options.rounds).map(|_| round()).collect::<Result<Vec<Round>, String>>()?;
            let reference = spread(&rounds, |round| round.reference);
            let steady = reference.max <= reference.min * REFERENCE_SPREAD_MAX;
            if steady || attempt == ATTEMPTS_MAX {
                break (rounds, steady);
            }
            attempt += 1;
        };
        let ratio = spread(&rounds, |round| match what.ratio {
            Ratio::SubjectToReference => round.subject / round.reference,
            Ratio::ReferenceToSubject => round.reference / round.subject,
        });
        let verdict = match (&what.goal, steady) {
            (None, _) => GoalResult::Shown,
            (Some(_), false) => {
                GoalResult::Inconclusive(format!("the reference varied more than 2x, {ATTEMPTS_MAX} times"))
            }
            (Some(goal), true) => goal.verdict(ratio.median),
        };
        Ok(BenchFigure {
            name: what.name.into(),
            reference: Some(what.unit.of(spread(&rounds, |round| round.reference).median)),
            subject: Some(what.unit.of(spread(&rounds, |round| round.subject).median)),
            result: ratio,
            unit: Unit::Times,
            goal: what.goal,
            verdict,
            attempts: attempt,
            rounds,
        })
    }

    /// Reports something that is measured by itself, once or several times.
    pub(super) fn measured(&mut self, name: &str, unit: Unit, values: &[f64], goal: Option<Goal>) {
        let result = Spread::of(values);
        let verdict = goal.map_or(GoalResult::Shown, |goal| goal.verdict(result.median));
        self.report.add(BenchFigure::alone(name, unit, result, goal, verdict));
    }
}

fn spread(rounds: &[Round], side: impl Fn(&Round) -> f64) -> Spread {
    Spread::of(&rounds.iter().map(side).collect::<Vec<f64>>())
}

/// One round: both in turns, `chunk` of each at a time. The middle of each counts.
pub(super) fn in_turns(
    total: usize,
    chunk: usize,
    mut reference: impl FnMut() -> Result<u64, String>,
    mut subject: impl FnMut() -> Result<u64, String>,
) -> Result<Round, String> {
    let (mut references, mut subjects) = (Vec::with_capacity(total), Vec::with_capacity(total));
    while references.len() < total {
        for _ in 0..chunk {
            references.push(reference()?);
        }
        for _ in 0..chunk {
            subjects.push(subject()?);
        }
    }
    Ok(Round { reference: per_mille(&mut references, 500), subject: per_mille(&mut subjects, 500) })
}

/// How many nanoseconds something takes.
pub(super) fn timed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<u64, String> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_nanos() as u64)
}
