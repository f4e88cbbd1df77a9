//! Lists tasks.

use std::fmt;

use comity_core::tasks::{Opening, Task, TaskStatus, openings};
use comity_core::{Principal, Refusal, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TaskView;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Tasks that one answer shows.
const SHOWN_MAX: usize = 500;

/// Lists open tasks, and which roles are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskList {
    /// Only these, such as ready or in-review
    pub status: Option<String>,
    /// Only of this agent, or me
    pub owner: Option<String>,
    /// Ended ones too
    #[serde(default)]
    pub all: bool,
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
}

/// Ready tasks that nobody is free for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WantedRole {
    /// Who could do them.
    pub role: String,
    /// In which team, if it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// How many there are.
    pub tasks: usize,
    /// Whether the limit on agents lets one more be started.
    pub may_start: bool,
}

impl Operation for TaskList {
    type Output = TaskListing;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskListing>, Failure> {
        let project = app.projects().place(caller)?.project();
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
        let found: Vec<&Task> = world.tasks.of(project).filter(is_shown).collect();
        let wanted = openings(&world).into_iter().filter(|opening| opening.project == project);
        Ok(Plan::Answer(TaskListing {
            total: found.len(),
            tasks: found.iter().take(SHOWN_MAX).map(|task| TaskView::of(task, &world, now)).collect(),
            wanted: wanted.map(WantedRole::of).collect(),
        }))
    }
}

/// A status as people and programs write it.
fn status(text: &str) -> Result<TaskStatus, Refusal> {
    let word = text.to_lowercase().replace(['-', '_'], " ");
    TaskStatus::ALL.into_iter().find(|status| status.word() == word).ok_or_else(|| {
        let all: Vec<&str> = TaskStatus::ALL.iter().map(|status| status.word()).collect();
        Refusal::bad_input(format!("{text:?} is no status"), format!("there are: {}", all.join(", ")))
    })
}

/// Somebody by name: an agent, the human, or the caller.
pub(super) fn owner(world: &World, caller: &Caller, name: &str) -> Result<Principal, Refusal> {
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
            1 => f.write_str("1 task waits")?,
            n => write!(f, "{n} tasks wait")?,
        }
        write!(f, " for an agent of role {}", self.role)?;
        if let Some(team) = &self.team {
            write!(f, " in the team {team}")?;
        }
        match self.may_start {
            true => Ok(()),
            false => f.write_str("; the limit on agents is reached"),
        }
    }
}

impl fmt::Display for TaskListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tasks.is_empty() {
            return f.write_str("no tasks");
        }
        let tasks = self.tasks.iter().map(TaskView::line);
        let left = self.total - self.tasks.len();
        let more = (left > 0).then(|| format!("and {left} more"));
        let wanted = self.wanted.iter().map(ToString::to_string);
        f.write_str(&tasks.chain(more).chain(wanted).collect::<Vec<_>>().join("\n"))
    }
}
