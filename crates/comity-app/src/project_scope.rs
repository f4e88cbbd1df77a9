//! What a list is about: the project that the caller is in, or all.

use std::collections::HashMap;
use std::path::Path;

use comity_core::display::visible;
use comity_core::next_call::{Argument, NextCall};
use comity_core::runs::AgentRun;
use comity_core::{AgentId, Principal, ProjectId, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::application::Application;
use crate::catalog::name_of;
use crate::operation::{Caller, Operation};

/// Where something belongs.
#[derive(Clone, Copy)]
pub(crate) enum BelongsTo {
    Project(ProjectId),
    /// To the project that this agent works in.
    Agent(AgentId),
    /// To every project.
    All,
}

/// One project, or all.
pub(crate) struct ProjectScope {
    here: Option<(ProjectId, String)>,
    agents: AgentProjects,
}

/// What a list says of its scope.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ScopeView {
    /// The repository that all are in, unless those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How many there are in other repositories.
    pub elsewhere: usize,
}

impl ProjectScope {
    /// The project that the caller is in, unless all are asked for or it is in none.
    pub(crate) fn of(app: &Application, caller: &Caller, all_projects: bool) -> ProjectScope {
        let place = (!all_projects).then(|| app.projects().place(caller).ok()).flatten();
        let here = place.map(|place| (place.project(), place.project_name()));
        ProjectScope { here, agents: AgentProjects::default() }
    }

    /// The same where agents are looked at, or what they did. That takes a look at each directory in which one works.
    pub(crate) fn of_agents(app: &Application, caller: &Caller, all_projects: bool) -> ProjectScope {
        ProjectScope { agents: AgentProjects::known(app), ..ProjectScope::of(app, caller, all_projects) }
    }

    pub(crate) fn shows(&self, what: impl Into<BelongsTo>) -> bool {
        let Some((here, _)) = &self.here else { return true };
        self.project_of(what.into()).is_none_or(|project| project == *here)
    }

    /// The project of one of the list, where those of all are shown.
    pub(crate) fn name(&self, world: &World, what: impl Into<BelongsTo>) -> Option<String> {
        if self.here.is_some() {
            return None;
        }
        let project = self.project_of(what.into())?;
        Some(world.projects.get(&project)?.name().to_owned())
    }

    pub(crate) fn view(&self, elsewhere: usize) -> ScopeView {
        ScopeView { project: self.here.as_ref().map(|(_, name)| name.clone()), elsewhere }
    }

    fn project_of(&self, what: BelongsTo) -> Option<ProjectId> {
        match what {
            BelongsTo::Project(project) => Some(project),
            BelongsTo::Agent(agent) => self.agents.get(agent),
            BelongsTo::All => None,
        }
    }
}

impl ScopeView {
    /// A list below the name of its project; without one, what there is none of.
    pub(crate) fn list(&self, list: Option<String>, none: &str) -> String {
        match (list, self.project.as_deref().map(visible)) {
            (Some(list), Some(project)) => format!("in {project}:\n{list}"),
            (Some(list), None) => list,
            (None, Some(project)) => format!("{none} in {project}"),
            (None, None) => none.to_owned(),
        }
    }

    /// What ends a list of one project, if there is more elsewhere.
    pub(crate) fn more<O: Operation>(&self) -> Option<String> {
        let all = || NextCall::of(name_of::<O>(), [("all_projects", Argument::Yes)]);
        (self.elsewhere > 0).then(|| format!("{} more in other projects: {}", self.elsewhere, all()))
    }

    /// The list, and what ends it.
    pub(crate) fn whole<O: Operation>(&self, list: Option<String>, none: &str) -> String {
        let lines = std::iter::once(self.list(list, none)).chain(self.more::<O>());
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl From<ProjectId> for BelongsTo {
    fn from(project: ProjectId) -> BelongsTo {
        BelongsTo::Project(project)
    }
}

impl From<AgentId> for BelongsTo {
    fn from(agent: AgentId) -> BelongsTo {
        BelongsTo::Agent(agent)
    }
}

impl From<Principal> for BelongsTo {
    fn from(who: Principal) -> BelongsTo {
        who.agent().map_or(BelongsTo::All, BelongsTo::Agent)
    }
}

impl From<&AgentRun> for BelongsTo {
    fn from(run: &AgentRun) -> BelongsTo {
        run.spec.project.map_or(run.by.into(), BelongsTo::Project)
    }
}

/// Where agents work.
#[derive(Default)]
pub(crate) struct AgentProjects(HashMap<AgentId, ProjectId>);

impl AgentProjects {
    pub(crate) fn known(app: &Application) -> AgentProjects {
        let mut by_directory: HashMap<Box<str>, Vec<AgentId>> = HashMap::new();
        for agent in app.engine().world().agents.iter() {
            if let Some(cwd) = &agent.profile.cwd {
                by_directory.entry(cwd.clone()).or_default().push(agent.id);
            }
        }
        let mut agents = HashMap::new();
        for (cwd, all) in by_directory {
            if let Ok(place) = app.projects().at(Path::new(&*cwd)) {
                agents.extend(all.into_iter().map(|agent| (agent, place.project())));
            }
        }
        AgentProjects(agents)
    }

    pub(crate) fn get(&self, agent: AgentId) -> Option<ProjectId> {
        self.0.get(&agent).copied()
    }
}
