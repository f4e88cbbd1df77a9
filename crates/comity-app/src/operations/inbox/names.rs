//! Names of the entries in a list.

use std::collections::BTreeSet;
use std::fmt::Display;

use comity_core::display::visible;
use comity_core::inbox::InboxItem;
use comity_core::{Principal, World};

use super::about::project;
use crate::catalog::entry_of;
use crate::operation::Operation;
use crate::operations::control::ApproveShutdown;
use crate::operations::permissions::{AllowRequest, ApprovePlan};

/// The name of an entry in the list, like that of the thing itself.
pub(super) fn name_in_list(item: &InboxItem<'_>, world: &World, who: Principal) -> String {
    match item {
        InboxItem::Shutdown(_) => {
            let request = who.agent().and_then(|agent| world.shutdowns.of(agent));
            called::<ApproveShutdown>(&request.map(|(id, _)| id.to_string()).unwrap_or_default())
        }
        InboxItem::Permission(request) => called::<AllowRequest>(&request.id.0),
        InboxItem::Plan(plan) => called::<ApprovePlan>(&plan.id.0),
        InboxItem::NewPlaces { .. } => "places".to_owned(),
        InboxItem::Orphan(lock) => visible(&lock.wanted.pattern.to_string()).into_owned(),
        InboxItem::LockWanted { lock, .. } => format!("lock-{}", visible(&lock.wanted.pattern.to_string())),
        InboxItem::Death(task)
        | InboxItem::Review(task)
        | InboxItem::Failed(task)
        | InboxItem::Task(task)
        | InboxItem::Ready(task) => visible(&task.id).into_owned(),
        InboxItem::GaveUp(run) => run.id.to_string(),
        InboxItem::Space { pool, .. } => format!("space-{}", visible(&pool.name)),
        InboxItem::Decision(decision) => decision.id.to_string(),
        InboxItem::Wish(agent) => format!("join-{}", visible(&agent.profile.name)),
        InboxItem::Mail { .. } => "mail".to_owned(),
    }
}

/// The names in a list: equal ones are told apart by their repositories, or by a number.
pub(super) fn names_in_list(items: &[InboxItem<'_>], world: &World, who: Principal) -> Vec<String> {
    let mut names: Vec<String> = items.iter().map(|item| name_in_list(item, world, who)).collect();
    let plain = repeated(&names);
    for (name, item) in names.iter_mut().zip(items).filter(|(name, _)| plain.contains(*name)) {
        if let Some(project) = project(item, world) {
            *name = format!("{}:{name}", visible(&project));
        }
    }
    for same in repeated(&names) {
        let others = names.iter_mut().filter(|name| **name == same).enumerate().skip(1);
        others.for_each(|(at, name)| *name = format!("{name}~{}", at + 1));
    }
    names
}

/// The name made of the number of what this operation answers.
fn called<O: Operation>(id: &dyn Display) -> String {
    let prefix = entry_of::<O>().answers.map_or("", |(prefix, _)| prefix);
    format!("{prefix}{id}")
}

/// Names that occur more than once.
fn repeated(names: &[String]) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    names.iter().filter(|name| !known.insert(name.as_str())).cloned().collect()
}
