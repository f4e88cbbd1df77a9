//! What is blocked by an inbox entry, and where it is.

use comity_core::display::counted;
use comity_core::inbox::InboxItem;
use comity_core::tasks::Task;
use comity_core::{Principal, World};

use crate::operations::locks::waiting_for;
use crate::project_scope::BelongsTo;

/// What is blocked until the answer.
pub(super) fn blocks(item: &InboxItem<'_>, world: &World) -> Option<String> {
    let behind = |task: &Task| match world.tasks.after(task).count() {
        0 => None,
        waiting => Some(counted(waiting, "task")),
    };
    match item {
        InboxItem::Permission(request) => Some(world.name_of(Principal::Agent(request.asker))),
        InboxItem::Plan(plan) => Some(world.name_of(Principal::Agent(plan.asker))),
        InboxItem::Orphan(lock) => match waiting_for(world, lock) {
            0 => None,
            waiting => Some(format!("{waiting} waiting")),
        },
        InboxItem::Review(task) | InboxItem::Failed(task) | InboxItem::Death(task) => behind(task),
        InboxItem::Space { first, .. } => Some(world.name_of(first.who)),
        InboxItem::LockWanted { by, .. } => Some(world.name_of(by.who)),
        InboxItem::Shutdown(_)
        | InboxItem::GaveUp(_)
        | InboxItem::NewPlaces { .. }
        | InboxItem::Decision(_)
        | InboxItem::Wish(_)
        | InboxItem::Mail { .. }
        | InboxItem::Task(_)
        | InboxItem::Ready(_) => None,
    }
}

/// The repository that it is in, if it says so itself.
pub(super) fn project(item: &InboxItem<'_>, world: &World) -> Option<String> {
    let BelongsTo::Project(id) = belongs_to(item) else { return None };
    world.projects.get(&id).map(|project| project.name().to_owned())
}

/// The repository that it is in, or the agent that it is about.
pub(super) fn belongs_to(item: &InboxItem<'_>) -> BelongsTo {
    match item {
        InboxItem::Orphan(lock) | InboxItem::LockWanted { lock, .. } => lock.wanted.project.into(),
        InboxItem::GaveUp(run) => (*run).into(),
        InboxItem::Review(task)
        | InboxItem::Failed(task)
        | InboxItem::Death(task)
        | InboxItem::Task(task)
        | InboxItem::Ready(task) => task.project.into(),
        InboxItem::Permission(request) => request.asker.into(),
        InboxItem::Plan(plan) => plan.asker.into(),
        InboxItem::Decision(decision) => decision.by.into(),
        InboxItem::Wish(agent) => agent.id.into(),
        InboxItem::Shutdown(_)
        | InboxItem::NewPlaces { .. }
        | InboxItem::Space { .. }
        | InboxItem::Mail { .. } => BelongsTo::All,
    }
}
