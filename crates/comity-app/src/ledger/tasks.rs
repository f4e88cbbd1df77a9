//! The ledger's sentences about tasks.

use comity_core::tasks::{ReturnCause, TaskEvent};
use comity_core::{AgentId, Principal, World};

/// What happened, in a sentence; `by` did it.
pub(super) fn summary(by: &str, event: &TaskEvent, world: &World) -> String {
    let name = |who: &Principal| world.name_of(*who);
    let agent = |id: &AgentId| world.name_of(Principal::Agent(*id));
    let task = event.on().map(|on| &*on.task).unwrap_or_default();
    match event {
        TaskEvent::Declared { tasks, .. } => {
            let said: Vec<String> =
                tasks.iter().map(|task| format!("{} ({})", task.id, task.brief.title)).collect();
            format!("{by} declared {}", said.join(", "))
        }
        TaskEvent::Linked { depends_on, .. } => format!("{task} waits for {}, too", depends_on.join(", ")),
        TaskEvent::Claimed { by, attempt, .. } => format!("{} took {task}, attempt {attempt}", name(by)),
        TaskEvent::Assigned { to, attempt, .. } => {
            format!("{by} gave {task} to {}, attempt {attempt}", name(to))
        }
        TaskEvent::Started { by, attempt, .. } => format!("{} started {task}, attempt {attempt}", name(by)),
        TaskEvent::Reported { by, evidence, .. } => {
            format!("{} says that {task} is done, to be reviewed: {evidence}", name(by))
        }
        TaskEvent::Completed { by: worker, evidence, .. } => {
            format!("{} did {task}: {evidence}", name(worker))
        }
        TaskEvent::SentBack { reason, .. } => format!("{by} sent {task} back: {reason}"),
        TaskEvent::Returned { from, cause, attempt, .. } => {
            let why = match cause {
                ReturnCause::GivenBack => "gave it back",
                ReturnCause::OwnerEnded => "ended",
                ReturnCause::NotStarted => "did not start it in time",
            };
            format!("{task} is nobody's again, attempt {attempt} is next: {} {why}", name(from))
        }
        TaskEvent::Failed { by, reason, .. } => format!("{} failed at {task}: {reason}", name(by)),
        TaskEvent::Paused { .. } => format!("{by} paused {task}"),
        TaskEvent::Resumed { .. } => format!("{by} resumed {task}"),
        TaskEvent::Retried { attempt, .. } => format!("{by} lets {task} be tried again, attempt {attempt}"),
        TaskEvent::Reopened { begun, .. } if begun.is_empty() => format!("{by} reopened {task}"),
        TaskEvent::Reopened { begun, .. } => {
            format!("{by} reopened {task}; {} had begun and goes on", begun.join(", "))
        }
        TaskEvent::Skipped { .. } => format!("{by} skipped {task}"),
        TaskEvent::Cancelled { .. } => format!("{by} cancelled {task}"),
        TaskEvent::LooksLike { other, likeness, .. } => format!("{task} looks like {other}: {likeness}"),
        TaskEvent::Sought { agent: id, wait, .. } => format!("{} waits for work, {wait} at most", agent(id)),
        TaskEvent::GaveUp { agent: id, deadlock: None } => format!("{} stopped waiting for work", agent(id)),
        TaskEvent::GaveUp { agent: id, deadlock: Some(cycle) } => {
            format!("{} stopped waiting for work that could not come: {cycle}", agent(id))
        }
    }
}
