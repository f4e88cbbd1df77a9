//! Notices to agents about locks.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::notices::quoted;

/// A notice about a lock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum LockTold {
    #[serde(rename = "lock_expired")]
    Expired { path: String },
    #[serde(rename = "lock_orphaned")]
    Orphaned { path: String },
    /// An agent that the receiver leads left uncommitted work.
    #[serde(rename = "work_orphaned")]
    WorkOrphaned { path: String, by: String, files: Vec<String> },
    #[serde(rename = "lock_taken")]
    Taken { path: String, by: String, reason: Option<String> },
    #[serde(rename = "lock_extended")]
    Extended { path: String, by: String },
    #[serde(rename = "lock_given")]
    Given { path: String, by: String, reason: Option<String> },
}

impl fmt::Display for LockTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockTold::Expired { path } => write!(f, "your lock on {path} has expired"),
            LockTold::Orphaned { path } => write!(
                f,
                "your lock on {path} has expired over uncommitted work; it is kept until the human or a leader decides, \
                 or you lock it again"
            ),
            LockTold::WorkOrphaned { path, by, files } => {
                let files = match &files[..] {
                    [] => String::new(),
                    [only] if only == path => String::new(),
                    files => format!(" ({})", files.join(", ")),
                };
                write!(
                    f,
                    "{by} left uncommitted work in {path}{files}; take it over, hand it to somebody, or release it"
                )
            }
            LockTold::Taken { path, by, reason } => {
                write!(f, "your lock on {path} was taken away by {by}{}", quoted(reason))
            }
            LockTold::Extended { path, by } => {
                write!(f, "your lock on {path} was given more time by {by}")
            }
            LockTold::Given { path, by, reason } => {
                write!(f, "the lock on {path} was handed to you by {by}{}", quoted(reason))
            }
        }
    }
}
