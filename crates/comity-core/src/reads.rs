//! What agents know of files: the contents that each last read or wrote.
//!
//! A lock keeps two agents from writing at the same time. It does not stop one from overwriting a file that it read
//! before somebody else changed it, which loses that change. So what an agent knows is compared first.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decide::AskResult;
use crate::display::visible;
use crate::event::{Event, Record, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, ContentHash, Principal, ProjectId};
use crate::limits::FILES_KNOWN_MAX;
use crate::people::Asker;
use crate::refusal::{FeatureRefusal, Refusal, RefusalKind};
use crate::sentence::Telling;
use crate::world::World;

/// A file, and the hash of its content.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileContent {
    pub path: Box<str>,
    pub content: ContentHash,
}

/// Asks about what agents know.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadAsk {
    KnowFile { project: ProjectId, file: FileContent },
}

/// What agents learned about files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReadEvent {
    /// An agent read or wrote a file, so it knows the content.
    FileKnown { project: ProjectId, file: FileContent },
}

/// What every live agent knows of files.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reads {
    by_agent: BTreeMap<AgentId, KnownFiles>,
}

#[derive(Clone, PartialEq, Debug, Default)]
struct KnownFiles {
    files: BTreeMap<(ProjectId, Box<str>), (ContentHash, u64)>,
    by_age: BTreeMap<u64, (ProjectId, Box<str>)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFact {
    agent: AgentId,
    project: ProjectId,
    path: Box<str>,
    content: ContentHash,
    seq: u64,
}

impl Reads {
    /// The content of the file that the agent last read or wrote.
    pub fn known(&self, agent: AgentId, project: ProjectId, path: &str) -> Option<ContentHash> {
        let known = self.by_agent.get(&agent)?;
        known.files.get(&(project, path.into())).map(|(content, _)| *content)
    }

    fn learn(&mut self, agent: AgentId, project: ProjectId, path: &str, content: ContentHash, seq: u64) {
        let known = self.by_agent.entry(agent).or_default();
        let file = (project, Box::from(path));
        if let Some((_, before)) = known.files.insert(file.clone(), (content, seq)) {
            known.by_age.remove(&before);
        }
        known.by_age.insert(seq, file);
        if known.files.len() > FILES_KNOWN_MAX
            && let Some((_, oldest)) = known.by_age.pop_first()
        {
            known.files.remove(&oldest);
        }
    }

    pub(crate) fn forget(&mut self, agent: AgentId) {
        self.by_agent.remove(&agent);
    }

    pub(crate) fn facts(&self) -> Vec<ReadFact> {
        let facts = self.by_agent.iter().flat_map(|(agent, known)| {
            known.files.iter().map(|((project, path), (content, seq))| ReadFact {
                agent: *agent,
                project: *project,
                path: path.clone(),
                content: *content,
                seq: *seq,
            })
        });
        facts.collect()
    }

    pub(crate) fn restore(facts: Vec<ReadFact>) -> Reads {
        let mut reads = Reads::default();
        for fact in facts {
            reads.learn(fact.agent, fact.project, &fact.path, fact.content, fact.seq);
        }
        reads
    }
}

/// Records that an agent read or wrote a file, if that is new.
fn learn(world: &World, who: Principal, project: ProjectId, file: &FileContent) -> Vec<Event> {
    let Some(agent) = who.agent() else { return vec![] };
    if world.reads.known(agent, project, &file.path) == Some(file.content) {
        return vec![];
    }
    vec![Event::Read(ReadEvent::FileKnown { project, file: file.clone() })]
}

/// The file was changed after the caller read it: overwriting it would lose that change.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StaleRead {
    #[serde(skip)]
    pub path: String,
    /// The change, if it is known.
    #[serde(skip)]
    pub difference: Option<String>,
}

impl FeatureRefusal for StaleRead {
    fn code(&self) -> &'static str {
        "stale_read"
    }

    fn kind(&self) -> RefusalKind {
        RefusalKind::Conflict
    }

    fn hint(&self) -> String {
        "read the file again, and write with that change in it".into()
    }
}

impl fmt::Display for StaleRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was changed after you read it", visible(&self.path))?;
        match &self.difference {
            None => Ok(()),
            Some(difference) => write!(f, ":\n{difference}"),
        }
    }
}

/// Whether the whole file may be written: not if somebody changed it after the agent read it.
pub fn may_overwrite(
    world: &World,
    who: Principal,
    project: ProjectId,
    path: &str,
    content_now: ContentHash,
) -> Result<(), Refusal> {
    let known = who.agent().and_then(|agent| world.reads.known(agent, project, path));
    match known {
        Some(known) if known != content_now => {
            Err(Refusal::Read(StaleRead { path: path.to_owned(), difference: None }))
        }
        Some(_) | None => Ok(()),
    }
}

impl FeatureAsk for ReadAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let ReadAsk::KnowFile { project, file } = self;
        Ok(learn(world, asker.who, *project, file).into())
    }

    fn is_work(&self) -> bool {
        true
    }
}

event_types!(ReadEvent {
    ReadEvent::FileKnown { .. } => live("file_known", "file:known").housekeeping(),
});

impl FeatureEvent for ReadEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        let ReadEvent::FileKnown { project, file } = self;
        if let Principal::Agent(agent) = record.by {
            world.reads.learn(agent, *project, &file.path, file.content, record.seq);
        }
    }

    /// It concerns only whoever acted.
    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        vec![]
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let ReadEvent::FileKnown { file, .. } = self;
        format!("{} read {}", telling.by(), file.path)
    }
}
