//! Tasks as a feature: names, whom events concern, sentences.

use super::{ReturnCause, TaskAct, TaskAsk, TaskEvent, TaskRef};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Event, Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent, FollowUp};
use crate::ids::{AgentId, Principal};
use crate::paths::PathPattern;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

/// Whoever waits for work gets it as soon as there is some.
pub(crate) const ASSIGNMENT: FollowUp =
    FollowUp { follows: |event| matches!(event, Event::Task(_)), next: super::assign::next_assignment };

/// Ends waits for work that only agents who are themselves stuck could finish; those who waited are told.
pub(crate) const STUCK: FollowUp =
    FollowUp { follows: |event| event.feature().may_close_cycle(), next: super::assign::next_stuck };

impl FeatureAsk for TaskAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        Ok(super::decide(world, asker.who, self)?.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            TaskAsk::Act { act, .. } => steering(act),
            TaskAsk::Declare { .. }
            | TaskAsk::Link { .. }
            | TaskAsk::ClaimNext { .. }
            | TaskAsk::Seek { .. }
            | TaskAsk::Take => None,
        }
    }

    fn is_work(&self) -> bool {
        !matches!(self, TaskAsk::Seek { .. })
    }
}

event_types!(TaskEvent {
    TaskEvent::Declared { .. } => durable("task_declared", "task:declared"),
    TaskEvent::Linked { .. } => durable("task_linked", "task:linked"),
    TaskEvent::Claimed { .. } => durable("task_claimed", "task:claimed"),
    TaskEvent::Assigned { .. } => durable("delegated", "task:assigned"),
    TaskEvent::Started { .. } => durable("task_started", "task:started"),
    TaskEvent::Reported { .. } => durable("task_reported", "task:in_review"),
    TaskEvent::Completed { .. } => durable("task_completed", "task:completed"),
    TaskEvent::SentBack { .. } => durable("task_sent_back", "task:sent_back"),
    TaskEvent::Returned { .. } => durable("delegation_cancelled", "task:returned"),
    TaskEvent::Failed { .. } => durable("task_failed", "task:failed"),
    TaskEvent::Paused { .. } => durable("task_paused", "task:paused"),
    TaskEvent::Resumed { .. } => durable("task_resumed", "task:resumed"),
    TaskEvent::Retried { .. } => durable("task_retried", "task:retried"),
    TaskEvent::Reopened { .. } => durable("task_reopened", "task:reopened"),
    TaskEvent::Skipped { .. } => durable("task_skipped", "task:skipped"),
    TaskEvent::Cancelled { .. } => durable("task_cancelled", "task:cancelled"),
    TaskEvent::LooksLike { .. } => durable("task_looks_like", "task:looks_like"),
    TaskEvent::Sought { .. } => live("task_sought", "task:sought").housekeeping(),
    TaskEvent::GaveUp { .. } => live("task_sought_in_vain", "task:sought_in_vain").housekeeping(),
});

impl FeatureEvent for TaskEvent {
    fn may_close_cycle(&self) -> bool {
        true
    }

    fn apply(&self, world: &mut World, record: &Record) {
        super::apply(world, record, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        let worker = |on: &TaskRef| {
            let task = before?.tasks.find(on).ok()?;
            task.state.owner().or_else(|| task.state.worker())
        };
        let and = |on: &TaskRef, others: &[Option<Principal>]| {
            agents(worker(on).into_iter().chain(others.iter().copied().flatten()))
        };
        let told = |agent: &Option<AgentId>| agent.map(Principal::Agent);
        match self {
            TaskEvent::Declared { .. } => vec![],
            TaskEvent::Claimed { on, by, .. }
            | TaskEvent::Started { on, by, .. }
            | TaskEvent::Completed { on, by, .. } => and(on, &[Some(*by)]),
            TaskEvent::Assigned { on, to, .. } => and(on, &[Some(*to)]),
            TaskEvent::Reported { on, by, tell, .. } | TaskEvent::Failed { on, by, tell, .. } => {
                and(on, &[Some(*by), told(tell)])
            }
            TaskEvent::SentBack { on, owner, .. } => and(on, &[*owner]),
            TaskEvent::Returned { on, from, .. } => and(on, &[Some(*from)]),
            TaskEvent::LooksLike { on, tell, .. } => and(on, &[told(tell)]),
            TaskEvent::Linked { on, .. }
            | TaskEvent::Paused { on }
            | TaskEvent::Resumed { on }
            | TaskEvent::Retried { on, .. }
            | TaskEvent::Reopened { on, .. }
            | TaskEvent::Skipped { on }
            | TaskEvent::Cancelled { on } => and(on, &[]),
            TaskEvent::Sought { agent, .. } | TaskEvent::GaveUp { agent, .. } => vec![*agent],
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let (by, name) = (telling.by(), |who: &Principal| telling.name(*who));
        let agent = |id: &AgentId| telling.agent(*id);
        let task = self.on().map(|on| &*on.task).unwrap_or_default();
        match self {
            TaskEvent::Declared { tasks, .. } => {
                let named: Vec<String> =
                    tasks.iter().map(|task| format!("{} ({})", task.id, task.brief.title)).collect();
                format!("{by} declared {}", named.join(", "))
            }
            TaskEvent::Linked { depends_on, title, files, .. } => {
                let waits = (!depends_on.is_empty())
                    .then(|| format!("{task} now also waits for {}", depends_on.join(", ")));
                let title =
                    title.as_ref().map(|title| format!("{by} changed the title of {task} to {title}"));
                let files = files.as_ref().map(|files| {
                    let files: Vec<String> = files.iter().map(PathPattern::readable).collect();
                    format!("{by} changed the files of {task} to {}", files.join(", "))
                });
                [waits, title, files].into_iter().flatten().collect::<Vec<_>>().join("; ")
            }
            TaskEvent::Claimed { by, attempt, .. } => format!("{} took {task}, attempt {attempt}", name(by)),
            TaskEvent::Assigned { to, attempt, .. } => {
                format!("{by} gave {task} to {}, attempt {attempt}", name(to))
            }
            TaskEvent::Started { by, attempt, .. } => {
                format!("{} started {task}, attempt {attempt}", name(by))
            }
            TaskEvent::Reported { by, evidence, .. } => {
                format!("{} reported {task} done, for review: {evidence}", name(by))
            }
            TaskEvent::Completed { by: worker, evidence, .. } => {
                format!("{} completed {task}: {evidence}", name(worker))
            }
            TaskEvent::SentBack { reason, .. } => format!("{by} sent {task} back: {reason}"),
            TaskEvent::Returned { from, cause, attempt, .. } => {
                let why = match cause {
                    ReturnCause::GivenBack => "gave it back",
                    ReturnCause::OwnerEnded => "ended",
                    ReturnCause::NotStarted => "did not start it in time",
                };
                format!("{task} is free again, attempt {attempt} is next: {} {why}", name(from))
            }
            TaskEvent::Failed { by, reason, .. } => format!("{} failed at {task}: {reason}", name(by)),
            TaskEvent::Paused { .. } => format!("{by} paused {task}"),
            TaskEvent::Resumed { .. } => format!("{by} resumed {task}"),
            TaskEvent::Retried { attempt, .. } => {
                format!("{by} put {task} up for another try, attempt {attempt}")
            }
            TaskEvent::Reopened { begun, .. } if begun.is_empty() => format!("{by} reopened {task}"),
            TaskEvent::Reopened { begun, .. } => {
                format!("{by} reopened {task}; {} had started and continues", begun.join(", "))
            }
            TaskEvent::Skipped { .. } => format!("{by} skipped {task}"),
            TaskEvent::Cancelled { .. } => format!("{by} cancelled {task}"),
            TaskEvent::LooksLike { other, likeness, .. } => format!("{task} looks like {other}: {likeness}"),
            TaskEvent::Sought { agent: id, wait, .. } => {
                format!("{} began to wait for work, for up to {wait}", agent(id))
            }
            TaskEvent::GaveUp { agent: id, deadlock: None } => {
                format!("{} stopped waiting for work", agent(id))
            }
            TaskEvent::GaveUp { agent: id, deadlock: Some(cycle) } => {
                format!("{} stopped waiting for work that could not come: {cycle}", agent(id))
            }
        }
    }
}

fn steering(act: &TaskAct) -> Option<&'static str> {
    match act {
        TaskAct::Accept | TaskAct::SendBack { .. } => Some("review a task"),
        TaskAct::Assign { .. }
        | TaskAct::Pause
        | TaskAct::Resume
        | TaskAct::Retry
        | TaskAct::Reopen
        | TaskAct::Skip
        | TaskAct::Cancel => Some("steer a task"),
        TaskAct::Claim
        | TaskAct::Start { .. }
        | TaskAct::Done { .. }
        | TaskAct::Fail { .. }
        | TaskAct::GiveBack => None,
    }
}
