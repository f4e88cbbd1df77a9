//! Lists tasks.

use std::fmt;

use comity_core::table::table;
use comity_core::tasks::{Opening, Task, TaskStatus, openings};
use comity_core::{Principal, ProjectId, Refusal, World};

use super::TaskView;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::project_scope::{ProjectScope, ScopeView};

/// Tasks in one answer.
const SHOWN_MAX: usize = 500;

/// List open tasks, and which roles are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskList {
    /// Only these, such as ready or in-review
    pub status: Option<String>,
    /// Only this agent's, or me
    pub owner: Option<String>,
    /// Include ended ones
    #[serde(default)]
    pub all: bool,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// What there is to do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskListing {
    /// The tasks, the oldest first.
    pub tasks: Vec<TaskView>,
    /// How many there are in all.
    pub total: usize,
    /// Which roles are wanted: nobody who waits for work could do these.
    pub wanted: Vec<WantedRole>,
    #[serde(flatten)]
    pub scope: ScopeView,
}

/// Ready tasks that nobody is free for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WantedRole {
    pub role: String,
    /// In which team, if it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    pub tasks: usize,
    /// Whether the limit on agents lets one more be started.
    pub may_start: bool,
}

impl Operation for TaskList {
    type Output = TaskListing;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskListing>, Failure> {
        let scope = ProjectScope::of(app, caller, self.all_projects);
        let now = app.engine().now();
        let world = app.engine().world();
        let status = self.status.as_deref().map(status).transpose()?;
        let owner = self.owner.as_deref().map(|name| owner(&world, caller, name)).transpose()?;
        let is_shown = |task: &&Task| {
            let is_open = self.all || status.is_some() || !task.state.is_terminal();
            is_open
                && status.is_none_or(|status| task.status() == status)
                && owner.is_none_or(|owner| task.state.worker() == Some(owner))
        };
        let of = |project: &ProjectId| world.tasks.of(*project);
        let (own, others): (Vec<&ProjectId>, Vec<&ProjectId>) =
            world.projects.keys().partition(|project| scope.shows(**project));
        let found: Vec<&Task> = own.into_iter().flat_map(of).filter(is_shown).collect();
        let elsewhere = others.into_iter().flat_map(of).filter(|task| !task.state.is_terminal()).count();
        let wanted = openings(&world).into_iter();
        let wanted = wanted.filter(|opening| scope.shows(opening.project));
        Ok(Plan::Answer(TaskListing {
            total: found.len(),
            tasks: found
                .iter()
                .take(SHOWN_MAX)
                .map(|task| TaskView {
                    project: scope.name(&world, task.project),
                    ..TaskView::of(task, &world, now).read_by(caller.who, &world)
                })
                .collect(),
            wanted: wanted.map(WantedRole::of).collect(),
            scope: scope.view(elsewhere),
        }))
    }
}

/// Parses a status.
fn status(text: &str) -> Result<TaskStatus, Refusal> {
    let word = text.to_lowercase().replace(['-', '_'], " ");
    TaskStatus::ALL.into_iter().find(|status| status.word() == word).ok_or_else(|| {
        let all: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.word()).collect();
        Refusal::bad_input(format!("{text:?} isn't a status"), format!("there are: {}", all.join(", ")))
    })
}

/// Somebody by name: an agent, the human, or the caller.
pub(in crate::operations) fn owner(world: &World, caller: &Caller, name: &str) -> Result<Principal, Refusal> {
    match name {
        "me" => Ok(caller.who),
        "human" => Ok(Principal::Human),
        name => Ok(Principal::Agent(world.agents.find(name)?.id)),
    }
}

impl WantedRole {
    fn of(opening: Opening) -> WantedRole {
        let Opening { role, team, tasks, may_start, .. } = opening;
        WantedRole { role: role.into(), team: team.map(Into::into), tasks, may_start }
    }
}

impl fmt::Display for WantedRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tasks {
            1 => f.write_str("1 ready task")?,
            n => write!(f, "{n} ready tasks")?,
        }
        if let Some(team) = &self.team {
            write!(f, " for team {team}")?;
        }
        write!(f, ", no {} is asking for work", self.role)?;
        match self.may_start {
            true => Ok(()),
            false => f.write_str("; the limit on agents is reached"),
        }
    }
}

impl fmt::Display for TaskListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<Vec<String>> = self.tasks.iter().map(TaskView::row).collect();
        let headers = ["ID", "STATUS", "OWNER", "PRIORITY", "PROJECT", "TITLE"];
        let tasks = self.scope.list((!rows.is_empty()).then(|| table(&headers, &rows)), "no tasks");
        let left = self.total - self.tasks.len();
        let more = (left > 0).then(|| format!("and {left} more"));
        let wanted = self.wanted.iter().map(ToString::to_string);
        let lines = std::iter::once(tasks).chain(more).chain(wanted);
        f.write_str(&lines.chain(self.scope.more::<TaskList>()).collect::<Vec<_>>().join("\n"))
    }
}
