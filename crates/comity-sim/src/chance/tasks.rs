//! What somebody does about tasks, chosen by chance.

use comity_core::limits::LOCK_TTL;
use comity_core::tasks::{Brief, BriefChange, Priority, TaskAct, TaskAsk, TaskDraft, TaskRef};
use comity_core::{AgentId, Ask, Millis, Principal};

use super::Scene;
use crate::oracle::tasks::{ModelTask, TaskPhase};

/// Tasks in one life: the model is slow on purpose.
const TASKS_MAX: usize = 14;
const TITLES: [&str; 4] =
    ["it", "Rewrite login form validation", "Login form validation tests", "Measure what the index costs"];

impl Scene<'_> {
    pub(super) fn task(&mut self, living: &[AgentId]) -> Ask {
        let project = self.paths.spots[0].project;
        let open = self.oracle.jobs.len();
        Ask::Task(match self.rng.below(100) {
            0..25 if open < TASKS_MAX => self.declare(),
            0..12 => {
                let wait = Millis(self.rng.between(1_000, 60_000));
                TaskAsk::Seek { project, wait }
            }
            12..17 => TaskAsk::Take,
            17..22 => TaskAsk::ClaimNext { project },
            22..25 => {
                let depends_on = (0..self.rng.between(1, 2)).map(|_| self.some_task()).collect();
                let on = TaskRef { project, task: self.some_task() };
                TaskAsk::Link { on, depends_on, change: BriefChange::default() }
            }
            25..35 => TaskAsk::Seek { project, wait: Millis(self.rng.between(1_000, 60_000)) },
            _ => self.act(living),
        })
    }

    /// What comes next for a task that somebody has or had, by who may do it.
    pub(super) fn next_of_a_task(&mut self) -> Option<(Principal, Ask)> {
        let is_begun = |job: &&ModelTask| job.owner.is_some() || job.phase == TaskPhase::Failed;
        let begun: Vec<ModelTask> = self.oracle.jobs.iter().filter(is_begun).cloned().collect();
        let job = self.rng.pick(&begun)?;
        let (owner, human) = (job.owner.unwrap_or(Principal::Human), Principal::Human);
        let (who, acts) = match job.phase {
            TaskPhase::Open => (owner, vec![TaskAct::Start { ttl: LOCK_TTL }, TaskAct::GiveBack]),
            TaskPhase::Running => {
                let (evidence, reason) = ("commit 1".into(), "in the way".into());
                let done = TaskAct::Done { evidence };
                (owner, vec![done.clone(), done, TaskAct::Fail { reason }, TaskAct::GiveBack, TaskAct::Pause])
            }
            TaskPhase::InReview => {
                let reason = "a test is missing".into();
                (human, vec![TaskAct::Accept, TaskAct::SendBack { reason }])
            }
            TaskPhase::Paused => (human, vec![TaskAct::Resume]),
            TaskPhase::Failed => (human, vec![TaskAct::Retry, TaskAct::Reopen, TaskAct::Skip]),
            TaskPhase::Done | TaskPhase::Skipped | TaskPhase::Cancelled => (human, vec![TaskAct::Reopen]),
        };
        let act = self.rng.pick(&acts)?.clone();
        let on = TaskRef { project: self.paths.spots[0].project, task: job.id.clone() };
        Some((who, Ask::Task(TaskAsk::Act { on, attempt: None, act })))
    }

    fn declare(&mut self) -> TaskAsk {
        let count = self.rng.between(1, 3);
        let first = self.oracle.jobs.len();
        let name = |number: usize| -> Box<str> { format!("n{number}").into() };
        let tasks = (0..count).map(|at| {
            let own = first + at as usize;
            let mut depends_on = Vec::new();
            while self.rng.happens(45) && depends_on.len() < 3 {
                // Mostly earlier ones, sometimes one that comes later or is not there.
                let below = if self.rng.happens(12) { own + 3 } else { own };
                depends_on.push(name(if below == 0 { 1 } else { self.rng.below(below) }));
            }
            let files = (0..self.rng.below(3)).map(|_| self.some_file()).collect();
            let brief = Brief {
                title: self.rng.pick(&TITLES).copied().unwrap_or_default().into(),
                role: self.rng.happens(10).then(|| "lead".into()),
                team: self.rng.happens(10).then(|| "red".into()),
                priority: if self.rng.happens(20) { Priority::High } else { Priority::Normal },
                review: self.rng.happens(15),
                files,
                ..Brief::default()
            };
            TaskDraft { id: Some(name(own)), brief, depends_on }
        });
        let tasks = tasks.collect();
        TaskAsk::Declare { project: self.paths.spots[0].project, tasks }
    }

    /// Files of the first project: each pattern comes once for each.
    fn some_file(&mut self) -> comity_core::PathPattern {
        let pairs = self.paths.spots.len() / 2;
        self.paths.spots[2 * self.rng.below(pairs - 1)].pattern.clone()
    }

    pub(super) fn some_task(&mut self) -> Box<str> {
        let ids: Vec<Box<str>> = self.oracle.jobs.iter().map(|job| job.id.clone()).collect();
        self.rng.pick(&ids).cloned().unwrap_or_else(|| "ghost".into())
    }

    fn act(&mut self, living: &[AgentId]) -> TaskAsk {
        let on = TaskRef { project: self.paths.spots[0].project, task: self.some_task() };
        let act = match self.rng.below(100) {
            0..8 => TaskAct::Claim,
            8..40 => TaskAct::Start { ttl: LOCK_TTL },
            40..58 => TaskAct::Done { evidence: "commit 1".into() },
            58..62 => TaskAct::Fail { reason: "in the way".into() },
            62..65 => TaskAct::GiveBack,
            65..70 => TaskAct::Accept,
            70..73 => TaskAct::SendBack { reason: "a test is missing".into() },
            73..80 => {
                let to = self.rng.pick(living).map_or(Principal::Human, |to| Principal::Agent(*to));
                TaskAct::Assign { to }
            }
            80..83 => TaskAct::Pause,
            83..87 => TaskAct::Resume,
            87..90 => TaskAct::Retry,
            90..95 => TaskAct::Reopen,
            95..97 => TaskAct::Skip,
            _ => TaskAct::Cancel,
        };
        let attempt = self.rng.happens(20).then(|| self.rng.between(1, 3) as u32);
        TaskAsk::Act { on, attempt, act }
    }
}
