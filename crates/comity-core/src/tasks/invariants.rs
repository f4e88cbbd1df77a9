//! What must be true of the tasks of every world, checked the slow and obvious way.

use std::collections::{BTreeMap, BTreeSet};

use super::{Task, TaskState, graph};
use crate::world::World;

/// The first violated invariant of tasks, if there is one.
pub fn check(world: &World) -> Result<(), String> {
    let tasks = world.tasks.all();
    if tasks.is_empty() {
        return Ok(());
    }
    no_cycle(tasks)?;
    for (number, standing) in graph::naive_standings(tasks) {
        if tasks[&number].standing != standing {
            return Err(format!("the task {} is not {standing:?}: {:?}", tasks[&number].id, tasks[&number]));
        }
    }
    owners_live(world)?;
    no_shared_files(tasks)?;
    if let Some(given) = super::assign::next_assignment(world) {
        return Err(format!("somebody waits for work, and there is some: {given:?}"));
    }
    Ok(())
}

fn no_cycle(tasks: &BTreeMap<u64, Task>) -> Result<(), String> {
    // Removes what depends on nothing that is left, until nothing is left.
    let mut left: BTreeSet<u64> = tasks.keys().copied().collect();
    while !left.is_empty() {
        let is_first = |number: &u64| !tasks[number].depends_on.iter().any(|before| left.contains(before));
        let first: Vec<u64> = left.iter().filter(|number| is_first(number)).copied().collect();
        if first.is_empty() {
            return Err(format!("tasks wait for each other in a circle: {left:?}"));
        }
        left.retain(|number| !first.contains(number));
    }
    Ok(())
}

fn owners_live(world: &World) -> Result<(), String> {
    let has_ended = |task: &&Task| {
        let owner = task.state.owner().and_then(|owner| owner.agent());
        owner.is_some_and(|agent| world.agents.living(agent).is_err())
    };
    match world.tasks.iter().find(has_ended) {
        Some(task) => Err(format!("{} is owned by somebody who has ended", task.id)),
        None => Ok(()),
    }
}

fn no_shared_files(tasks: &BTreeMap<u64, Task>) -> Result<(), String> {
    let running: Vec<&Task> =
        tasks.values().filter(|task| matches!(task.state, TaskState::Running { .. })).collect();
    for (at, task) in running.iter().enumerate() {
        if let Some(other) = running[at + 1..].iter().find(|other| other.shares_files_with(task)) {
            return Err(format!("{} and {} run on the same files", task.id, other.id));
        }
    }
    Ok(())
}
