//! What the model makes of records about tasks.

use comity_core::tasks::{NewTask, ReturnCause, TaskEvent, TaskStatus};
use comity_core::{AgentId, Principal, Record, Timestamp, World};

use super::{Found, Oracle};
use crate::sim_paths::{SimFiles, SimPaths};

/// A task as the model sees it.
#[derive(Clone, Debug)]
pub(crate) struct ModelTask {
    pub(crate) id: Box<str>,
    after: Vec<Box<str>>,
    files: SimFiles,
    review: bool,
    pub(crate) phase: TaskPhase,
    /// Who has it; in review, whose work it is.
    pub(crate) owner: Option<Principal>,
    /// Who has done it.
    pub(super) done_by: Option<Principal>,
    pub(crate) attempt: u32,
}

/// Where a task is, as records say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TaskPhase {
    Open,
    Running,
    InReview,
    Paused,
    Done,
    Failed,
    Skipped,
    Cancelled,
}

impl TaskPhase {
    fn is_over(self) -> bool {
        matches!(self, TaskPhase::Done | TaskPhase::Skipped | TaskPhase::Cancelled)
    }
}

impl Oracle {
    pub(super) fn observe_task(&mut self, paths: &SimPaths, record: &Record, event: &TaskEvent) -> Found {
        match event {
            TaskEvent::Declared { tasks, project } => {
                let files = |task: &NewTask| {
                    task.brief
                        .files
                        .iter()
                        .map(|file| paths.files(*project, file))
                        .fold(0, |all, one| all | one)
                };
                return self.declared(tasks, files);
            }
            TaskEvent::Sought { agent, wait, .. } => {
                self.seekers.insert(*agent, record.now.plus(*wait));
                return Ok(());
            }
            TaskEvent::GaveUp { agent, deadlock } => {
                self.seekers.remove(agent);
                if deadlock.is_some() {
                    self.tell(Principal::Agent(*agent), record.seq);
                }
                return Ok(());
            }
            _ => {}
        }
        let id = event.on().map(|on| &*on.task).unwrap_or_default();
        let Some(at) = self.jobs.iter().position(|job| &*job.id == id) else {
            return Err(format!("something happened to {id}, which isn't a task"));
        };
        let before = self.jobs[at].clone();
        self.told_of_task(record, event, &before);
        let is_ready = self.is_ready(&before);
        let after = self.changed(record, event, &before, is_ready)?;
        if after.attempt < before.attempt {
            return Err(format!("the attempts of {id} do not grow"));
        }
        let reopens = matches!(event, TaskEvent::Reopened { .. });
        if before.phase.is_over() && after.phase != before.phase && !reopens {
            return Err(format!("{id} went on after its end"));
        }
        if after.phase == TaskPhase::Running
            && let Some(other) = self.jobs.iter().find(|job| {
                job.id != after.id && job.phase == TaskPhase::Running && job.files & after.files != 0
            })
        {
            return Err(format!("{id} and {} run on the same files", other.id));
        }
        if let Some(Principal::Agent(owner)) = after.owner.filter(|_| after.phase != TaskPhase::InReview) {
            self.seekers.remove(&owner);
        }
        self.jobs[at] = after;
        Ok(())
    }

    fn declared(&mut self, tasks: &[NewTask], files: impl Fn(&NewTask) -> SimFiles) -> Found {
        for task in tasks {
            if self.jobs.iter().any(|job| job.id == task.id) {
                return Err(format!("{} was declared twice", task.id));
            }
            self.jobs.push(ModelTask {
                id: task.id.clone(),
                after: task.depends_on.clone(),
                files: files(task),
                review: task.brief.review,
                phase: TaskPhase::Open,
                owner: None,
                done_by: None,
                attempt: 1,
            });
        }
        self.jobs.iter().try_for_each(|job| match job.after.iter().all(|id| self.job(id).is_some()) {
            true => Ok(()),
            false => Err(format!("{} waits for a task that is not there", job.id)),
        })?;
        no_circle(&self.jobs)
    }

    /// The task after the event; says why the event must not be.
    fn changed(
        &mut self,
        record: &Record,
        event: &TaskEvent,
        before: &ModelTask,
        is_ready: bool,
    ) -> Result<ModelTask, String> {
        let mut job = before.clone();
        let wrong = |why: &str| Err(format!("{} ({:?}): {why}: {event:?}", before.id, before.phase));
        let must = |holds: bool, why: &str| if holds { Ok(()) } else { wrong(why) };
        let is = |phases: &[TaskPhase]| phases.contains(&before.phase);
        match event {
            TaskEvent::Linked { depends_on, .. } => {
                job.after.extend(depends_on.iter().cloned());
                let others = self.jobs.iter().filter(|other| other.id != job.id).cloned();
                no_circle(&others.chain([job.clone()]).collect::<Vec<ModelTask>>())?;
            }
            TaskEvent::Claimed { by, attempt, .. } => {
                must(before.owner.is_none() && is(&[TaskPhase::Open]), "it was claimed twice")?;
                must(is_ready && *attempt == before.attempt, "it was not to be claimed")?;
                job.owner = Some(*by);
            }
            TaskEvent::Assigned { to, attempt, .. } => {
                must(is(&[TaskPhase::Open, TaskPhase::Running]), "it was not to be given")?;
                must(*attempt == before.attempt + u32::from(before.owner.is_some()), "a wrong attempt")?;
                if record.by == Principal::System {
                    must(is_ready && before.owner.is_none(), "code gave away what was not free")?;
                    let is_meant = self.is_free(*to, record.now) || self.was_started_for(*to, &job.id);
                    must(is_meant, "code gave it to somebody who did not ask")?;
                }
                (job.phase, job.owner, job.attempt) = (TaskPhase::Open, Some(*to), *attempt);
            }
            TaskEvent::Started { by, attempt, .. } => {
                must(is(&[TaskPhase::Open]) && before.owner == Some(*by), "it was started by another")?;
                must(is_ready && *attempt == before.attempt, "it was not to be started")?;
                job.phase = TaskPhase::Running;
            }
            TaskEvent::Reported { by, evidence, .. } => {
                must(is(&[TaskPhase::Running]) && before.owner == Some(*by) && before.review, "no review")?;
                must(record.by == *by && !evidence.is_empty(), "nothing shows it")?;
                job.phase = TaskPhase::InReview;
            }
            TaskEvent::Completed { by, evidence, .. } => {
                let own = is(&[TaskPhase::Running]) && !before.review && record.by == *by;
                let is_judge = record.by != *by || record.by == Principal::Human;
                let reviewed = is(&[TaskPhase::InReview]) && is_judge;
                must((own || reviewed) && before.owner == Some(*by), "it was done by another")?;
                must(!evidence.is_empty(), "nothing shows it")?;
                (job.phase, job.owner, job.done_by) = (TaskPhase::Done, None, Some(*by));
            }
            TaskEvent::SentBack { owner, attempt, .. } => {
                let is_judge = before.owner != Some(record.by) || record.by == Principal::Human;
                must(is(&[TaskPhase::InReview]) && is_judge, "no review")?;
                (job.phase, job.owner, job.attempt) = (TaskPhase::Open, *owner, *attempt);
            }
            TaskEvent::Returned { from, attempt, cause, .. } => {
                must(before.owner == Some(*from) && *attempt == before.attempt + 1, "it was not theirs")?;
                if let (ReturnCause::OwnerEnded, Principal::Agent(agent)) = (cause, *from) {
                    self.leaving.push(agent);
                }
                job.phase =
                    if before.phase == TaskPhase::Paused { TaskPhase::Paused } else { TaskPhase::Open };
                (job.owner, job.attempt) = (None, *attempt);
            }
            TaskEvent::Failed { by, .. } => {
                must(
                    before.owner == Some(*by) && is(&[TaskPhase::Open, TaskPhase::Running]),
                    "it was not theirs",
                )?;
                (job.phase, job.owner) = (TaskPhase::Failed, None);
            }
            TaskEvent::Paused { .. } => {
                must(is(&[TaskPhase::Open, TaskPhase::Running]), "it was not to be paused")?;
                job.phase = TaskPhase::Paused;
            }
            TaskEvent::Resumed { .. } => {
                must(is(&[TaskPhase::Paused]), "it was not paused")?;
                job.phase = TaskPhase::Open;
            }
            TaskEvent::Retried { attempt, .. } => {
                must(is(&[TaskPhase::Failed]) && *attempt > before.attempt, "it had not failed")?;
                (job.phase, job.attempt) = (TaskPhase::Open, *attempt);
            }
            TaskEvent::Reopened { attempt, .. } => {
                must(before.phase.is_over() || is(&[TaskPhase::Failed]), "it had not ended")?;
                (job.phase, job.done_by, job.attempt) = (TaskPhase::Open, None, *attempt);
            }
            TaskEvent::Skipped { .. } => (job.phase, job.owner) = (TaskPhase::Skipped, None),
            TaskEvent::Cancelled { .. } => (job.phase, job.owner) = (TaskPhase::Cancelled, None),
            TaskEvent::LooksLike { other, .. } => must(self.job(other).is_some(), "it looks like nothing")?,
            TaskEvent::Declared { .. } | TaskEvent::Sought { .. } | TaskEvent::GaveUp { .. } => {}
        }
        Ok(job)
    }

    /// Who is told by an event, besides who acts.
    fn told_of_task(&mut self, record: &Record, event: &TaskEvent, job: &ModelTask) {
        let leader = |tell: &Option<AgentId>| tell.map(Principal::Agent);
        let told = match event {
            TaskEvent::Assigned { to, .. } => [job.owner.filter(|owner| owner != to), Some(*to)],
            TaskEvent::Completed { .. } if job.phase == TaskPhase::InReview => [job.owner, None],
            TaskEvent::SentBack { .. }
            | TaskEvent::Returned { cause: ReturnCause::NotStarted, .. }
            | TaskEvent::Paused { .. }
            | TaskEvent::Resumed { .. }
            | TaskEvent::Skipped { .. }
            | TaskEvent::Cancelled { .. } => [job.owner, None],
            TaskEvent::Reported { tell, .. }
            | TaskEvent::Failed { tell, .. }
            | TaskEvent::LooksLike { tell, .. } => [leader(tell), None],
            _ => [None, None],
        };
        for who in told.into_iter().flatten().filter(|who| *who != record.by) {
            self.tell(who, record.seq);
        }
    }

    fn job(&self, id: &str) -> Option<&ModelTask> {
        self.jobs.iter().find(|job| &*job.id == id)
    }

    fn is_ready(&self, job: &ModelTask) -> bool {
        job.after
            .iter()
            .filter_map(|id| self.job(id))
            .all(|before| matches!(before.phase, TaskPhase::Done | TaskPhase::Skipped))
    }

    fn is_blocked(&self, job: &ModelTask) -> bool {
        job.after.iter().filter_map(|id| self.job(id)).any(|before| match before.phase {
            TaskPhase::Failed | TaskPhase::Cancelled => true,
            TaskPhase::Open | TaskPhase::Paused => self.is_blocked(before),
            TaskPhase::Running | TaskPhase::InReview | TaskPhase::Done | TaskPhase::Skipped => false,
        })
    }

    /// Whether an agent asked for work, in time, and has none.
    fn is_free(&self, who: Principal, now: Timestamp) -> bool {
        let asked = who.agent().and_then(|agent| self.seekers.get(&agent)).is_some_and(|until| now < *until);
        let is_taken = |job: &ModelTask| {
            job.owner == Some(who) && matches!(job.phase, TaskPhase::Open | TaskPhase::Running)
        };
        asked && !self.jobs.iter().any(is_taken)
    }

    /// Compares the world's tasks with the model: the same ones, in the same states, as the graph says.
    pub(super) fn agrees_on_tasks(&self, world: &World) -> Found {
        let mut count = 0;
        for (task, job) in world.tasks.iter().zip(&self.jobs) {
            count += 1;
            let status = match job.phase {
                TaskPhase::Open if self.is_blocked(job) => TaskStatus::Blocked,
                TaskPhase::Open if self.is_ready(job) => TaskStatus::Ready,
                TaskPhase::Open => TaskStatus::Pending,
                TaskPhase::Running => TaskStatus::Running,
                TaskPhase::InReview => TaskStatus::InReview,
                TaskPhase::Paused => TaskStatus::Paused,
                TaskPhase::Done => TaskStatus::Done,
                TaskPhase::Failed => TaskStatus::Failed,
                TaskPhase::Skipped => TaskStatus::Skipped,
                TaskPhase::Cancelled => TaskStatus::Cancelled,
            };
            let has = |owner: Principal| job.owner == Some(owner);
            let same = task.id == job.id && task.attempt == job.attempt && task.status() == status;
            if !same || !task.state.owner().is_none_or(has) {
                return Err(format!(
                    "the world's task {} is not that of its log: {:?}",
                    task.id,
                    task.status()
                ));
            }
            let owner = job.owner.filter(|_| job.phase != TaskPhase::InReview);
            if let Some(owner) = owner.filter(|owner| !self.is_alive(*owner)) {
                return Err(format!("{} is owned by {owner}, who has ended", job.id));
            }
        }
        match count == self.jobs.len() && world.tasks.iter().count() == count {
            true => Ok(()),
            false => Err("the world's tasks are not those of its log".into()),
        }
    }
}

/// Takes away what waits for nothing that is left, until nothing is left.
fn no_circle(jobs: &[ModelTask]) -> Found {
    let mut left: Vec<&ModelTask> = jobs.iter().collect();
    while !left.is_empty() {
        let count = left.len();
        let names: Vec<Box<str>> = left.iter().map(|job| job.id.clone()).collect();
        left.retain(|job| job.after.iter().any(|id| names.contains(id)));
        if left.len() == count {
            return Err("tasks wait for each other in a circle".into());
        }
    }
    Ok(())
}
