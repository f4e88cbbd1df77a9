//! What an agent must be told, once.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decide::AskResult;
use crate::display::visible;
use crate::event::{Event, EventType, Record, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::AgentId;
use crate::people::Asker;
use crate::pools::PoolTold;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::tasks::TaskTold;
use crate::time::Timestamp;
use crate::world::World;

/// Something that happened to an agent without its doing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// A number that grows, to say up to where notices were taken.
    pub id: u64,
    pub at: Timestamp,
    pub what: NoticeKind,
}

/// What can be asked about notices.
#[derive(Clone, PartialEq, Debug)]
pub enum NoticeAsk {
    /// Takes what waits for the calling agent.
    Take,
}

/// What happened to notices.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NoticeEvent {
    /// An agent was told what waited for it.
    #[serde(rename = "notices_taken")]
    Taken { agent: AgentId, up_to: u64 },
}

/// The kinds of notice.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum NoticeKind {
    /// A lock ran out and is free.
    LockExpired {
        path: String,
    },
    /// A lock ran out over uncommitted work.
    LockOrphaned {
        path: String,
    },
    /// An agent that the receiver leads left uncommitted work under a lock.
    WorkOrphaned {
        path: String,
        by: String,
        files: Vec<String>,
    },
    /// Somebody took the lock away.
    LockTaken {
        path: String,
        by: String,
        reason: Option<String>,
    },
    /// Somebody gave the lock more time.
    LockExtended {
        path: String,
        by: String,
    },
    /// A letter never reached its receiver.
    MailUndelivered {
        to: String,
        id: String,
        subject: Option<String>,
    },
    /// Somebody confirmed a decision, or turned it down.
    DecisionSettled {
        id: String,
        title: String,
        how: String,
        by: String,
    },
    /// Somebody else wrote to what this agent has locked.
    LockedFileChanged {
        path: String,
        /// By whom, as far as anybody can tell.
        by: String,
        others: usize,
    },
    /// What this agent has locked is in a commit that went past the guard.
    LockedFileCommitted {
        files: String,
        commit: String,
        /// By whom, as far as anybody can tell.
        by: String,
    },
    /// This agent probably made a commit of what another has locked.
    CommittedPastGuard {
        files: String,
        commit: String,
        holder: String,
    },
    /// This agent probably wrote to what it has not locked.
    WroteWithoutLock {
        path: String,
        holder: Option<String>,
        others: usize,
    },
    /// A lock came to this agent.
    LockGiven {
        path: String,
        by: String,
        reason: Option<String>,
    },
    /// An agent that the receiver leads has ended.
    WorkerEnded {
        name: String,
        /// completed, failed, terminated or exited.
        how: String,
        cause: String,
    },
    Task(TaskTold),
    Pool(PoolTold),
    /// A worktree that was released stays.
    WorktreeKept {
        slug: String,
        why: String,
    },
}

impl fmt::Display for NoticeKind {
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
            NoticeKind::LockExpired { path } => write!(f, "your lock on {path} has expired"),
            NoticeKind::LockOrphaned { path } => write!(
                f,
                "your lock on {path} has expired over uncommitted work; it is kept until the human or a leader decides, \
                 or you lock it again"
            ),
            NoticeKind::WorkOrphaned { path, by, files } => {
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
            NoticeKind::LockTaken { path, by, reason } => {
                write!(f, "your lock on {path} was taken away by {by}{}", because(reason))
            }
            NoticeKind::MailUndelivered { to, id, subject } => {
                write!(f, "{to} ended before your letter {id} reached it{}", because(subject))
            }
            NoticeKind::DecisionSettled { id, title, how, by } => {
                write!(f, "your decision {id} (\"{}\") was {how} by {by}", visible(title))
            }
            NoticeKind::Task(told) => told.fmt(f),
            NoticeKind::Pool(told) => told.fmt(f),
            NoticeKind::LockExtended { path, by } => {
                write!(f, "your lock on {path} was given more time by {by}")
            }
            NoticeKind::LockedFileChanged { path, by, others } => write!(
                f,
                "{path}{}, which you have locked, was changed{by}; read it again before you write to it",
                more(*others)
            ),
            NoticeKind::LockedFileCommitted { files, commit, by } => write!(
                f,
                "{files}, which you have locked, went past the guard into commit {commit}{by}; look at it with: git show \
                 {commit}"
            ),
            NoticeKind::CommittedPastGuard { files, commit, holder } => write!(
                f,
                "{files}, which {holder} has locked, went past the guard into commit {commit}, probably by you; ask \
                 {holder}, or take it back with: git revert {commit}"
            ),
            NoticeKind::WroteWithoutLock { path, holder: None, others } => write!(
                f,
                "{path}{} was changed without a lock, probably by you; lock what you change before you change it",
                more(*others)
            ),
            NoticeKind::WroteWithoutLock { path, holder: Some(holder), others } => write!(
                f,
                "{path}{}, which {holder} has locked, was changed, probably by you; leave it to {holder}, and look at \
                 what you changed",
                more(*others)
            ),
            NoticeKind::LockGiven { path, by, reason } => {
                write!(f, "the lock on {path} was handed to you by {by}{}", because(reason))
            }
            NoticeKind::WorkerEnded { name, how, cause } => {
                write!(f, "{name}, which you lead, has ended ({how}: {})", visible(cause))
            }
            NoticeKind::WorktreeKept { slug, why } => {
                write!(f, "the worktree {slug} that you released is kept: {}", visible(why))
            }
        }
    }
}

impl FeatureAsk for NoticeAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let agent = asker.who.agent().and_then(|id| world.agents.get(id));
        let taken = agent.and_then(|agent| {
            let last = agent.notices.last()?;
            Some(Event::Notice(NoticeEvent::Taken { agent: agent.id, up_to: last.id }))
        });
        Ok(Vec::from_iter(taken).into())
    }
}

impl FeatureEvent for NoticeEvent {
    fn kind(&self) -> EventType {
        live("notices_taken", "notices:taken")
    }

    fn apply(&self, world: &mut World, _: &Record) {
        let NoticeEvent::Taken { agent, up_to } = self;
        world.change_agent(*agent, |agent| agent.notices.retain(|notice| notice.id > *up_to));
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        let NoticeEvent::Taken { agent, .. } = self;
        vec![*agent]
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let NoticeEvent::Taken { agent, .. } = self;
        format!("{} was told what waited for it", telling.agent(*agent))
    }
}
