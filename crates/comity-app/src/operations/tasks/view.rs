//! A task, as it is shown.

use std::fmt;

use comity_core::display::{visible, visible_lines};
use comity_core::tasks::{Task, TaskEvent, TaskRef, TaskState};
use comity_core::{Event, Millis, Principal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

use super::AttemptView;

/// One task, as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskView {
    pub id: String,
    pub title: String,
    /// pending, ready, blocked, running, in review, paused, done, failed, skipped or cancelled.
    pub status: &'static str,
    /// Who has it, or did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The number of the present or next claim.
    pub attempt: u32,
    /// urgent, high, normal or low.
    pub priority: &'static str,
    pub role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// What is to be done, in full.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What comes first.
    pub depends_on: Vec<String>,
    /// Those of them that are not done.
    pub waits_for: Vec<String>,
    pub files: Vec<String>,
    /// Whether somebody else has to accept the work.
    pub review: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The newest attempts that came to nothing, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<AttemptView>,
    pub creator: String,
    /// How long ago it was declared.
    pub age_ms: u64,
    /// The repository that it is in, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What people call who reads it.
    #[serde(skip)]
    pub(super) reader: Option<String>,
}

impl TaskView {
    pub(crate) fn of(task: &Task, world: &World, now: Timestamp) -> TaskView {
        let is_open =
            |before: &&Task| !matches!(before.state, TaskState::Done { .. } | TaskState::Skipped { .. });
        let (evidence, reason) = match &task.state {
            TaskState::InReview { evidence, .. } | TaskState::Done { evidence, .. } => (Some(evidence), None),
            TaskState::Failed { reason, .. } => (None, Some(reason)),
            TaskState::Open { .. }
            | TaskState::Running { .. }
            | TaskState::Paused { .. }
            | TaskState::Skipped { .. }
            | TaskState::Cancelled { .. } => (None, None),
        };
        TaskView {
            id: task.id.to_string(),
            title: task.brief.title.to_string(),
            status: task.status().word(),
            owner: task.state.worker().map(|owner| world.name_of(owner)),
            attempt: task.attempt,
            priority: task.brief.priority.word(),
            role: task.role().to_owned(),
            team: task.brief.team.as_deref().map(str::to_owned),
            description: task.brief.description.to_string(),
            depends_on: world.tasks.before(task).map(|before| before.id.to_string()).collect(),
            waits_for: world.tasks.before(task).filter(is_open).map(|before| before.id.to_string()).collect(),
            files: task.brief.files.iter().map(|file| file.readable()).collect(),
            review: task.brief.review,
            evidence: evidence.map(ToString::to_string),
            reason: reason.map(ToString::to_string),
            history: task.past.iter().map(|past| AttemptView::of(past, world, now)).collect(),
            creator: world.name_of(task.creator),
            age_ms: now.since(task.since).0,
            project: None,
            reader: None,
        }
    }

    /// Replaces the name of `who` by "you".
    pub(super) fn read_by(self, who: Principal, world: &World) -> TaskView {
        TaskView { reader: Some(world.name_of(who)), ..self }
    }

    fn name<'n>(&self, name: &'n str) -> &'n str {
        if self.reader.as_deref() == Some(name) { "you" } else { name }
    }

    pub(super) fn row(&self) -> Vec<String> {
        let waits = match &self.waits_for[..] {
            [] => String::new(),
            tasks => format!("  (waits for {})", tasks.join(", ")),
        };
        vec![
            self.id.clone(),
            self.status.to_string(),
            self.owner.as_deref().map(|owner| self.name(owner).to_owned()).unwrap_or_default(),
            if self.priority == "normal" { String::new() } else { self.priority.to_string() },
            self.project.as_deref().map(visible).unwrap_or_default().into_owned(),
            format!("{}{waits}", visible(&self.title)),
        ]
    }

    pub(crate) fn line(&self) -> String {
        let mut line = format!("{}  {}", self.id, self.status);
        if let Some(owner) = &self.owner {
            line += &format!("  {}", self.name(owner));
        }
        if self.priority != "normal" {
            line += &format!("  {}", self.priority);
        }
        line += &format!("  {}", visible(&self.title));
        if !self.waits_for.is_empty() {
            line += &format!("  (waits for {})", self.waits_for.join(", "));
        }
        line
    }
}

/// Everything, one item per line.
impl fmt::Display for TaskView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line())?;
        write!(f, "\n  for a {}, attempt {}", self.role, self.attempt)?;
        if let Some(team) = &self.team {
            write!(f, ", in the team {team}")?;
        }
        if self.review {
            f.write_str(", to be reviewed")?;
        }
        write!(f, "; declared by {} {}", self.name(&self.creator), Millis(self.age_ms).ago())?;
        for (label, list) in [("after", &self.depends_on), ("files", &self.files)] {
            if !list.is_empty() {
                write!(f, "\n  {label}: {}", visible(&list.join(", ")))?;
            }
        }
        for (label, text) in [("evidence", &self.evidence), ("failed", &self.reason)] {
            if let Some(text) = text {
                write!(f, "\n  {label}: {}", visible_lines(text))?;
            }
        }
        for attempt in &self.history {
            let decided_by = attempt.decided_by.as_deref().map(|by| self.name(by).to_owned());
            let by = self.name(&attempt.by).to_owned();
            let attempt = AttemptView { by, decided_by, ..attempt.clone() };
            write!(f, "\n  attempt {attempt}, {}", Millis(attempt.age_ms).rough_ago())?;
        }
        match self.description.is_empty() {
            true => Ok(()),
            false => write!(f, "\n\n{}", visible_lines(&self.description)),
        }
    }
}

/// What became of a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskChange {
    pub id: String,
    pub status: &'static str,
    /// Who has it, or did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The number of the present or next claim.
    pub attempt: u32,
    /// What became ready by it.
    pub ready: Vec<String>,
    /// What depends on it, was begun already and goes on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<String>,
    /// Tasks that look like the same work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks_like: Vec<String>,
}

impl TaskChange {
    pub(super) fn of(on: &TaskRef, events: &[Event], world: &World) -> TaskChange {
        let begun = events.iter().flat_map(|event| match event {
            Event::Task(TaskEvent::Reopened { begun, .. }) => &begun[..],
            _ => &[],
        });
        let task = world.tasks.get(on.project, &on.task);
        let is_over = task.is_some_and(|task| matches!(task.status().word(), "done" | "skipped"));
        let after = task.filter(|_| is_over).into_iter().flat_map(|task| world.tasks.after(task));
        TaskChange {
            id: on.task.to_string(),
            status: task.map_or("forgotten", |task| task.status().word()),
            owner: task.and_then(|task| task.state.worker()).map(|owner| world.name_of(owner)),
            attempt: task.map_or(0, |task| task.attempt),
            ready: after
                .filter(|after| after.status().word() == "ready")
                .map(|after| after.id.to_string())
                .collect(),
            begun: begun.map(ToString::to_string).collect(),
            looks_like: super::advisories(events),
        }
    }
}

impl fmt::Display for TaskChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.id, self.status)?;
        if let Some(owner) = &self.owner {
            write!(f, " ({owner}, attempt {})", self.attempt)?;
        }
        if !self.ready.is_empty() {
            write!(f, "\nready now: {}", self.ready.join(", "))?;
        }
        if !self.begun.is_empty() {
            write!(f, "\nbegun already, and going on: {}", self.begun.join(", "))?;
        }
        self.looks_like.iter().try_for_each(|advisory| write!(f, "\nnote: {}", visible(advisory)))
    }
}
