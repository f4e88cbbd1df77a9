//! Changes a task: one tool for all that agents do with one.

use comity_core::redact::redact;
use comity_core::tasks::{BriefChange, Task, TaskAct, TaskAsk, TaskRef, TaskState};
use comity_core::{Ask, Refusal};

use super::list::owner;
use super::start::start;
use super::{TaskChange, act};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Change a task: status, owner, title, files or what comes first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdate {
    /// Id of the task
    #[serde(alias = "taskId")]
    pub id: String,
    /// running, done, failed, ready (again), paused, skipped, cancelled, accepted or sent-back
    pub status: Option<String>,
    /// The new owner: an agent, or me
    pub owner: Option<String>,
    /// What shows that it is done
    pub evidence: Option<String>,
    /// Why it failed or was sent back
    pub reason: Option<String>,
    /// The new title
    #[serde(alias = "subject")]
    pub title: Option<String>,
    /// All the files it is going to change; repeat for more
    #[serde(default)]
    pub files: Vec<String>,
    /// Another task that comes first; repeat for more
    #[serde(default, alias = "addBlockedBy")]
    pub depends_on: Vec<String>,
}

impl Operation for TaskUpdate {
    type Output = TaskChange;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let says = !self.depends_on.is_empty() || self.title.is_some() || !self.files.is_empty();
        let wishes = [self.status.is_some(), self.owner.is_some(), says];
        if wishes.iter().filter(|wish| **wish).count() != 1 {
            let (problem, hint) = match wishes.contains(&true) {
                true => (
                    "a status, an owner and what the task says are changed one at a time",
                    "give the status, or the owner, or any of title, files and depends_on",
                ),
                false => ("nothing is to be changed", "give status, owner, title, files or depends_on"),
            };
            return Err(Refusal::bad_input(problem, hint).into());
        }
        if says {
            return self.say(app, caller);
        }
        if let Some(name) = &self.owner {
            let to = owner(&app.engine().world(), caller, name)?;
            let what = if to == caller.who { TaskAct::Claim } else { TaskAct::Assign { to } };
            return act(app, caller, &self.id, None, what);
        }
        let what = self.verb(app, caller)?;
        act(app, caller, &self.id, None, what)
    }
}

impl TaskUpdate {
    /// Changes the brief, and what comes first.
    fn say(self, app: &Application, caller: &Caller) -> Result<Plan<TaskChange>, Failure> {
        let place = app.projects().place(caller)?;
        let on = TaskRef { project: place.project(), task: self.id.into() };
        let depends_on = self.depends_on.into_iter().map(Into::into).collect();
        let files = (!self.files.is_empty()).then(|| place.resolve_all(&self.files)).transpose()?;
        let title = self.title.map(|title| redact(title.trim()).into());
        let change = BriefChange { title, files };
        let asks = vec![Ask::Task(TaskAsk::Link { on: on.clone(), depends_on, change })];
        Ok(Plan::change(asks, move |events, world, _| TaskChange::of(&on, events, world)))
    }

    /// What the wanted status means for the task as it is.
    fn verb(&self, app: &Application, caller: &Caller) -> Result<TaskAct, Failure> {
        let stored = |text: &Option<String>| redact(text.as_deref().unwrap_or_default()).into();
        let status = self.status.as_deref().unwrap_or_default().to_lowercase().replace(['_', ' '], "-");
        Ok(match status.as_str() {
            "running" | "in-progress" => start(app, caller)?,
            "done" | "completed" | "in-review" => TaskAct::Done { evidence: stored(&self.evidence) },
            "failed" => TaskAct::Fail { reason: stored(&self.reason) },
            "paused" => TaskAct::Pause,
            "skipped" => TaskAct::Skip,
            "cancelled" => TaskAct::Cancel,
            "accepted" => TaskAct::Accept,
            "sent-back" => TaskAct::SendBack { reason: stored(&self.reason) },
            "ready" | "pending" => {
                let project = app.projects().place(caller)?.project();
                let on = TaskRef { project, task: self.id.as_str().into() };
                again(app.engine().world().tasks.find(&on)?)
            }
            _ => {
                let hint = "there are: running, done, failed, ready, paused, skipped, cancelled, accepted, sent-back";
                return Err(Refusal::bad_input(format!("{status:?} isn't a status to ask for"), hint).into());
            }
        })
    }
}

/// How a task is reopened or retried.
fn again(task: &Task) -> TaskAct {
    match &task.state {
        TaskState::Paused { .. } => TaskAct::Resume,
        TaskState::Failed { .. } => TaskAct::Retry,
        TaskState::Done { .. } | TaskState::Skipped { .. } | TaskState::Cancelled { .. } => TaskAct::Reopen,
        TaskState::Open { .. } | TaskState::Running { .. } | TaskState::InReview { .. } => TaskAct::GiveBack,
    }
}
