//! Adds a task.

use std::fmt;

use comity_core::Refusal;
use comity_core::redact::redact;
use comity_core::tasks::{Brief, Priority, TaskAsk, TaskDraft};

use super::{TaskView, advisories, declared, introduced};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::projects::PathBase;

/// Add a task, for a free agent of its role once everything before it is done.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskAdd {
    /// What to do, in a few words
    #[serde(alias = "subject")]
    pub title: String,
    /// Generated if omitted
    pub id: Option<String>,
    /// What to do, in full
    pub description: Option<String>,
    /// Who can do it; developer if omitted
    pub role: Option<String>,
    /// Only for this team
    pub team: Option<String>,
    /// How urgent it is
    pub priority: Option<PriorityWord>,
    /// A task that comes first; repeat for more
    #[serde(default, alias = "addBlockedBy", alias = "blockedBy")]
    pub depends_on: Vec<String>,
    /// A path it changes, locked while it runs; repeat for more
    #[serde(default)]
    pub files: Vec<String>,
    /// Someone else must accept it
    #[serde(default)]
    pub review: bool,
    /// Claude Code shows it while the task runs
    #[serde(default, rename = "activeForm")]
    #[schemars(skip)]
    pub active_form: Option<String>,
}

/// Which of several tasks goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum PriorityWord {
    Urgent,
    High,
    Normal,
    Low,
}

/// The new task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TasksAdded {
    /// The tasks, in the order in which they were given.
    pub tasks: Vec<TaskView>,
    /// Tasks that look like the same work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks_like: Vec<String>,
}

impl Operation for TaskAdd {
    type Output = TasksAdded;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TasksAdded>, Failure> {
        declare_all(app, caller, vec![self])
    }
}

/// Declares tasks in the caller's project, all or none.
pub(super) fn declare_all(
    app: &Application,
    caller: &Caller,
    tasks: Vec<TaskAdd>,
) -> Result<Plan<TasksAdded>, Failure> {
    let place = app.projects().place(caller)?;
    let project = place.project();
    let tasks =
        tasks.into_iter().map(|task| task.draft(&place)).collect::<Result<Vec<TaskDraft>, Refusal>>()?;
    let asks = introduced(app, &place, TaskAsk::Declare { project, tasks });
    let finish = move |events: &[_], world: &_, now| TasksAdded {
        tasks: declared(project, events, world, now),
        looks_like: advisories(events),
    };
    Ok(Plan::change(asks, finish))
}

impl TaskAdd {
    /// The task for the rules: paths resolved, secrets removed.
    fn draft(self, place: &PathBase) -> Result<TaskDraft, Refusal> {
        let boxed = |text: Option<String>| text.filter(|text| !text.is_empty()).map(Into::into);
        let brief = Brief {
            title: redact(self.title.trim()).into(),
            description: redact(self.description.as_deref().unwrap_or_default().trim()).into(),
            role: boxed(self.role),
            team: boxed(self.team),
            priority: self.priority.map(Into::into).unwrap_or_default(),
            files: place.resolve_all(&self.files)?,
            review: self.review,
        };
        Ok(TaskDraft {
            id: boxed(self.id),
            brief,
            depends_on: self.depends_on.into_iter().map(Into::into).collect(),
        })
    }
}

impl From<PriorityWord> for Priority {
    fn from(word: PriorityWord) -> Priority {
        match word {
            PriorityWord::Urgent => Priority::Urgent,
            PriorityWord::High => Priority::High,
            PriorityWord::Normal => Priority::Normal,
            PriorityWord::Low => Priority::Low,
        }
    }
}

impl fmt::Display for TasksAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.tasks.iter().map(TaskView::line);
        let notes = self.looks_like.iter().map(|advisory| format!("note: {advisory}"));
        f.write_str(&tasks.chain(notes).collect::<Vec<_>>().join("\n"))
    }
}
