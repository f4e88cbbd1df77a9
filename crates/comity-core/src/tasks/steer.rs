//! What people, leaders and reviewers do with others' tasks.

use super::claim::{not_to_be_had, unlock_events};
use super::declare::check_text;
use super::{Task, TaskAct, TaskEvent, TaskState, similar};
use crate::calls;
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::TASK_TEXT_BYTES_MAX;
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::roles::{Right, may};
use crate::world::World;

pub(super) fn steer(
    world: &World,
    who: Principal,
    task: &Task,
    act: &TaskAct,
) -> Result<Vec<Event>, Refusal> {
    let is_owner = task.state.owner() == Some(who) && matches!(act, TaskAct::Pause | TaskAct::Resume);
    if !is_owner {
        may_steer(world, who, task)?;
    }
    let (on, attempt) = (task.name(), task.attempt + 1);
    let event = match (act, &task.state) {
        (TaskAct::Pause, TaskState::Open { .. } | TaskState::Running { .. }) => TaskEvent::Paused { on },
        (TaskAct::Resume, TaskState::Paused { .. }) => TaskEvent::Resumed { on },
        (TaskAct::Retry, TaskState::Failed { .. }) => TaskEvent::Retried { on, attempt },
        (
            TaskAct::Reopen,
            TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Skipped { .. }
            | TaskState::Cancelled { .. },
        ) => TaskEvent::Reopened { on, attempt, begun: begun(world, task) },
        (
            TaskAct::Skip,
            TaskState::Open { .. }
            | TaskState::Running { .. }
            | TaskState::Paused { .. }
            | TaskState::Failed { .. },
        ) => TaskEvent::Skipped { on },
        (
            TaskAct::Cancel,
            TaskState::Open { .. }
            | TaskState::Running { .. }
            | TaskState::InReview { .. }
            | TaskState::Paused { .. }
            | TaskState::Failed { .. },
        ) => TaskEvent::Cancelled { on },
        _ => return Err(not_to_be_had(world, task)),
    };
    Ok(unlock_events(world, who, task).into_iter().chain([Event::Task(event)]).collect())
}

/// Tasks that depend on this one and were begun because it had ended. They go on; whoever reopens it has to know.
fn begun(world: &World, task: &Task) -> Vec<Box<str>> {
    let has_begun = |after: &&Task| {
        matches!(after.state, TaskState::Running { .. } | TaskState::InReview { .. } | TaskState::Done { .. })
    };
    world.tasks.after(task).filter(has_begun).map(|after| after.id.clone()).collect()
}

/// Assigns a task, taking it from whoever has it.
pub(super) fn assign(
    world: &World,
    who: Principal,
    task: &Task,
    to: Principal,
) -> Result<Vec<Event>, Refusal> {
    may_steer(world, who, task)?;
    match to {
        Principal::Agent(agent) => drop(world.agents.living(agent)?),
        Principal::Human => {}
        Principal::System | Principal::Nobody => {
            return Err(Refusal::bad_input(format!("{to} can't do tasks"), "name an agent"));
        }
    }
    if !matches!(task.state, TaskState::Open { .. } | TaskState::Running { .. }) {
        return Err(not_to_be_had(world, task));
    }
    if task.state.owner() == Some(to) {
        return Ok(vec![]);
    }
    let attempt = task.attempt + u32::from(task.state.owner().is_some());
    let assigned = TaskEvent::Assigned { on: task.name(), to, attempt, start_within: None };
    let mut events = unlock_events(world, who, task);
    events.push(Event::Task(assigned));
    events.extend(similar::among_taken(world, to, task));
    Ok(events)
}

/// Accepts somebody else's work, or sends it back. No agent reviews its own; nobody is above the human.
pub(super) fn review(
    world: &World,
    who: Principal,
    task: &Task,
    act: &TaskAct,
) -> Result<Vec<Event>, Refusal> {
    let TaskState::InReview { by, evidence, .. } = &task.state else {
        return Err(not_to_be_had(world, task));
    };
    may(world, who, Right::ReviewTasks)?;
    if *by == who && who != Principal::Human {
        return Err(Refusal::NotAllowed {
            problem: format!("{} is your own work", task.id),
            hint: "somebody else has to accept it".into(),
        });
    }
    let (on, by) = (task.name(), *by);
    let TaskAct::SendBack { reason } = act else {
        let (attempt, evidence) = (task.attempt, evidence.clone());
        return Ok(vec![Event::Task(TaskEvent::Completed { on, by, attempt, evidence })]);
    };
    check_text("the reason", reason, TASK_TEXT_BYTES_MAX)?;
    if reason.trim().is_empty() {
        let say = call(calls::TASK_SEND_BACK, [("id", (*task.id).into()), ("reason", "TEXT".into())]);
        return Err(Refusal::bad_input("it isn't clear what must change", format!("say it: {say}")));
    }
    let is_here = by.agent().is_none_or(|agent| world.agents.living(agent).is_ok());
    let (owner, attempt, reason) = (is_here.then_some(by), task.attempt + 1, reason.trim().into());
    Ok(vec![Event::Task(TaskEvent::SentBack { on, owner, attempt, reason })])
}

/// Whether `who` may decide about the task: whoever declared it, the human, and roles with the right.
pub(super) fn may_steer(world: &World, who: Principal, task: &Task) -> Result<(), Refusal> {
    if task.creator == who {
        return Ok(());
    }
    may(world, who, Right::AssignTasks)
}
