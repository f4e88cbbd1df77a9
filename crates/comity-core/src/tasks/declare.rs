//! Declaring tasks: all or none, in any order, without a cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::steer::may_steer;
use super::{
    Brief, BriefChange, NewTask, Task, TaskDraft, TaskEvent, TaskRef, TaskRefusal, TaskState, graph, similar,
};
use crate::agents::check_name;
use crate::calls;
use crate::event::Event;
use crate::ids::{Principal, ProjectId};
use crate::limits::{
    TASK_DEPENDENCIES_MAX, TASK_FILES_MAX, TASK_TEXT_BYTES_MAX, TASK_TITLE_BYTES_MAX, TASKS_OPEN_MAX,
    TASKS_PER_ASK_MAX,
};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::teams;
use crate::world::World;

pub(super) fn declare(
    world: &World,
    who: Principal,
    project: ProjectId,
    drafts: &[TaskDraft],
) -> Result<Vec<Event>, Refusal> {
    check_count(world, drafts.len())?;
    drafts.iter().try_for_each(|draft| check_draft(world, draft))?;
    let named = name_all(world, project, drafts)?;
    let new: BTreeMap<&str, u64> = named.iter().map(|task| (&*task.id, task.number)).collect();
    let number =
        |id: &str| new.get(id).copied().or_else(|| world.tasks.get(project, id).map(|task| task.number));
    for task in &named {
        if let Some(before) = task.depends_on.iter().find(|before| number(before).is_none()) {
            return Err(unknown(&task.id, before));
        }
    }
    let edges: BTreeMap<&str, BTreeSet<&str>> = named
        .iter()
        .map(|task| (&*task.id, task.depends_on.iter().map(|before| &**before).collect()))
        .collect();
    if let Some(cycle) = graph::cycle(&edges) {
        let path = cycle.into_iter().map(str::to_owned).collect();
        return Err(Refusal::Task(TaskRefusal::Cycle { path }));
    }
    let tasks: Vec<Task> = named.iter().map(|task| as_task(world, who, project, task, number)).collect();
    let similar = similar::among_new(world, who, &tasks);
    let declared = Event::Task(TaskEvent::Declared { project, tasks: named });
    Ok(std::iter::once(declared).chain(similar).collect())
}

/// Makes a task that nobody works on depend on further ones, or changes its brief.
pub(super) fn link(
    world: &World,
    who: Principal,
    on: &TaskRef,
    depends_on: &[Box<str>],
    change: &BriefChange,
) -> Result<Vec<Event>, Refusal> {
    let task = world.tasks.find(on)?;
    if task.state.owner() != Some(who) {
        may_steer(world, who, task)?;
    }
    if !matches!(task.state, TaskState::Open { .. } | TaskState::Paused { .. }) {
        return Err(super::claim::not_to_be_had(world, task));
    }
    let mut new: Vec<Box<str>> = Vec::new();
    for id in depends_on {
        let before = world.tasks.find(&TaskRef { project: on.project, task: id.clone() })?;
        let find = |number| world.tasks.by_number(number);
        if let Some(way) = graph::way(&find, before.number, task.number) {
            let names = way.into_iter().filter_map(find).map(|task| task.id.to_string());
            let path = std::iter::once(task.id.to_string()).chain(names).collect();
            return Err(Refusal::Task(TaskRefusal::Cycle { path }));
        }
        if !task.depends_on.contains(&before.number) && !new.contains(id) {
            new.push(id.clone());
        }
    }
    check_dependencies(&task.id, task.depends_on.len() + new.len())?;
    let title = change.title.clone().filter(|title| *title != task.brief.title);
    let files = change.files.clone().filter(|files| *files != task.brief.files);
    title.as_deref().map_or(Ok(()), check_title)?;
    files.as_ref().map_or(Ok(()), |files| check_files(&task.id, files.len()))?;
    match new.is_empty() && title.is_none() && files.is_none() {
        true => Ok(vec![]),
        false => {
            let linked = TaskEvent::Linked { on: task.name(), depends_on: new, title, files };
            Ok(vec![Event::Task(linked)])
        }
    }
}

/// Gives each task its number and name.
fn name_all(world: &World, project: ProjectId, drafts: &[TaskDraft]) -> Result<Vec<NewTask>, Refusal> {
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for id in drafts.iter().filter_map(|draft| draft.id.as_deref()) {
        if let Some(there) = world.tasks.get(project, id) {
            let problem = format!("there is a task {id} already: {}", there.brief.title);
            return Err(Refusal::bad_input(problem, "choose another id"));
        }
        if !taken.insert(id) {
            return Err(Refusal::bad_input(format!("two of these tasks are called {id}"), "rename one"));
        }
    }
    let mut made = Vec::with_capacity(drafts.len());
    for (draft, number) in drafts.iter().zip(world.tasks.last_number + 1..) {
        let id = draft.id.clone().unwrap_or_else(|| free_id(world, project, &taken, number));
        let mut depends_on: Vec<Box<str>> = Vec::new();
        for before in &draft.depends_on {
            if !depends_on.contains(before) {
                depends_on.push(before.clone());
            }
        }
        made.push(NewTask { number, id, brief: draft.brief.clone(), depends_on });
    }
    Ok(made)
}

/// A name for a task without one: `t` and its number, or a variation if that is taken.
fn free_id(world: &World, project: ProjectId, taken: &BTreeSet<&str>, number: u64) -> Box<str> {
    let mut id = format!("t{number}");
    while world.tasks.get(project, &id).is_some() || taken.contains(&*id) {
        id.push('x');
    }
    id.into()
}

fn unknown(id: &str, before: &str) -> Refusal {
    Refusal::NotFound {
        problem: format!("{id} -> {before}: there is no task {before:?}"),
        hint: format!("declare it too, or see what there is with: {}", call(calls::TASK_LIST, [])),
    }
}

/// A task as it will be, to be compared with others.
fn as_task(
    world: &World,
    creator: Principal,
    project: ProjectId,
    new: &NewTask,
    number: impl Fn(&str) -> Option<u64>,
) -> Task {
    let depends_on = new.depends_on.iter().filter_map(|id| number(id)).collect();
    Task { depends_on, ..new.open(project, creator, world.now) }
}

fn check_count(world: &World, count: usize) -> Result<(), Refusal> {
    if count == 0 {
        return Err(Refusal::bad_input("no task was named", "give at least one"));
    }
    let limit = |problem: String, hint: &str| Err(Refusal::LimitReached { problem, hint: hint.into() });
    if count > TASKS_PER_ASK_MAX {
        let problem = format!("{count} tasks are more than the {TASKS_PER_ASK_MAX} of one ask");
        return limit(problem, "declare them in parts, what comes first first");
    }
    if world.tasks.open_count() + count > TASKS_OPEN_MAX {
        let problem = format!("{} tasks are open, of {TASKS_OPEN_MAX} at most", world.tasks.open_count());
        return limit(problem, "finish, skip or cancel some");
    }
    Ok(())
}

fn check_draft(world: &World, draft: &TaskDraft) -> Result<(), Refusal> {
    let Brief { title, description, role, team, files, .. } = &draft.brief;
    draft.id.as_deref().map_or(Ok(()), |id| check_name("a task's id", id))?;
    role.as_deref().map_or(Ok(()), |role| check_name("a role", role))?;
    team.as_deref().map_or(Ok(()), |team| check_name("a team", team))?;
    check_title(title)?;
    role.as_deref().map_or(Ok(()), |role| world.roles.must_know(role))?;
    team.as_deref().map_or(Ok(()), |team| teams::must_know(world, team))?;
    check_text("the description", description, TASK_TEXT_BYTES_MAX)?;
    let id = draft.id.as_deref().unwrap_or(title);
    check_dependencies(id, draft.depends_on.len())?;
    check_files(id, files.len())
}

fn check_title(title: &str) -> Result<(), Refusal> {
    if title.trim().is_empty() {
        return Err(Refusal::bad_input("a task needs a title", "say in a few words what is to be done"));
    }
    check_text("the title", title, TASK_TITLE_BYTES_MAX)
}

fn check_files(id: &str, count: usize) -> Result<(), Refusal> {
    if count <= TASK_FILES_MAX {
        return Ok(());
    }
    let problem = format!("{id} names {count} paths, of {TASK_FILES_MAX} at most");
    Err(Refusal::LimitReached { problem, hint: "name directories or globs instead".into() })
}

fn check_dependencies(id: &str, count: usize) -> Result<(), Refusal> {
    if count <= TASK_DEPENDENCIES_MAX {
        return Ok(());
    }
    Err(Refusal::LimitReached {
        problem: format!("{id} depends on {count} tasks, of {TASK_DEPENDENCIES_MAX} at most"),
        hint: "add a task in between that groups several".into(),
    })
}

pub(super) fn check_text(what: &str, text: &str, bytes_max: usize) -> Result<(), Refusal> {
    match text.len() <= bytes_max {
        true => Ok(()),
        false => Err(Refusal::bad_input(format!("{what} is longer than {bytes_max} bytes"), "shorten it")),
    }
}
