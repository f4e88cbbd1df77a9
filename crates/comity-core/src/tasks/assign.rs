//! Automatic assignment: an agent that asked for work gets the ready task that is most worth doing, at once.
//!
//! Only agents that wait for work get any without further asking: a session that never asked is left alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{Task, TaskEvent, TaskRef, TaskState, TaskStatus, similar};
use crate::agents::Agent;
use crate::calls;
use crate::event::Event;
use crate::features::WaitedFor;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::{TASK_START_MAX, WAIT_MAX};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::roles::DEFAULT_ROLE;
use crate::time::{Millis, Timestamp};
use crate::wait_graph::{Need, WaitRules, Waits, first_stuck, is_waited_for};
use crate::world::World;

/// Ready tasks that no live agent is free for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opening {
    pub project: ProjectId,
    pub role: Box<str>,
    pub team: Option<Box<str>>,
    pub tasks: usize,
    /// Whether the limit on agents allows one more.
    pub may_start: bool,
}

/// The calling agent waits for work, and gets some as soon as there is some.
pub(super) fn seek(
    world: &World,
    who: Principal,
    project: ProjectId,
    wait: Millis,
) -> Result<Vec<Event>, Refusal> {
    let Principal::Agent(agent) = who else {
        return Err(Refusal::bad_input(
            "only agents can wait for work",
            format!("name the task: {}", call(calls::TASK_CLAIM, [("id", "ID".into())])),
        ));
    };
    if wait > WAIT_MAX {
        return Err(Refusal::bad_input("the wait is too long", format!("wait at most {WAIT_MAX}")));
    }
    // If it already has a task, that is the answer.
    if world.tasks.owned_by(who).any(Task::is_taken) {
        return Ok(vec![]);
    }
    if let Some(need) = is_waited_for(world, who).then(|| need_in(world, project)).flatten() {
        Waits::all(world).with(who, need).check(who)?;
    }
    Ok(vec![Event::Task(TaskEvent::Sought { agent, project, wait })])
}

/// The calling agent stops waiting.
pub(super) fn take(world: &World, who: Principal) -> Vec<Event> {
    let seeks = who.agent().filter(|agent| world.tasks.seekers.contains_key(agent));
    seeks.map(|agent| Event::Task(TaskEvent::GaveUp { agent, deadlock: None })).into_iter().collect()
}

/// A wait for work keeps nobody else from waiting: it is what ends when there is a cycle.
pub(crate) const WAIT_RULES: WaitRules = WaitRules {
    needs: |waits, who| who.agent().and_then(|agent| need(waits.world, agent)).into_iter().collect(),
    waiting_for: |world, who| Box::new(waiting_for(world, who)),
    gives_way: true,
};

fn seekers(world: &World) -> impl Iterator<Item = AgentId> {
    world.tasks.seekers.keys().copied()
}

/// Everybody who waits for work that `who` has.
fn waiting_for(world: &World, who: Principal) -> impl Iterator<Item = Principal> {
    let seekers = who.agent().filter(|_| world.tasks.owned_by(who).next().is_some()).map(|_| seekers(world));
    let waits = move |seeker: &AgentId| need(world, *seeker).is_some_and(|need| need.from.contains_key(&who));
    seekers.into_iter().flatten().filter(waits).map(Principal::Agent)
}

/// What an agent that waits for work needs: progress of somebody who has a task in the same project. Where somebody
/// else has to make the next step, it waits for nobody.
fn need(world: &World, agent: AgentId) -> Option<Need<'static>> {
    let seeker = world.tasks.seekers.get(&agent).filter(|seeker| world.now < seeker.until)?;
    need_in(world, seeker.project)
}

fn need_in(world: &World, project: ProjectId) -> Option<Need<'static>> {
    let anybody_could =
        |(_, number): &(_, u64)| world.tasks.by_number(*number).is_some_and(|task| task.project == project);
    if world.tasks.ready.iter().any(anybody_could) {
        return None;
    }
    let is_for_others =
        |task: &Task| matches!(task.state, TaskState::InReview { .. } | TaskState::Paused { .. });
    if world.tasks.of(project).any(is_for_others) {
        return None;
    }
    let from: BTreeSet<Principal> = world
        .tasks
        .owned()
        .filter(|task| task.project == project)
        .filter_map(|task| task.state.owner())
        .collect();
    (!from.is_empty()).then(|| Need::of(WaitedFor::Work, from))
}

/// Ends an agent's wait for work that will never come.
pub(super) fn next_stuck(world: &World) -> Option<Vec<Event>> {
    let waited_for = |agent: &AgentId| is_waited_for(world, Principal::Agent(*agent));
    let (agent, cycle) = first_stuck(world, seekers(world).filter(waited_for))?;
    let deadlock = Some(cycle.to_string().into());
    Some(vec![Event::Task(TaskEvent::GaveUp { agent, deadlock })])
}

/// Gives the first task to the agent that was idle longest, if anything can be given.
pub(super) fn next_assignment(world: &World) -> Option<Vec<Event>> {
    let mut free: Vec<(Timestamp, &Agent, ProjectId)> = free_agents(world).collect();
    if free.is_empty() {
        return None;
    }
    free.sort_by_key(|(since, agent, _)| (*since, agent.id));
    let (task, agent) = world.tasks.ready.iter().find_map(|(_, number)| {
        let task = world.tasks.by_number(*number)?;
        let fits = |(_, agent, project): &&(_, &Agent, ProjectId)| fits(agent, *project, task);
        let (_, agent, _) = free.iter().find(fits)?;
        can_be_given(world, task).then_some((task, *agent))
    })?;
    let (on, to, attempt) = (task.name(), Principal::Agent(agent.id), task.attempt);
    let assigned = TaskEvent::Assigned { on, to, attempt, start_within: Some(TASK_START_MAX) };
    Some(std::iter::once(Event::Task(assigned)).chain(similar::among_taken(world, to, task)).collect())
}

/// The ready task that is most worth doing for an agent that has none.
pub(crate) fn ready_for(world: &World, agent: AgentId, project: ProjectId) -> Option<&Task> {
    let who = Principal::Agent(agent);
    let is_free = !world.tasks.owned_by(who).any(Task::is_taken);
    is_free.then(|| best_for(world, who, project)).flatten()
}

/// The ready task that is most worth doing for `who`; the human can do everything.
pub(super) fn best_for(world: &World, who: Principal, project: ProjectId) -> Option<&Task> {
    let agent = who.agent().and_then(|agent| world.agents.get(agent));
    let all = world.tasks.ready.iter().filter_map(|(_, number)| world.tasks.by_number(*number));
    let mut fitting = all.filter(|task| match agent {
        Some(agent) => fits(agent, project, task),
        None => task.project == project,
    });
    fitting.find(|task| can_be_given(world, task))
}

/// Gives a task to the agent that was started for it, if it is still available.
pub(crate) fn given_to(world: &World, on: &TaskRef, agent: AgentId) -> Option<TaskEvent> {
    let is_free = |task: &&Task| matches!(task.state, TaskState::Open { claim: None });
    let task = world.tasks.find(on).ok().filter(is_free).filter(|task| task.status() == TaskStatus::Ready)?;
    let (on, to, attempt) = (task.name(), Principal::Agent(agent), task.attempt);
    can_be_given(world, task).then_some(TaskEvent::Assigned { on, to, attempt, start_within: None })
}

/// Refuses a task that nobody can be started for.
pub(crate) fn must_be_open(world: &World, on: &TaskRef) -> Result<(), Refusal> {
    let task = world.tasks.find(on)?;
    match task.state {
        TaskState::Open { claim: None } => Ok(()),
        _ => Err(Refusal::bad_input(
            format!("the task {} is {}", task.id, task.status().word()),
            "name a task that nobody has, or leave it out",
        )),
    }
}

/// The ready tasks that no waiting agent could be given, most important first.
pub(crate) fn without_anybody(world: &World) -> impl Iterator<Item = &Task> {
    let ready = world.tasks.ready.iter().filter_map(|(_, number)| world.tasks.by_number(*number));
    ready.filter(|task| can_be_given(world, task))
}

/// Roles that are wanted: for ready tasks that no waiting agent could be given.
pub fn openings(world: &World) -> Vec<Opening> {
    let may_start = world.agents.may_join();
    let mut counts: BTreeMap<(ProjectId, &str, Option<&str>), usize> = BTreeMap::new();
    for task in without_anybody(world) {
        *counts.entry((task.project, task.role(), task.brief.team.as_deref())).or_default() += 1;
    }
    let opening = |((project, role, team), tasks): ((ProjectId, &str, Option<&str>), usize)| Opening {
        project,
        role: role.into(),
        team: team.map(Into::into),
        tasks,
        may_start,
    };
    counts.into_iter().map(opening).collect()
}

/// The agents that wait for work and have none, with since when and where.
fn free_agents(world: &World) -> impl Iterator<Item = (Timestamp, &Agent, ProjectId)> {
    let is_free = |id: AgentId| !world.tasks.owned_by(Principal::Agent(id)).any(Task::is_taken);
    world.tasks.seekers.iter().filter_map(move |(id, seeker)| {
        let agent = world.agents.get(*id).filter(|agent| agent.is_live())?;
        let since = world.tasks.free_since(*id).unwrap_or(agent.joined);
        (world.now < seeker.until && is_free(*id)).then_some((since, agent, seeker.project))
    })
}

/// Whether the agent has the right role and team, and is in the right project.
fn fits(agent: &Agent, project: ProjectId, task: &Task) -> bool {
    let role = agent.profile.role.as_deref().unwrap_or(DEFAULT_ROLE);
    let team = task.brief.team.as_deref();
    project == task.project
        && role == task.role()
        && team.is_none_or(|team| agent.profile.team.as_deref() == Some(team))
}

/// A task that somebody has and that would change the same files.
pub(crate) fn in_the_way<'w>(world: &'w World, task: &Task) -> Option<&'w Task> {
    let changes_them = |other: &&Task| other.is_taken() && other.shares_files_with(task);
    if task.brief.files.is_empty() { None } else { world.tasks.owned().find(changes_them) }
}

/// Whether it could be started: nobody has a task that would change the same files.
fn can_be_given(world: &World, task: &Task) -> bool {
    in_the_way(world, task).is_none()
}
