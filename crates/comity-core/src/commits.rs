//! Commits that agents made of what they had locked, and commits that went past the guard.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::CANDIDATES_MAX;
use crate::notices::Told;
use crate::refusal::Refusal;
use crate::world::World;
use crate::writes::by;

/// A commit that was made and verified.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// Its id.
    pub id: Box<str>,
    /// The branch that it is on; none for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    /// The first line of its message.
    pub subject: Box<str>,
    /// What it changed; with very many files, the first of them.
    pub files: Vec<CommittedFile>,
    /// How many files it changed.
    pub files_total: usize,
}

/// One file of a commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommittedFile {
    /// Its path in the project.
    pub path: Box<str>,
    /// The id of its new content; none if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blob: Option<Box<str>>,
}

/// A commit that no guard has judged, of what somebody else had locked when the branch moved.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnguardedCommit {
    /// In which project.
    pub project: ProjectId,
    /// Its id.
    pub commit: Box<str>,
    /// The branch that it is on; none for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    /// What of it was locked; with very many files, the first of them.
    pub paths: Vec<Box<str>>,
    /// Further files.
    #[serde(skip_serializing_if = "is_none", default)]
    pub others: usize,
    /// Who had them locked.
    pub holder: Principal,
    /// Agents that may have made it; nobody means a person or an unknown program.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub candidates: Vec<AgentId>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl UnguardedCommit {
    /// The first characters of its id, as git shows it.
    fn short(&self) -> &str {
        self.commit.get(..10).unwrap_or(&self.commit)
    }

    fn files(&self) -> String {
        let named = self.paths.join(", ");
        match self.others {
            0 => named,
            1 => format!("{named} and another file"),
            more => format!("{named} and {more} other files"),
        }
    }

    /// What happened, in a sentence.
    pub fn summary(&self, world: &World) -> String {
        let on = self.branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
        let (files, holder) = (self.files(), world.name_of(self.holder));
        format!(
            "{files}, locked by {holder}, went past the guard into commit {}{on}{}",
            self.short(),
            by(world, &self.candidates)
        )
    }
}

/// Writes down what the watcher saw; only the system may tell.
pub(crate) fn saw(who: Principal, commit: &UnguardedCommit) -> Result<Vec<Event>, Refusal> {
    if who != Principal::System {
        let problem = "only the watcher reports commits that went past the guard".into();
        return Err(Refusal::NotAllowed { problem, hint: "commit with: comity commit".into() });
    }
    let mut commit = commit.clone();
    commit.candidates.truncate(CANDIDATES_MAX);
    Ok(vec![Event::CommitUnguarded(Box::new(commit))])
}

/// The holder and the likely author learn of it.
pub(crate) fn apply(world: &mut World, seq: u64, commit: &UnguardedCommit) {
    let (files, id) = (commit.files(), commit.short().to_owned());
    let by = by(world, &commit.candidates);
    world.tell(
        commit.holder,
        seq,
        Told::LockedFileCommitted { files: files.clone(), commit: id.clone(), by },
    );
    if let [author] = commit.candidates[..] {
        let holder = world.name_of(commit.holder);
        let told = Told::CommittedPastGuard { files, commit: id, holder };
        world.tell(Principal::Agent(author), seq, told);
    }
}
