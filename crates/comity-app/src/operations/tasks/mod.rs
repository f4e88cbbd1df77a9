//! Tasks: what there is to do, in which order, and whose it is.

mod accept;
mod add;
mod assign;
mod cancel;
mod claim;
mod declare;
mod done;
mod fail;
mod get;
mod give_back;
mod graph;
mod history;
mod list;
mod pause;
mod prompt;
mod reopen;
mod resume;
mod retry;
mod send_back;
mod skip;
mod start;
mod update;
mod view;

use comity_core::calls;
use comity_core::tasks::{TaskAct, TaskAsk, TaskEvent, TaskRef};
use comity_core::{Ask, Event, ProjectId, Timestamp, World};

pub use accept::TaskAccept;
pub use add::TaskAdd;
pub use assign::TaskAssign;
pub use cancel::TaskCancel;
pub use claim::{TaskClaim, TaskTaken};
pub use declare::TaskDeclare;
pub use done::TaskDone;
pub use fail::TaskFail;
pub use get::TaskGet;
pub use give_back::TaskGiveBack;
pub use graph::TaskGraph;
pub use history::AttemptView;
pub use list::TaskList;
pub(in crate::operations) use list::owner;
pub use pause::TaskPause;
pub use prompt::prompt;
pub use reopen::TaskReopen;
pub use resume::TaskResume;
pub use retry::TaskRetry;
pub use send_back::TaskSendBack;
pub use skip::TaskSkip;
pub use start::TaskStart;
pub use update::TaskUpdate;
pub use view::{TaskChange, TaskView};

use crate::application::Application;
use crate::catalog::{CatalogEntry, GET, Group, POST};
use crate::operation::{Caller, Failure, Plan};
use crate::projects::PathBase;

pub(crate) const GROUPS: &[Group] = &[("task", "What there is to do")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<TaskAdd>(     "task_add",            "task add <title>",      POST, "/api/tasks")               .changes().for_agents().tool("TaskCreate").unlisted(&["team"]).also(&["task create", "task new"]).examples(&["task add \"Write the parser\" --files src/parser.rs", "task add \"Test it\" --depends-on parser --role qa"]),
    CatalogEntry::of::<TaskDeclare>( "task_declare",        "task declare <tasks>",  POST, "/api/tasks/declare")       .changes().takes_documents::<TaskDeclare>(),
    CatalogEntry::of::<TaskList>(    calls::TASK_LIST,      "task list",             GET,  "/api/tasks")               .for_agents().tool("TaskList").unlisted(&["all_projects"]).also(&["task ls"]),
    CatalogEntry::of::<TaskGraph>(   "task_graph",          "task graph",            GET,  "/api/task-graph").watched(),
    CatalogEntry::of::<TaskGet>(     calls::TASK_GET,       "task show <id>",        GET,  "/api/tasks/{id}")          .for_agents().tool("TaskGet").also(&["task get"]),
    CatalogEntry::of::<TaskClaim>(   calls::TASK_CLAIM,     "task claim <id>",       POST, "/api/tasks/claim")         .changes().updates("owner", "me").waits(),
    CatalogEntry::of::<TaskStart>(   calls::TASK_START,     "task start <id>",       POST, "/api/tasks/{id}/start")    .changes().updates("status", "running"),
    CatalogEntry::of::<TaskDone>(    calls::TASK_DONE,      "task done <id>",        POST, "/api/tasks/{id}/done")     .changes().updates("status", "done").also(&["task complete"]).examples(&["task done parser --evidence \"commit 1a2b3c, all tests pass\""]),
    CatalogEntry::of::<TaskFail>(    calls::TASK_FAIL,      "task fail <id>",        POST, "/api/tasks/{id}/fail")     .changes().updates("status", "failed"),
    CatalogEntry::of::<TaskGiveBack>("task_give_back",      "task release <id>",     POST, "/api/tasks/{id}/give-back").changes().updates("status", "ready").also(&["task give-back"]),
    CatalogEntry::of::<TaskAccept>(  calls::TASK_ACCEPT,    "task accept <id>",      POST, "/api/tasks/{id}/accept")   .changes().answers("", "accept"),
    CatalogEntry::of::<TaskSendBack>(calls::TASK_SEND_BACK, "task send-back <id>",   POST, "/api/tasks/{id}/send-back").changes().answers("", "send-back"),
    CatalogEntry::of::<TaskAssign>(  calls::TASK_ASSIGN,    "task assign <id> <to>", POST, "/api/tasks/{id}/assign")   .changes().updates("owner", ""),
    CatalogEntry::of::<TaskUpdate>(  "task_update",         "task update <id>",      POST, "/api/tasks/{id}/update")   .changes().for_agents().tool("TaskUpdate").unlisted(&["title", "files"]),
    CatalogEntry::of::<TaskPause>(   "task_pause",          "task pause <id>",       POST, "/api/tasks/{id}/pause")    .changes().updates("status", "paused"),
    CatalogEntry::of::<TaskResume>(  calls::TASK_RESUME,    "task resume <id>",      POST, "/api/tasks/{id}/resume")   .changes().updates("status", "ready"),
    CatalogEntry::of::<TaskRetry>(   calls::TASK_RETRY,     "task retry <id>",       POST, "/api/tasks/{id}/retry")    .changes().answers("", "retry"),
    CatalogEntry::of::<TaskReopen>(  calls::TASK_REOPEN,    "task reopen <id>",      POST, "/api/tasks/{id}/reopen")   .changes().updates("status", "ready"),
    CatalogEntry::of::<TaskSkip>(    "task_skip",           "task skip <id>",        POST, "/api/tasks/{id}/skip")     .removes().updates("status", "skipped"),
    CatalogEntry::of::<TaskCancel>(  "task_cancel",         "task cancel <id>",      POST, "/api/tasks/{id}/cancel")   .removes().updates("status", "cancelled"),
];

/// Plans an act on one task of the caller's project.
fn act(
    app: &Application,
    caller: &Caller,
    task: &str,
    attempt: Option<u32>,
    act: TaskAct,
) -> Result<Plan<TaskChange>, Failure> {
    let on = TaskRef { project: app.projects().place(caller)?.project(), task: task.into() };
    let asks = vec![Ask::Task(TaskAsk::Act { on: on.clone(), attempt, act })];
    Ok(Plan::change(asks, move |events, world, _| TaskChange::of(&on, events, world)))
}

/// The ask, after the one that introduces the project.
pub(in crate::operations) fn introduced(app: &Application, place: &PathBase, ask: TaskAsk) -> Vec<Ask> {
    place.introduce(&app.engine().world()).into_iter().chain([Ask::Task(ask)]).collect()
}

/// Warnings of similar tasks, in words.
fn advisories(events: &[Event]) -> Vec<String> {
    let advisory = |event: &Event| match event {
        Event::Task(TaskEvent::LooksLike { on, other, likeness, .. }) => {
            Some(format!("{} looks like {other}: {likeness}", on.task))
        }
        _ => None,
    };
    events.iter().filter_map(advisory).collect()
}

/// The declared tasks, as they are now.
fn declared(project: ProjectId, events: &[Event], world: &World, now: Timestamp) -> Vec<TaskView> {
    let ids = events.iter().flat_map(|event| match event {
        Event::Task(TaskEvent::Declared { tasks, .. }) => &tasks[..],
        _ => &[],
    });
    let tasks = ids.filter_map(|new| world.tasks.get(project, &new.id));
    tasks.map(|task| TaskView::of(task, world, now)).collect()
}
