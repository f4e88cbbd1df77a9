//! Commits that agents made of what they had locked, and commits that bypassed the guard.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::calls;
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::display::counted;
use crate::event::{Event, Record, durable, event_types};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::CANDIDATES_MAX;
use crate::next_call::call;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;
use crate::writes::by;

/// A commit that was made and verified.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    pub id: Box<str>,
    /// `None` for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    pub subject: Box<str>,
    /// Not all of them, if there are very many.
    pub files: Vec<CommittedFile>,
    pub files_total: usize,
}

/// One file of a commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommittedFile {
    pub path: Box<str>,
    /// The id of the new content; `None` if the file was deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blob: Option<Box<str>>,
}

/// A commit that no guard checked, with files that somebody else had locked when the branch moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnguardedCommit {
    pub project: ProjectId,
    pub commit: Box<str>,
    /// `None` for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    /// The locked files in it; not all, if there are very many.
    pub paths: Vec<Box<str>>,
    #[serde(skip_serializing_if = "is_none", default)]
    pub others: usize,
    pub holder: Principal,
    /// Agents that may have made it; if empty, a person or an unknown program did.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub candidates: Vec<AgentId>,
}

/// Asks about commits.
#[derive(Clone, PartialEq, Debug)]
pub enum CommitAsk {
    SawUnguarded(Box<UnguardedCommit>),
}

/// What happened to commits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommitEvent {
    #[serde(rename = "commit_unguarded")]
    Unguarded(Box<UnguardedCommit>),
    #[serde(rename = "committed")]
    Made {
        project: ProjectId,
        commit: Commit,
        /// Whether it was found on its branch later, because its maker could not record it.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        recovered: bool,
    },
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl UnguardedCommit {
    fn files(&self) -> String {
        let named = self.paths.join(", ");
        match self.others {
            0 => named,
            1 => format!("{named} and another file"),
            more => format!("{named} and {more} other files"),
        }
    }

    /// What happened, for people.
    pub fn sentence(&self, world: &World) -> String {
        let on = self.branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
        let (files, holder) = (self.files(), world.name_of(self.holder));
        format!(
            "{files}, locked by {holder}, went past the guard into commit {}{on}{}",
            short(&self.commit),
            by(world, &self.candidates)
        )
    }
}

/// Records what the watcher saw; only the system may.
fn saw(who: Principal, commit: &UnguardedCommit) -> Result<Vec<Event>, Refusal> {
    if who != Principal::System {
        let problem = "only the watcher reports commits that went past the guard".into();
        return Err(Refusal::NotAllowed {
            problem,
            hint: format!("commit with: {}", call(calls::COMMIT, [])),
        });
    }
    let mut commit = commit.clone();
    commit.candidates.truncate(CANDIDATES_MAX);
    Ok(vec![Event::Commit(CommitEvent::Unguarded(Box::new(commit)))])
}

/// A notice about a commit that bypassed the guard.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum CommitTold {
    /// It contains what this agent has locked; `by` says whose commit it is, as far as that is known.
    #[serde(rename = "locked_file_committed")]
    LockedFile { files: String, commit: String, by: String },
    /// This agent probably made it.
    #[serde(rename = "committed_past_guard")]
    PastGuard { files: String, commit: String, holder: String },
}

impl fmt::Display for CommitTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitTold::LockedFile { files, commit, by } => write!(
                f,
                "{files}, which you have locked, went past the guard into commit {commit}{by}; look at it with: git show \
                 {commit}"
            ),
            CommitTold::PastGuard { files, commit, holder } => write!(
                f,
                "{files}, which {holder} has locked, went past the guard into commit {commit}, probably by you; ask \
                 {holder}, or take it back with: git revert {commit}"
            ),
        }
    }
}

/// Tells the lock's holder and the likely author.
fn apply(world: &mut World, seq: u64, commit: &UnguardedCommit) {
    let (files, id) = (commit.files(), short(&commit.commit).to_owned());
    let by = by(world, &commit.candidates);
    world.tell(commit.holder, seq, CommitTold::LockedFile { files: files.clone(), commit: id.clone(), by });
    if let [author] = commit.candidates[..] {
        let holder = world.name_of(commit.holder);
        let told = CommitTold::PastGuard { files, commit: id, holder };
        world.tell(Principal::Agent(author), seq, told);
    }
}

impl FeatureAsk for CommitAsk {
    fn decide(&self, _: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let CommitAsk::SawUnguarded(commit) = self;
        Ok(saw(asker.who, commit)?.into())
    }
}

event_types!(CommitEvent {
    CommitEvent::Unguarded(_) => durable("commit_unguarded", "commit:unguarded"),
    CommitEvent::Made { .. } => durable("file_commit", "commit:made"),
});

impl FeatureEvent for CommitEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        match self {
            CommitEvent::Unguarded(commit) => apply(world, record.seq, commit),
            CommitEvent::Made { project, commit, recovered } => {
                world.moves.committed(record.by, *project, commit, *recovered);
                // An agent that has ended will not ask again.
                if let Some(gone) = record.by.agent().filter(|id| world.agents.living(*id).is_err()) {
                    world.moves.forget(gone);
                }
            }
        }
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        match self {
            CommitEvent::Unguarded(commit) => {
                agents([commit.holder]).into_iter().chain(commit.candidates.iter().copied()).collect()
            }
            // It concerns only whoever acted.
            CommitEvent::Made { .. } => vec![],
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        match self {
            CommitEvent::Unguarded(commit) => commit.sentence(telling.world),
            CommitEvent::Made { commit, recovered, .. } => {
                let (by, files) = (telling.by(), counted(commit.files_total, "file"));
                let (id, later) = (short(&commit.id), found_later(*recovered));
                format!("{by} committed {files} as {id}: {}{later}", commit.subject)
            }
        }
    }
}

/// The abbreviated id of a commit, as git shows it.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

pub(crate) fn found_later(recovered: bool) -> &'static str {
    if recovered { " (found on its branch: it was made, and not recorded)" } else { "" }
}
