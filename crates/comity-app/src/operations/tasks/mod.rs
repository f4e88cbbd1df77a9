//! Tasks: what there is to do, in which order, and whose it is.

mod add;
mod assign;
mod claim;
mod declare;
mod done;
mod fail;
mod get;
mod graph;
mod list;
mod prompt;
mod start;
mod update;
mod verbs;
mod view;

use comity_core::tasks::{Act, TaskAsk, TaskEvent, TaskRef};
use comity_core::{Ask, Event, ProjectId, Timestamp, World};

pub use add::TaskAdd;
pub use assign::TaskAssign;
pub use claim::{TaskClaim, TaskTaken};
pub use declare::TaskDeclare;
pub use done::TaskDone;
pub use fail::TaskFail;
pub use get::TaskGet;
pub use graph::TaskGraph;
pub use list::TaskList;
pub use prompt::prompt;
pub use start::TaskStart;
pub use update::TaskUpdate;
pub use verbs::{
    TaskAccept, TaskCancel, TaskGiveBack, TaskPause, TaskReopen, TaskResume, TaskRetry, TaskSendBack,
    TaskSkip,
};
pub use view::{TaskChange, TaskView};

use crate::application::Application;
use crate::operation::{Caller, Failure, Plan};
use crate::projects::Place;

/// Plans an act on one task of the project that the caller is in.
fn act(
    app: &Application,
    caller: &Caller,
    task: &str,
    attempt: Option<u32>,
    act: Act,
) -> Result<Plan<TaskChange>, Failure> {
    let on = TaskRef { project: app.projects().place(caller)?.project(), task: task.into() };
    let asks = vec![Ask::Task(TaskAsk::Act { on: on.clone(), attempt, act })];
    Ok(Plan::Change { asks, finish: Box::new(move |events, world, _| TaskChange::of(&on, events, world)) })
}

/// The ask, after the one that makes the project known.
pub(in crate::operations) fn introduced(app: &Application, place: &Place, ask: TaskAsk) -> Vec<Ask> {
    place.introduce(&app.engine().world()).into_iter().chain([Ask::Task(ask)]).collect()
}

/// What the tasks are said to look like, in words.
fn advisories(events: &[Event]) -> Vec<String> {
    let advisory = |event: &Event| match event {
        Event::Task(TaskEvent::LooksLike { on, other, likeness, .. }) => {
            Some(format!("{} looks like {other}: {likeness}", on.task))
        }
        _ => None,
    };
    events.iter().filter_map(advisory).collect()
}

/// The tasks that were declared, as they are now.
fn declared(project: ProjectId, events: &[Event], world: &World, now: Timestamp) -> Vec<TaskView> {
    let ids = events.iter().flat_map(|event| match event {
        Event::Task(TaskEvent::Declared { tasks, .. }) => &tasks[..],
        _ => &[],
    });
    let tasks = ids.filter_map(|new| world.tasks.get(project, &new.id));
    tasks.map(|task| TaskView::of(task, world, now)).collect()
}
