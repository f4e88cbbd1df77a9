//! Lists tasks.

use std::fmt;

use comity_core::display::visible;
use comity_core::next_call::Argument;
use comity_core::table::table;
use comity_core::tasks::{Opening, Task, TaskStatus, openings};
use comity_core::{Principal, ProjectId, Refusal, World};

use super::TaskView;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::projects::{elsewhere, in_project};

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
    /// The repository that they are in, if it is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How many there are besides that have ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub ended: usize,
    /// How many open tasks there are in other repositories.
    pub elsewhere: usize,
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
        let scope = match self.all_projects {
            true => None,
            false => Some(app.projects().place(caller)?.project()),
        };
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
            world.projects.keys().partition(|project| scope.is_none_or(|scope| **project == scope));
        let ended = match self.all || status.is_some() || owner.is_some() {
            true => 0,
            false => own.iter().copied().flat_map(of).filter(|task| task.state.is_terminal()).count(),
        };
        let found: Vec<&Task> = own.into_iter().flat_map(of).filter(is_shown).collect();
        let elsewhere = others.into_iter().flat_map(of).filter(|task| !task.state.is_terminal()).count();
        let wanted = openings(&world).into_iter();
        let wanted = wanted.filter(|opening| scope.is_none_or(|scope| opening.project == scope));
        Ok(Plan::Answer(TaskListing {
            total: found.len(),
            tasks: found
                .iter()
                .take(SHOWN_MAX)
                .map(|task| TaskView::of(task, &world, now).read_by(caller.who, &world))
                .collect(),
            wanted: wanted.map(WantedRole::of).collect(),
            project: in_project(&world, scope),
            ended,
            elsewhere,
        }))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A status as people and programs write it.
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
        let tasks = match &self.tasks[..] {
            [] => {
                let place = self.project.as_ref().map(|name| format!(" in {name}")).unwrap_or_default();
                match self.ended {
                    0 => format!("no tasks{place}"),
                    ended => format!(
                        "no open tasks{place}; {ended} ended: {}",
                        next_call::<TaskList>([("all", Argument::Yes)])
                    ),
                }
            }
            tasks => {
                let rows: Vec<Vec<String>> = tasks.iter().map(TaskView::row).collect();
                let place = self.project.as_deref().map(|name| format!("in {}:\n", visible(name)));
                let table = table(&["ID", "STATUS", "OWNER", "PRIORITY", "TITLE"], &rows);
                place.unwrap_or_default() + &table
            }
        };
        let left = self.total - self.tasks.len();
        let more = (left > 0).then(|| format!("and {left} more"));
        let wanted = self.wanted.iter().map(ToString::to_string);
        let lines = std::iter::once(tasks).chain(more).chain(wanted);
        let all = next_call::<TaskList>([("all_projects", Argument::Yes)]);
        f.write_str(&lines.chain(elsewhere(self.elsewhere, &all)).collect::<Vec<_>>().join("\n"))
    }
}
