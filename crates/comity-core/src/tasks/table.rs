//! The table of tasks with its indexes, and how events change it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::graph::{signal, standing};
use super::notices::tell;
use super::{Claim, NewTask, Priority, Readiness, Task, TaskEvent, TaskRef, TaskState, past};
use crate::calls;
use crate::deadlines::Due;
use crate::event::Record;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::TASKS_ENDED_MAX;
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::world::World;

/// All open tasks, and the newest of the ended ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskTable {
    pub(super) by_number: BTreeMap<u64, Task>,
    by_name: BTreeMap<(ProjectId, Box<str>), u64>,
    after: BTreeMap<u64, BTreeSet<u64>>,
    owned: BTreeMap<Principal, BTreeSet<u64>>,
    /// Startable tasks that nobody has, in order.
    pub(super) ready: BTreeSet<(Priority, u64)>,
    /// Those in review, and those that failed.
    undecided: BTreeSet<u64>,
    /// Oldest end first.
    ended: BTreeSet<(u64, u64)>,
    ended_at: BTreeMap<u64, u64>,
    pub(super) seekers: BTreeMap<AgentId, IdleAgent>,
    free_since: BTreeMap<AgentId, Timestamp>,
    pub(super) last_number: u64,
}

/// An agent that waits for work.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleAgent {
    pub project: ProjectId,
    pub until: Timestamp,
    #[serde(default)]
    pub since: Timestamp,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskFacts {
    tasks: Vec<Task>,
    ended: Vec<(u64, u64)>,
    seekers: Vec<(AgentId, IdleAgent)>,
    free_since: Vec<(AgentId, Timestamp)>,
    last_number: u64,
}

impl TaskTable {
    /// The task with this name.
    pub fn get(&self, project: ProjectId, id: &str) -> Option<&Task> {
        self.by_name.get(&(project, id.into())).and_then(|number| self.by_number.get(number))
    }

    /// The task with this number.
    pub fn by_number(&self, number: u64) -> Option<&Task> {
        self.by_number.get(&number)
    }

    /// The task, or the refusal that there is none.
    pub fn find(&self, on: &TaskRef) -> Result<&Task, Refusal> {
        self.get(on.project, &on.task).ok_or_else(|| Refusal::NotFound {
            problem: format!("there is no task {:?}", &*on.task),
            hint: format!("see what there is with: {}", call(calls::TASK_LIST, [])),
        })
    }

    /// Oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.by_number.values()
    }

    /// Oldest first.
    pub fn of(&self, project: ProjectId) -> impl Iterator<Item = &Task> {
        self.iter().filter(move |task| task.project == project)
    }

    pub(crate) fn all(&self) -> &BTreeMap<u64, Task> {
        &self.by_number
    }

    pub(crate) fn open_count(&self) -> usize {
        self.by_number.len() - self.ended.len()
    }

    /// Its tasks: claimed, running or paused.
    pub fn owned_by(&self, who: Principal) -> impl Iterator<Item = &Task> {
        self.owned.get(&who).into_iter().flatten().filter_map(|number| self.by_number.get(number))
    }

    /// Everybody's tasks: claimed, running or paused.
    pub(super) fn owned(&self) -> impl Iterator<Item = &Task> {
        self.owned.values().flatten().filter_map(|number| self.by_number.get(number))
    }

    /// Tasks that somebody has to decide about: in review, failed, or left by a worker that ended.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = &Task> {
        self.undecided.iter().filter_map(|number| self.by_number.get(number))
    }

    /// Tasks that depend on this one.
    pub fn after(&self, task: &Task) -> impl Iterator<Item = &Task> {
        self.after.get(&task.number).into_iter().flatten().filter_map(|number| self.by_number.get(number))
    }

    /// Tasks that this one depends on, and that are still remembered.
    pub fn before<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = &'a Task> {
        task.depends_on.iter().filter_map(|number| self.by_number.get(number))
    }

    /// Since when the agent waits for work, if it does.
    pub fn sought_since(&self, agent: AgentId) -> Option<Timestamp> {
        self.seekers.get(&agent).map(|seeker| seeker.since)
    }

    pub(super) fn free_since(&self, agent: AgentId) -> Option<Timestamp> {
        self.free_since.get(&agent).copied()
    }

    pub(crate) fn facts(&self) -> TaskFacts {
        TaskFacts {
            tasks: self.by_number.values().cloned().collect(),
            ended: self.ended.iter().copied().collect(),
            seekers: self.seekers.iter().map(|(agent, seeker)| (*agent, *seeker)).collect(),
            free_since: self.free_since.iter().map(|(agent, since)| (*agent, *since)).collect(),
            last_number: self.last_number,
        }
    }

    pub(crate) fn forget_agent(&mut self, agent: AgentId) {
        self.seekers.remove(&agent);
        self.free_since.remove(&agent);
    }

    fn insert(&mut self, task: Task) {
        for before in &task.depends_on {
            self.after.entry(*before).or_default().insert(task.number);
        }
        self.by_name.insert((task.project, task.id.clone()), task.number);
        if let Some(owner) = task.state.owner() {
            self.owned.entry(owner).or_default().insert(task.number);
        }
        self.last_number = self.last_number.max(task.number);
        if past::is_undecided(&task.state, &task.past) {
            self.undecided.insert(task.number);
        }
        self.by_number.insert(task.number, task);
    }

    /// Changes a task's state; `seq` is the record that did it.
    fn set_state(&mut self, number: u64, state: TaskState, seq: u64) {
        let Some(task) = self.by_number.get_mut(&number) else { return };
        if let Some(owner) = task.state.owner()
            && let Some(owned) = self.owned.get_mut(&owner)
        {
            owned.remove(&number);
            if owned.is_empty() {
                self.owned.remove(&owner);
            }
        }
        if let Some(owner) = state.owner() {
            self.owned.entry(owner).or_default().insert(number);
        }
        let is_terminal = state.is_terminal();
        match past::is_undecided(&state, &task.past) {
            true => self.undecided.insert(number),
            false => self.undecided.remove(&number),
        };
        task.state = state;
        if let Some(before) = self.ended_at.remove(&number) {
            self.ended.remove(&(before, number));
        }
        if is_terminal {
            self.ended.insert((seq, number));
            self.ended_at.insert(number, seq);
        }
        self.settle([number]);
        if is_terminal {
            self.forget_the_oldest();
        }
    }

    /// Recomputes the readiness of these and of all that depend on them.
    fn settle(&mut self, changed: impl IntoIterator<Item = u64>) {
        let mut open: VecDeque<u64> = changed.into_iter().collect();
        // The first round continues in any case: the state itself has changed.
        let mut first: BTreeSet<u64> = open.iter().copied().collect();
        while let Some(number) = open.pop_front() {
            let Some(task) = self.by_number.get(&number) else { continue };
            let found = standing(self.before(task).map(signal));
            let is_news = found != task.standing;
            let is_free = matches!(task.state, TaskState::Open { claim: None });
            let place = (task.brief.priority, number);
            match is_free && found == Readiness::Ready {
                true => self.ready.insert(place),
                false => self.ready.remove(&place),
            };
            if let Some(task) = self.by_number.get_mut(&number) {
                task.standing = found;
            }
            if is_news || first.remove(&number) {
                open.extend(self.after.get(&number).into_iter().flatten());
            }
        }
    }

    /// Forgets ended tasks beyond the bound, oldest first, but none that an open task depends on.
    fn forget_the_oldest(&mut self) {
        while self.ended.len() > TASKS_ENDED_MAX {
            let is_needed = |number: &u64| {
                let after = self.after.get(number).into_iter().flatten();
                after.filter_map(|number| self.by_number.get(number)).any(|task| !task.state.is_terminal())
            };
            let Some(oldest) = self.ended.iter().find(|(_, number)| !is_needed(number)).copied() else {
                return;
            };
            self.forget(oldest.1);
        }
    }

    fn forget(&mut self, number: u64) {
        let Some(task) = self.by_number.remove(&number) else { return };
        self.by_name.remove(&(task.project, task.id));
        if let Some(ended_at) = self.ended_at.remove(&number) {
            self.ended.remove(&(ended_at, number));
        }
        for before in &task.depends_on {
            if let Some(after) = self.after.get_mut(before) {
                after.remove(&number);
            }
        }
        self.after.remove(&number);
    }
}

impl TaskFacts {
    /// Restores the table, with indexes and readiness.
    pub(crate) fn restore(self, world: &mut World) {
        let mut tasks = TaskTable::default();
        let numbers: Vec<u64> = self.tasks.iter().map(|task| task.number).collect();
        self.tasks.into_iter().for_each(|task| tasks.insert(task));
        tasks.ended = self.ended.iter().copied().collect();
        tasks.ended_at = self.ended.iter().map(|(seq, number)| (*number, *seq)).collect();
        tasks.seekers = self.seekers.into_iter().collect();
        tasks.free_since = self.free_since.into_iter().collect();
        tasks.last_number = tasks.last_number.max(self.last_number);
        tasks.settle(numbers.iter().copied());
        world.tasks = tasks;
        numbers.into_iter().for_each(|number| watch(world, number));
    }
}

/// Sets the deadline for starting an automatically assigned task.
fn watch(world: &mut World, number: u64) {
    let claim = world.tasks.by_number.get(&number).and_then(|task| task.state.claim());
    let deadline = claim.and_then(|claim| claim.start_by);
    world.deadlines.set(Due::Task(number), deadline);
}

pub(super) fn apply(world: &mut World, record: &Record, event: &TaskEvent) {
    // Who is told depends on the state before.
    tell(world, record, event);
    if let TaskEvent::Declared { project, tasks } = event {
        return declared(world, record.by, *project, tasks);
    }
    if let TaskEvent::Sought { agent, project, wait } = event {
        let since = world.tasks.sought_since(*agent).unwrap_or(world.now);
        let seeker = IdleAgent { project: *project, until: world.now.plus(*wait), since };
        world.tasks.seekers.insert(*agent, seeker);
    }
    if let TaskEvent::GaveUp { agent, .. } = event {
        world.tasks.seekers.remove(agent);
    }
    let number = event.on().and_then(|on| world.tasks.get(on.project, &on.task)).map(|task| task.number);
    let Some(number) = number else { return };
    if let TaskEvent::Linked { on, depends_on, title, files } = event {
        if let Some(task) = world.tasks.by_number.get_mut(&number) {
            let brief = &mut task.brief;
            brief.title = title.clone().unwrap_or_else(|| brief.title.clone());
            brief.files = files.clone().unwrap_or_else(|| brief.files.clone());
        }
        return linked(&mut world.tasks, on, number, depends_on);
    }
    let now = world.now;
    let Some(task) = world.tasks.by_number.get_mut(&number) else { return };
    let owner = task.state.owner();
    past::remember(task, record, now, event);
    let claimed =
        |by: Principal, start_by| TaskState::Open { claim: Some(Claim { by, since: now, start_by }) };
    let state = match event {
        TaskEvent::Claimed { by, .. } => claimed(*by, None),
        TaskEvent::Assigned { to, attempt, start_within, .. } => {
            task.attempt = *attempt;
            claimed(*to, start_within.map(|span| now.plus(span)))
        }
        TaskEvent::Started { by, .. } => TaskState::Running { by: *by, since: now },
        TaskEvent::Reported { by, evidence, .. } => {
            TaskState::InReview { by: *by, evidence: evidence.clone(), since: now }
        }
        TaskEvent::Completed { by, evidence, .. } => {
            TaskState::Done { by: *by, evidence: evidence.clone(), at: now }
        }
        TaskEvent::SentBack { owner, attempt, .. } => {
            task.attempt = *attempt;
            TaskState::Open { claim: owner.map(|by| Claim { by, since: now, start_by: None }) }
        }
        TaskEvent::Returned { attempt, cause, .. } => {
            task.attempt = *attempt;
            task.lost += u32::from(*cause == super::ReturnCause::OwnerEnded);
            if let TaskState::Paused { since, .. } = task.state {
                TaskState::Paused { owner: None, since }
            } else {
                TaskState::Open { claim: None }
            }
        }
        TaskEvent::Failed { reason, .. } => TaskState::Failed { reason: reason.clone(), at: now },
        TaskEvent::Paused { .. } => TaskState::Paused { owner, since: now },
        TaskEvent::Resumed { .. } => {
            TaskState::Open { claim: owner.map(|by| Claim { by, since: now, start_by: None }) }
        }
        TaskEvent::Retried { attempt, .. } | TaskEvent::Reopened { attempt, .. } => {
            (task.attempt, task.lost) = (*attempt, 0);
            TaskState::Open { claim: None }
        }
        TaskEvent::Skipped { .. } => TaskState::Skipped { by: record.by, at: now },
        TaskEvent::Cancelled { .. } => TaskState::Cancelled { by: record.by, at: now },
        TaskEvent::LooksLike { .. }
        | TaskEvent::Declared { .. }
        | TaskEvent::Linked { .. }
        | TaskEvent::Sought { .. }
        | TaskEvent::GaveUp { .. } => return,
    };
    let now_owner = state.owner();
    world.tasks.set_state(number, state, record.seq);
    for agent in owner.into_iter().chain(now_owner).filter_map(Principal::agent) {
        // An agent whose tasks changed is free from now on, once it has none.
        world.tasks.free_since.insert(agent, now);
    }
    if let Some(agent) = now_owner.and_then(Principal::agent) {
        world.tasks.seekers.remove(&agent);
    }
    watch(world, number);
}

fn declared(world: &mut World, creator: Principal, project: ProjectId, new: &[NewTask]) {
    for task in new {
        world.tasks.insert(task.open(project, creator, world.now));
    }
    for task in new {
        link(&mut world.tasks, project, task.number, &task.depends_on);
    }
    world.tasks.settle(new.iter().map(|task| task.number));
}

fn linked(tasks: &mut TaskTable, on: &TaskRef, number: u64, depends_on: &[Box<str>]) {
    link(tasks, on.project, number, depends_on);
    tasks.settle([number]);
}

fn link(tasks: &mut TaskTable, project: ProjectId, number: u64, depends_on: &[Box<str>]) {
    for id in depends_on {
        let Some(before) = tasks.get(project, id).map(|task| task.number) else { continue };
        tasks.after.entry(before).or_default().insert(number);
        if let Some(task) = tasks.by_number.get_mut(&number) {
            task.depends_on.insert(before);
        }
    }
}
