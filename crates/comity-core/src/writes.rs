//! Writes without a lock, as the watcher saw them: who may have written, and who has to be told.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Event, Record, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::CANDIDATES_MAX;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

/// A file that changed while nobody who might have done it held a lock on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnlockedWrite {
    pub project: ProjectId,
    pub path: Box<str>,
    /// The root of its worktree.
    pub tree: Box<str>,
    /// Who has it locked, and did not write it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub holder: Option<Principal>,
    /// Agents that may have written it; if empty, a person or an unknown program did.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub candidates: Vec<AgentId>,
    /// How many other files changed in the same way at the same time, and are not listed.
    #[serde(skip_serializing_if = "is_none", default)]
    pub others: usize,
}

/// Asks about writes.
#[derive(Clone, PartialEq, Debug)]
pub enum WriteAsk {
    SawUnlocked(Box<UnlockedWrite>),
}

/// What happened to unlocked files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WriteEvent {
    #[serde(rename = "unlocked_write")]
    Unlocked(Box<UnlockedWrite>),
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl UnlockedWrite {
    /// The likely author: the only agent that may have written it.
    pub(crate) fn likely_author(&self) -> Option<AgentId> {
        match self.candidates[..] {
            [author] => Some(author),
            _ => None,
        }
    }

    /// What happened, for people.
    pub fn sentence(&self, world: &World) -> String {
        let UnlockedWrite { path, others, .. } = self;
        let more = match others {
            0 => String::new(),
            1 => " and another file".to_owned(),
            more => format!(" and {more} other files"),
        };
        let (were, by) = (if *others == 0 { "was" } else { "were" }, by(world, &self.candidates));
        match self.holder {
            Some(holder) => {
                format!("{path}{more}, locked by {}, {were} changed{by}", world.name_of(holder))
            }
            None => format!("{path}{more} {were} changed without a lock{by}"),
        }
    }
}

/// Who did it, as far as that is known.
pub(crate) fn by(world: &World, candidates: &[AgentId]) -> String {
    let names: Vec<String> = candidates.iter().map(|id| world.name_of(Principal::Agent(*id))).collect();
    match &names[..] {
        [] => " by a person or an unknown program".to_owned(),
        [author] => format!(", probably by {author}"),
        [first @ .., last] => format!(" by {} or {last}", first.join(", ")),
    }
}

/// Records what the watcher saw; only the system may.
fn saw(who: Principal, write: &UnlockedWrite) -> Result<Vec<Event>, Refusal> {
    if who != Principal::System {
        let problem = "only the watcher reports writes without a lock".into();
        return Err(Refusal::NotAllowed { problem, hint: "lock what you change".into() });
    }
    let mut write = write.clone();
    write.candidates.truncate(CANDIDATES_MAX);
    Ok(vec![Event::Write(WriteEvent::Unlocked(Box::new(write)))])
}

/// A notice about a write without a lock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum WriteTold {
    /// Somebody else wrote to what this agent has locked; `by` says who, as far as that is known.
    #[serde(rename = "locked_file_changed")]
    LockedFileChanged { path: String, by: String, others: usize },
    /// This agent probably wrote to what it has not locked.
    #[serde(rename = "wrote_without_lock")]
    WithoutLock { path: String, holder: Option<String>, others: usize },
}

impl fmt::Display for WriteTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = |others: usize| match others {
            0 => String::new(),
            1 => " (and another file)".to_owned(),
            more => format!(" (and {more} other files)"),
        };
        match self {
            WriteTold::LockedFileChanged { path, by, others } => write!(
                f,
                "{path}{}, which you have locked, was changed{by}; read it again before you write to it",
                more(*others)
            ),
            WriteTold::WithoutLock { path, holder: None, others } => write!(
                f,
                "{path}{} was changed without a lock, probably by you; lock what you change before you change it",
                more(*others)
            ),
            WriteTold::WithoutLock { path, holder: Some(holder), others } => write!(
                f,
                "{path}{}, which {holder} has locked, was changed, probably by you; leave it to {holder}, and look at \
                 what you changed",
                more(*others)
            ),
        }
    }
}

/// Tells the lock's holder and the likely author.
fn apply(world: &mut World, seq: u64, write: &UnlockedWrite) {
    let (path, others) = (write.path.to_string(), write.others);
    let author = write.likely_author().map(Principal::Agent);
    if let Some(holder) = write.holder {
        let by = by(world, &write.candidates);
        world.tell(holder, seq, WriteTold::LockedFileChanged { path: path.clone(), by, others });
    }
    if let Some(author) = author {
        let holder = write.holder.map(|holder| world.name_of(holder));
        world.tell(author, seq, WriteTold::WithoutLock { path, holder, others });
    }
}

impl FeatureAsk for WriteAsk {
    fn decide(&self, _: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let WriteAsk::SawUnlocked(write) = self;
        Ok(saw(asker.who, write)?.into())
    }
}

event_types!(WriteEvent {
    WriteEvent::Unlocked(_) => live("unlocked_write", "file:unlocked_write"),
});

impl FeatureEvent for WriteEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        let WriteEvent::Unlocked(write) = self;
        apply(world, record.seq, write);
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        let WriteEvent::Unlocked(write) = self;
        agents(write.holder).into_iter().chain(write.candidates.iter().copied()).collect()
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let WriteEvent::Unlocked(write) = self;
        write.sentence(telling.world)
    }
}
