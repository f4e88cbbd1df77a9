//! What an agent must be told, once.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::display::visible;
use crate::tasks::TaskTold;
use crate::time::Timestamp;

/// Something that happened to an agent without its doing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// A number that grows, to say up to where notices were taken.
    pub id: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Told,
}

/// The kinds of notice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Told {
    /// A lock ran out and is free.
    LockExpired {
        /// On what.
        path: String,
    },
    /// A lock ran out over uncommitted work.
    LockOrphaned {
        /// On what.
        path: String,
    },
    /// Somebody took the lock away.
    LockTaken {
        /// On what.
        path: String,
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// Somebody gave the lock more time.
    LockExtended {
        /// On what.
        path: String,
        /// Who.
        by: String,
    },
    /// A letter never reached its receiver.
    MailUndelivered {
        /// Whom it was for.
        to: String,
        /// Its number.
        id: String,
        /// What it was about.
        subject: Option<String>,
    },
    /// Somebody confirmed a decision, or turned it down.
    DecisionSettled {
        /// Which.
        id: String,
        /// What.
        title: String,
        /// Which way.
        how: String,
        /// Who.
        by: String,
    },
    /// A lock came to this agent.
    LockGiven {
        /// On what.
        path: String,
        /// Who.
        by: String,
        /// Why.
        reason: Option<String>,
    },
    /// Something about a task.
    Task(TaskTold),
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because = |reason: &Option<String>| {
            reason.as_deref().map(|text| format!(" (\"{}\")", visible(text))).unwrap_or_default()
        };
        match self {
            Told::LockExpired { path } => write!(f, "your lock on {path} has expired"),
            Told::LockOrphaned { path } => write!(
                f,
                "your lock on {path} has expired over uncommitted work; it is kept until the human or a leader decides, \
                 or you lock it again"
            ),
            Told::LockTaken { path, by, reason } => {
                write!(f, "your lock on {path} was taken away by {by}{}", because(reason))
            }
            Told::MailUndelivered { to, id, subject } => {
                write!(f, "{to} ended before your letter {id} reached it{}", because(subject))
            }
            Told::DecisionSettled { id, title, how, by } => {
                write!(f, "your decision {id} (\"{}\") was {how} by {by}", visible(title))
            }
            Told::Task(told) => told.fmt(f),
            Told::LockExtended { path, by } => write!(f, "your lock on {path} was given more time by {by}"),
            Told::LockGiven { path, by, reason } => {
                write!(f, "the lock on {path} was handed to you by {by}{}", because(reason))
            }
        }
    }
}
