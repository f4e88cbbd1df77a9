//! Earlier attempts at a task, for whoever tries next.

use serde::{Deserialize, Serialize};

use super::{ReturnCause, Task, TaskEvent, TaskState};
use crate::event::Record;
use crate::ids::Principal;
use crate::limits::{PAST_ATTEMPTS_MAX, PAST_REASON_BYTES_MAX};
use crate::time::Timestamp;

/// A failed attempt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastAttempt {
    /// The number of the claim.
    pub attempt: u32,
    pub by: Principal,
    pub at: Timestamp,
    pub end: AttemptEnd,
}

/// How an attempt failed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case", deny_unknown_fields)]
pub enum AttemptEnd {
    /// The work was rejected.
    SentBack {
        by: Principal,
        reason: Box<str>,
        evidence: Box<str>,
    },
    Failed {
        reason: Box<str>,
    },
    /// Its agent ended.
    Died,
    GivenBack,
    NotStarted,
    /// It was assigned to somebody else.
    TakenAway {
        by: Principal,
    },
    /// The finished work was not good enough after all.
    Reopened {
        by: Principal,
    },
}

/// Whether somebody has to decide what becomes of it.
pub(super) fn is_undecided(state: &TaskState, past: &[PastAttempt]) -> bool {
    matches!(state, TaskState::InReview { .. } | TaskState::Failed { .. }) || left(state, past).is_some()
}

/// The last attempt, if its agent ended over it and nobody has the task since.
fn left<'p>(state: &TaskState, past: &'p [PastAttempt]) -> Option<&'p PastAttempt> {
    let is_nobodys = matches!(state, TaskState::Open { claim: None });
    past.last().filter(|last| is_nobodys && last.end == AttemptEnd::Died)
}

impl Task {
    /// The same for this task.
    pub fn left(&self) -> Option<&PastAttempt> {
        left(&self.state, &self.past)
    }
}

/// Remembers the attempt that an event ends, if it failed. The task is as it was before.
pub(super) fn remember(task: &mut Task, record: &Record, at: Timestamp, event: &TaskEvent) {
    let Some(by) = task.state.worker() else { return };
    let end = match event {
        TaskEvent::SentBack { reason, .. } => {
            let evidence = match &task.state {
                TaskState::InReview { evidence, .. } => short(evidence),
                _ => Box::default(),
            };
            AttemptEnd::SentBack { by: record.by, reason: short(reason), evidence }
        }
        TaskEvent::Failed { reason, .. } => AttemptEnd::Failed { reason: short(reason) },
        TaskEvent::Returned { cause, .. } => match cause {
            ReturnCause::GivenBack => AttemptEnd::GivenBack,
            ReturnCause::OwnerEnded => AttemptEnd::Died,
            ReturnCause::NotStarted => AttemptEnd::NotStarted,
        },
        TaskEvent::Assigned { to, .. } if *to != by => AttemptEnd::TakenAway { by: record.by },
        TaskEvent::Reopened { .. } => AttemptEnd::Reopened { by: record.by },
        _ => return,
    };
    if task.past.len() >= PAST_ATTEMPTS_MAX {
        task.past.remove(0);
    }
    task.past.push(PastAttempt { attempt: task.attempt, by, at, end });
}

fn short(text: &str) -> Box<str> {
    text[..text.floor_char_boundary(PAST_REASON_BYTES_MAX)].into()
}
