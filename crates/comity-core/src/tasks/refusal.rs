//! Refusals about tasks.

use std::fmt;

use serde::Serialize;

use crate::calls;
use crate::next_call::call;
use crate::refusal::{FeatureRefusal, RefusalKind};

/// The task is another's, or would wait for itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum TaskRefusal {
    StaleAttempt {
        #[serde(skip)]
        task: String,
        /// Who has it now, if anybody.
        #[serde(skip)]
        owner: Option<String>,
        /// The current or next claim.
        #[serde(skip)]
        attempt: u32,
    },
    Cycle {
        #[serde(skip)]
        path: Vec<String>,
    },
}

impl FeatureRefusal for TaskRefusal {
    fn code(&self) -> &'static str {
        match self {
            TaskRefusal::StaleAttempt { .. } => "stale_attempt",
            TaskRefusal::Cycle { .. } => "cycle",
        }
    }

    fn kind(&self) -> RefusalKind {
        match self {
            TaskRefusal::StaleAttempt { .. } => RefusalKind::Conflict,
            TaskRefusal::Cycle { .. } => RefusalKind::BadInput,
        }
    }

    fn hint(&self) -> String {
        match self {
            TaskRefusal::StaleAttempt { task, .. } => {
                format!("see whose it is with: {}", call(calls::TASK_GET, [("id", task.as_str().into())]))
            }
            TaskRefusal::Cycle { .. } => "leave one of these dependencies out".into(),
        }
    }
}

impl fmt::Display for TaskRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskRefusal::StaleAttempt { task, owner: None, attempt } => {
                write!(f, "you do not have {task}; its next attempt is {attempt}")
            }
            TaskRefusal::StaleAttempt { task, owner: Some(owner), attempt } => {
                write!(f, "{task} is claimed by {owner} (attempt {attempt}), not by your attempt")
            }
            TaskRefusal::Cycle { path } => {
                write!(f, "tasks would wait for each other: {}", path.join(" -> "))
            }
        }
    }
}
