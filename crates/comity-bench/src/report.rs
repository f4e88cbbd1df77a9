//! The figures, as they are printed and written.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use super::bench_env::BenchEnv;
use super::compare::Round;
use super::machine::{CpuShare, Facts};
use super::quantity::{Quantity, Spread, Unit};

/// What a figure has to be.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// Whether it is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GoalResult {
    Ok,
    Missed,
    /// The machine did not let us tell.
    Inconclusive(String),
    /// It was not measured.
    Skipped(String),
    /// It could not be measured.
    Failed(String),
    /// There is no goal for it.
    Shown,
}

/// One line of the report.
#[derive(Serialize)]
pub(super) struct BenchFigure {
    pub(super) name: String,
    pub(super) reference: Option<Quantity>,
    pub(super) subject: Option<Quantity>,
    /// What the goal is about: a ratio, or a value by itself.
    pub(super) result: Spread,
    pub(super) unit: Unit,
    pub(super) goal: Option<Goal>,
    pub(super) verdict: GoalResult,
    /// How often it was measured until the reference held still.
    pub(super) attempts: usize,
    pub(super) rounds: Vec<Round>,
}

/// Everything that was measured.
#[derive(Serialize)]
pub(super) struct BenchReport {
    before: Facts,
    after: Option<Facts>,
    share: Option<CpuShare>,
    figures: Vec<BenchFigure>,
    #[serde(skip)]
    case: &'static str,
}

impl Goal {
    pub(super) fn verdict(self, value: f64) -> GoalResult {
        let met = match self {
            Goal::AtMost(limit) => value <= limit,
            Goal::AtLeast(limit) => value >= limit,
        };
        match met {
            _ if cfg!(debug_assertions) => GoalResult::Inconclusive("this is a debug build".into()),
            true => GoalResult::Ok,
            false => GoalResult::Missed,
        }
    }

    fn words(self, unit: Unit) -> String {
        match self {
            Goal::AtMost(limit) => format!("<= {}", unit.of(limit)),
            Goal::AtLeast(limit) => format!(">= {}", unit.of(limit)),
        }
    }
}

impl GoalResult {
    fn words(&self) -> String {
        match self {
            GoalResult::Ok => "ok".into(),
            GoalResult::Missed => "MISSED".into(),
            GoalResult::Inconclusive(why) => format!("inconclusive: {why}"),
            GoalResult::Skipped(why) => format!("skipped: {why}"),
            GoalResult::Failed(why) => format!("FAILED: {why}"),
            GoalResult::Shown => String::new(),
        }
    }
}

impl BenchFigure {
    /// A figure without a reference.
    pub(super) fn alone(
        name: &str,
        unit: Unit,
        result: Spread,
        goal: Option<Goal>,
        verdict: GoalResult,
    ) -> BenchFigure {
        let name = name.into();
        BenchFigure {
            name,
            reference: None,
            subject: None,
            result,
            unit,
            goal,
            verdict,
            attempts: 1,
            rounds: vec![],
        }
    }

    fn line(&self) -> String {
        let side = |side: Option<Quantity>| side.map(|side| side.to_string()).unwrap_or_default();
        let Spread { median, min, max } = self.result;
        let mut result = if median.is_nan() { String::new() } else { self.unit.of(median).to_string() };
        if max > min {
            result += &format!(" ({}..{})", self.unit.of(min), self.unit.of(max));
        }
        let goal = self.goal.map(|goal| goal.words(self.unit)).unwrap_or_default();
        let (reference, subject, verdict) = (side(self.reference), side(self.subject), self.verdict.words());
        let line =
            format!("{:<53} {reference:>10} {subject:>10}  {result:<31} {goal:<12} {verdict}", self.name);
        line.trim_end().to_owned()
    }
}

impl BenchReport {
    /// Looks at the machine, and says what it is.
    pub(super) fn begin(stage: &BenchEnv) -> BenchReport {
        let before = Facts::look(stage.dir());
        println!("{before}\n");
        if cfg!(debug_assertions) {
            println!(
                "this is a debug build: its figures say nothing; build it with: cargo build --release -p comity -p comity-hook\n"
            );
        }
        let heads = ("figure", "reference", "subject", "ratio or value (min..max)", "goal");
        println!("{:<53} {:>10} {:>10}  {:<31} {:<12} verdict", heads.0, heads.1, heads.2, heads.3, heads.4);
        BenchReport { before, after: None, share: None, figures: vec![], case: "" }
    }

    pub(super) fn begin_case(&mut self, case: &'static str) {
        self.case = case;
    }

    pub(super) fn add(&mut self, mut figure: BenchFigure) {
        figure.name = format!("{}: {}", self.case, figure.name);
        println!("{}", figure.line());
        self.figures.push(figure);
    }

    pub(super) fn skipped(&mut self, name: &str, why: &str) {
        self.without_value(name, GoalResult::Skipped(why.into()));
    }

    pub(super) fn failed(&mut self, problem: &str) {
        self.without_value("could not be measured", GoalResult::Failed(problem.into()));
    }

    fn without_value(&mut self, name: &str, verdict: GoalResult) {
        self.add(BenchFigure::alone(name, Unit::Count, Spread::of(&[]), None, verdict));
    }

    /// Looks at the machine again, and sums up.
    pub(super) fn end(&mut self, stage: &BenchEnv) {
        let after = Facts::look(stage.dir());
        let share = self.before.share_until(&after);
        println!("\n{after}\nin between: {share}");
        (self.after, self.share) = (Some(after), Some(share));
        let count =
            |wanted: fn(&GoalResult) -> bool| self.figures.iter().filter(|f| wanted(&f.verdict)).count();
        println!(
            "{} ok, {} missed, {} failed, {} inconclusive, {} skipped",
            count(|verdict| *verdict == GoalResult::Ok),
            count(|verdict| *verdict == GoalResult::Missed),
            count(|verdict| matches!(verdict, GoalResult::Failed(_))),
            count(|verdict| matches!(verdict, GoalResult::Inconclusive(_))),
            count(|verdict| matches!(verdict, GoalResult::Skipped(_))),
        );
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        std::fs::write(file, json + "\n").map_err(|error| format!("{}: {error}", file.display()))
    }

    /// 1 if a goal was missed, else 2 if one is open, else 0.
    pub(super) fn exit_code(&self) -> ExitCode {
        let any = |wanted: fn(&GoalResult) -> bool| self.figures.iter().any(|figure| wanted(&figure.verdict));
        if any(|verdict| matches!(verdict, GoalResult::Missed | GoalResult::Failed(_))) {
            return ExitCode::from(1);
        }
        ExitCode::from(if any(|verdict| matches!(verdict, GoalResult::Inconclusive(_))) { 2 } else { 0 })
    }
}
