//! Notices to agents about tasks.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ReturnCause, Similarity, TaskEvent};
use crate::calls;
use crate::display::visible;
use crate::event::Record;
use crate::ids::Principal;
use crate::next_call::call;
use crate::world::World;

/// A notice about a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub enum TaskTold {
    Assigned {
        task: String,
        title: String,
        by: String,
    },
    /// It was taken from this agent, or stopped.
    Stopped {
        task: String,
        how: String,
        by: String,
    },
    /// This agent's work was rejected.
    SentBack {
        task: String,
        by: String,
        reason: String,
    },
    /// This agent's work was accepted.
    Accepted {
        task: String,
        by: String,
    },
    /// Somebody's work has to be reviewed.
    ToReview {
        task: String,
        by: String,
    },
    Failed {
        task: String,
        reason: String,
    },
    /// This agent stopped waiting for work: whoever could finish some waits for this agent.
    NoWork {
        deadlock: String,
    },
    LooksLike {
        task: String,
        other: String,
        likeness: Similarity,
    },
}

impl fmt::Display for TaskTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskTold::Assigned { task, title, by } => {
                write!(
                    f,
                    "the task {task} ({}) was given to you by {by}; see: {}",
                    visible(title),
                    call(calls::TASK_GET, [("id", task.as_str().into())])
                )
            }
            TaskTold::Stopped { task, how, by } => write!(f, "your task {task} was {how} by {by}"),
            TaskTold::SentBack { task, by, reason } => {
                write!(f, "your work on {task} was sent back by {by}: {}", visible(reason))
            }
            TaskTold::Accepted { task, by } => write!(f, "your work on {task} was accepted by {by}"),
            TaskTold::ToReview { task, by } => {
                let accept = call(calls::TASK_ACCEPT, [("id", task.as_str().into())]);
                write!(f, "the work of {by} on {task} waits for a review: {accept}")
            }
            TaskTold::Failed { task, reason } => write!(f, "the task {task} failed: {}", visible(reason)),
            TaskTold::NoWork { deadlock } => {
                write!(f, "there will be no work until you give back what others wait for: {deadlock}")
            }
            TaskTold::LooksLike { task, other, likeness } => {
                write!(f, "the task {task} looks like {other}: {likeness}")
            }
        }
    }
}

/// Tells those whom an event concerns without their doing. The world is as it was before.
pub(super) fn tell(world: &mut World, record: &Record, event: &TaskEvent) {
    for (who, what) in told(world, record, event) {
        if who != record.by {
            world.tell(who, record.seq, what);
        }
    }
}

fn told(world: &World, record: &Record, event: &TaskEvent) -> Vec<(Principal, TaskTold)> {
    if let TaskEvent::GaveUp { agent, deadlock: Some(deadlock) } = event {
        return vec![(Principal::Agent(*agent), TaskTold::NoWork { deadlock: deadlock.to_string() })];
    }
    let Some(task) = event.on().and_then(|on| world.tasks.get(on.project, &on.task)) else { return vec![] };
    let (owner, worker) = (task.state.owner(), task.state.worker());
    let (id, title, by) = (task.id.to_string(), task.brief.title.to_string(), world.name_of(record.by));
    let to = |who: Option<Principal>, what: TaskTold| who.map(|who| (who, what)).into_iter().collect();
    let stopped = |how: &str| TaskTold::Stopped { task: id.clone(), how: how.into(), by: by.clone() };
    match event {
        TaskEvent::Assigned { to, .. } => {
            let before =
                owner.filter(|owner| owner != to).map(|owner| (owner, stopped("given to somebody else")));
            let given = TaskTold::Assigned { task: id.clone(), title, by: by.clone() };
            before.into_iter().chain([(*to, given)]).collect()
        }
        TaskEvent::Reported { by, tell, .. } => {
            let by = world.name_of(*by);
            to(tell.map(Principal::Agent), TaskTold::ToReview { task: id.clone(), by })
        }
        // Work in review has a worker and no owner.
        TaskEvent::Completed { .. } if owner.is_none() => {
            to(worker, TaskTold::Accepted { task: id.clone(), by })
        }
        TaskEvent::SentBack { reason, .. } => {
            to(worker, TaskTold::SentBack { task: id.clone(), by, reason: reason.to_string() })
        }
        TaskEvent::Returned { cause: ReturnCause::NotStarted, .. } => {
            to(owner, stopped("not started in time, and taken back"))
        }
        TaskEvent::Failed { reason, tell, .. } => {
            let reason = reason.to_string();
            to(tell.map(Principal::Agent), TaskTold::Failed { task: id.clone(), reason })
        }
        TaskEvent::Paused { .. } => to(owner, stopped("paused")),
        TaskEvent::Resumed { .. } => to(owner, stopped("resumed")),
        TaskEvent::Skipped { .. } => to(owner, stopped("skipped")),
        TaskEvent::Cancelled { .. } => to(worker, stopped("cancelled")),
        TaskEvent::LooksLike { other, likeness, tell, .. } => {
            let other = other.to_string();
            let told = TaskTold::LooksLike { task: id.clone(), other, likeness: *likeness };
            to(tell.map(Principal::Agent), told)
        }
        TaskEvent::Declared { .. }
        | TaskEvent::Linked { .. }
        | TaskEvent::Claimed { .. }
        | TaskEvent::Started { .. }
        | TaskEvent::Completed { .. }
        | TaskEvent::Returned { .. }
        | TaskEvent::Retried { .. }
        | TaskEvent::Reopened { .. }
        | TaskEvent::Sought { .. }
        | TaskEvent::GaveUp { .. } => vec![],
    }
}
