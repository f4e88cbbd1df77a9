//! The graph of tasks: what is ready, what is blocked, and which cycles are forbidden.

use std::collections::{BTreeMap, BTreeSet};

use super::{Task, TaskState};

/// What the graph says of a task that nobody works on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Readiness {
    /// Something has to be done first.
    #[default]
    Pending,
    /// Everything that comes first is done or skipped.
    Ready,
    /// Something that comes first failed or was cancelled, perhaps indirectly.
    Blocked,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signal {
    Satisfied,
    Awaited,
    Hopeless,
}

/// What a task means to those that depend on it. A blocked task passes that on, unless somebody is working on it.
pub(super) fn signal(task: &Task) -> Signal {
    match &task.state {
        TaskState::Done { .. } | TaskState::Skipped { .. } => Signal::Satisfied,
        TaskState::Failed { .. } | TaskState::Cancelled { .. } => Signal::Hopeless,
        TaskState::Open { .. } | TaskState::Paused { .. } if task.standing == Readiness::Blocked => {
            Signal::Hopeless
        }
        TaskState::Open { .. }
        | TaskState::Paused { .. }
        | TaskState::Running { .. }
        | TaskState::InReview { .. } => Signal::Awaited,
    }
}

/// The readiness that follows from what comes first. Tasks that are no longer remembered ended long ago.
pub(super) fn standing(before: impl Iterator<Item = Signal>) -> Readiness {
    let mut standing = Readiness::Ready;
    for signal in before {
        match signal {
            Signal::Satisfied => {}
            Signal::Awaited => standing = Readiness::Pending,
            Signal::Hopeless => return Readiness::Blocked,
        }
    }
    standing
}

/// Every task's readiness, found the slow and obvious way: looks for blocked tasks until none is added.
pub fn naive_standings(tasks: &BTreeMap<u64, Task>) -> BTreeMap<u64, Readiness> {
    let mut blocked: BTreeSet<u64> = BTreeSet::new();
    loop {
        let is_hopeless = |number: &u64| match tasks.get(number).map(|before| &before.state) {
            Some(TaskState::Failed { .. } | TaskState::Cancelled { .. }) => true,
            Some(TaskState::Open { .. } | TaskState::Paused { .. }) => blocked.contains(number),
            Some(
                TaskState::Done { .. }
                | TaskState::Skipped { .. }
                | TaskState::Running { .. }
                | TaskState::InReview { .. },
            )
            | None => false,
        };
        let found: BTreeSet<u64> = tasks
            .values()
            .filter(|task| task.depends_on.iter().any(is_hopeless))
            .map(|task| task.number)
            .collect();
        if found == blocked {
            break;
        }
        blocked = found;
    }
    let is_over = |number: &u64| {
        let state = tasks.get(number).map(|before| &before.state);
        state.is_none_or(|state| matches!(state, TaskState::Done { .. } | TaskState::Skipped { .. }))
    };
    let standing = |task: &Task| match blocked.contains(&task.number) {
        true => Readiness::Blocked,
        false if task.depends_on.iter().all(is_over) => Readiness::Ready,
        false => Readiness::Pending,
    };
    tasks.iter().map(|(number, task)| (*number, standing(task))).collect()
}

/// The first cycle among edges `from -> what it depends on`, with its first name repeated at the end.
pub(super) fn cycle<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Option<Vec<&'a str>> {
    let mut finished: BTreeSet<&str> = BTreeSet::new();
    for start in edges.keys() {
        // The path from the start to the current node, with what is still to be tried at each step.
        let mut way: Vec<(&str, Vec<&str>)> = vec![(start, next(edges, start))];
        let mut on_way = BTreeSet::from([*start]);
        if finished.contains(start) {
            continue;
        }
        while let Some((at, open)) = way.last_mut() {
            let Some(to) = open.pop() else {
                on_way.remove(at);
                finished.insert(at);
                way.pop();
                continue;
            };
            if on_way.contains(to) {
                let names = way.iter().map(|(name, _)| *name).skip_while(|name| *name != to);
                return Some(names.chain([to]).collect());
            }
            if !finished.contains(to) {
                on_way.insert(to);
                way.push((to, next(edges, to)));
            }
        }
    }
    None
}

fn next<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> Vec<&'a str> {
    edges.get(from).into_iter().flatten().rev().copied().collect()
}

/// The dependency path from one task to another, both included.
pub(super) fn way<'a>(find: &impl Fn(u64) -> Option<&'a Task>, from: u64, to: u64) -> Option<Vec<u64>> {
    let mut came_from = BTreeMap::from([(from, from)]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return Some(way_back(&came_from, from, to));
        }
        for next in find(at).into_iter().flat_map(|task| &task.depends_on) {
            if !came_from.contains_key(next) {
                came_from.insert(*next, at);
                open.push(*next);
            }
        }
    }
    None
}

fn way_back(came_from: &BTreeMap<u64, u64>, from: u64, to: u64) -> Vec<u64> {
    let mut way = vec![to];
    let mut at = to;
    while at != from
        && let Some(before) = came_from.get(&at)
    {
        at = *before;
        way.push(at);
    }
    way.reverse();
    way
}
