//! Writes without a lock, as the watcher saw them: who may have written, and who has to be told.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::CANDIDATES_MAX;
use crate::notices::Told;
use crate::refusal::Refusal;
use crate::world::World;

/// A file that changed while nobody who might have done it held a lock on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnlockedWrite {
    /// In which project.
    pub project: ProjectId,
    /// Which file.
    pub path: Box<str>,
    /// The top of the worktree that it is in.
    pub tree: Box<str>,
    /// Who has it locked, and did not write it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub holder: Option<Principal>,
    /// Agents that may have written it; nobody means a person or an unknown program.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub candidates: Vec<AgentId>,
    /// Files that changed in the same moment in the same way, and are not named each.
    #[serde(skip_serializing_if = "is_none", default)]
    pub others: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl UnlockedWrite {
    /// Who probably wrote it: the only one that may have.
    pub fn likely_author(&self) -> Option<AgentId> {
        match self.candidates[..] {
            [author] => Some(author),
            _ => None,
        }
    }

    /// What happened, in a sentence.
    pub fn summary(&self, world: &World) -> String {
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

/// Who did it, as far as anybody can tell.
pub(crate) fn by(world: &World, candidates: &[AgentId]) -> String {
    let names: Vec<String> = candidates.iter().map(|id| world.name_of(Principal::Agent(*id))).collect();
    match &names[..] {
        [] => " by a person or an unknown program".to_owned(),
        [author] => format!(", probably by {author}"),
        [first @ .., last] => format!(" by {} or {last}", first.join(", ")),
    }
}

/// Writes down what the watcher saw; only the system may tell.
pub(crate) fn saw(who: Principal, write: &UnlockedWrite) -> Result<Vec<Event>, Refusal> {
    if who != Principal::System {
        let problem = "only the watcher reports writes without a lock".into();
        return Err(Refusal::NotAllowed { problem, hint: "lock what you change".into() });
    }
    let mut write = write.clone();
    write.candidates.truncate(CANDIDATES_MAX);
    Ok(vec![Event::UnlockedWrite(Box::new(write))])
}

/// The holder and the likely author learn of it.
pub(crate) fn apply(world: &mut World, seq: u64, write: &UnlockedWrite) {
    let (path, others) = (write.path.to_string(), write.others);
    let author = write.likely_author().map(Principal::Agent);
    if let Some(holder) = write.holder {
        let by = by(world, &write.candidates);
        world.tell(holder, seq, Told::LockedFileChanged { path: path.clone(), by, others });
    }
    if let Some(author) = author {
        let holder = write.holder.map(|holder| world.name_of(holder));
        world.tell(author, seq, Told::WroteWithoutLock { path, holder, others });
    }
}
