//! The repositories that Comity has seen.

use serde::{Deserialize, Serialize};

use crate::decide::AskResult;
use crate::event::{Event, Record, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, ProjectId};
use crate::paths::CaseRule;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

/// One repository with all its worktrees.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Its common git directory, which identifies it.
    pub common_dir: Box<str>,
    pub case: CaseRule,
}

/// Asks about projects.
#[derive(Clone, PartialEq, Debug)]
pub enum ProjectAsk {
    Add { project: ProjectId, common_dir: Box<str>, case: CaseRule },
}

/// What happened to projects.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProjectEvent {
    #[serde(rename = "project_added")]
    Added { project: ProjectId, common_dir: Box<str>, case: CaseRule },
}

impl Project {
    /// A short name: the directory that contains the repository.
    pub fn name(&self) -> &str {
        let path = self.common_dir.trim_end_matches('/');
        let path = self.top().unwrap_or(path);
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Its main worktree; a bare repository has none.
    pub fn top(&self) -> Option<&str> {
        self.common_dir.trim_end_matches('/').strip_suffix("/.git")
    }
}

impl FeatureAsk for ProjectAsk {
    fn decide(&self, world: &World, _: &Asker) -> Result<AskResult, Refusal> {
        let ProjectAsk::Add { project, common_dir, case } = self;
        let events = match world.projects.contains_key(project) {
            true => vec![],
            false => {
                let (project, common_dir, case) = (*project, common_dir.clone(), *case);
                vec![Event::Project(ProjectEvent::Added { project, common_dir, case })]
            }
        };
        Ok(events.into())
    }
}

event_types!(ProjectEvent {
    ProjectEvent::Added { .. } => live("project_added", "project:added").housekeeping(),
});

impl FeatureEvent for ProjectEvent {
    fn apply(&self, world: &mut World, _: &Record) {
        let ProjectEvent::Added { project, common_dir, case } = self;
        world.projects.insert(*project, Project { common_dir: common_dir.clone(), case: *case });
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        vec![]
    }

    fn sentence(&self, _: &Telling<'_>) -> String {
        let ProjectEvent::Added { common_dir, .. } = self;
        format!("project {common_dir}")
    }
}
