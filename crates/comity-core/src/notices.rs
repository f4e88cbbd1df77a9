//! What an agent must be told, once.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::display::visible;
use crate::pools::PoolTold;
use crate::tasks::TaskTold;
use crate::time::Timestamp;

/// Something that happened to an agent without its doing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
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
    /// An agent that the receiver leads left uncommitted work under a lock.
    WorkOrphaned {
        /// On what.
        path: String,
        /// Who left it.
        by: String,
        /// Some of the files.
        files: Vec<String>,
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
    /// Somebody else wrote to what this agent has locked.
    LockedFileChanged {
        /// To what.
        path: String,
        /// By whom, as far as anybody can tell.
        by: String,
        /// Further files.
        others: usize,
    },
    /// What this agent has locked is in a commit that went past the guard.
    LockedFileCommitted {
        /// Which files.
        files: String,
        /// The commit.
        commit: String,
        /// By whom, as far as anybody can tell.
        by: String,
    },
    /// This agent probably made a commit of what another has locked.
    CommittedPastGuard {
        /// Which files.
        files: String,
        /// The commit.
        commit: String,
        /// Who has them locked.
        holder: String,
    },
    /// This agent probably wrote to what it has not locked.
    WroteWithoutLock {
        /// To what.
        path: String,
        /// Who has it locked.
        holder: Option<String>,
        /// Further files.
        others: usize,
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
    /// Something about a pool.
    Pool(PoolTold),
    /// A worktree that was released stays.
    WorktreeKept {
        /// Its name.
        slug: String,
        /// What is in it.
        why: String,
    },
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because = |reason: &Option<String>| {
            reason.as_deref().map(|text| format!(" (\"{}\")", visible(text))).unwrap_or_default()
        };
        let more = |others: usize| match others {
            0 => String::new(),
            1 => " (and another file)".to_owned(),
            more => format!(" (and {more} other files)"),
        };
        match self {
            Told::LockExpired { path } => write!(f, "your lock on {path} has expired"),
            Told::LockOrphaned { path } => write!(
                f,
                "your lock on {path} has expired over uncommitted work; it is kept until the human or a leader decides, \
                 or you lock it again"
            ),
            Told::WorkOrphaned { path, by, files } => {
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
            Told::Pool(told) => told.fmt(f),
            Told::LockExtended { path, by } => write!(f, "your lock on {path} was given more time by {by}"),
            Told::LockedFileChanged { path, by, others } => write!(
                f,
                "{path}{}, which you have locked, was changed{by}; read it again before you write to it",
                more(*others)
            ),
            Told::LockedFileCommitted { files, commit, by } => write!(
                f,
                "{files}, which you have locked, went past the guard into commit {commit}{by}; look at it with: git show \
                 {commit}"
            ),
            Told::CommittedPastGuard { files, commit, holder } => write!(
                f,
                "{files}, which {holder} has locked, went past the guard into commit {commit}, probably by you; ask \
                 {holder}, or take it back with: git revert {commit}"
            ),
            Told::WroteWithoutLock { path, holder: None, others } => write!(
                f,
                "{path}{} was changed without a lock, probably by you; lock what you change before you change it",
                more(*others)
            ),
            Told::WroteWithoutLock { path, holder: Some(holder), others } => write!(
                f,
                "{path}{}, which {holder} has locked, was changed, probably by you; leave it to {holder}, and look at \
                 what you changed",
                more(*others)
            ),
            Told::LockGiven { path, by, reason } => {
                write!(f, "the lock on {path} was handed to you by {by}{}", because(reason))
            }
            Told::WorktreeKept { slug, why } => {
                write!(f, "the worktree {slug} that you released is kept: {}", visible(why))
            }
        }
    }
}
