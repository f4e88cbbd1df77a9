//! Starts agents for ready tasks that nobody is free for, and ends them when they are idle.
//!
//! Never a storm: a limited number per minute, ever later for a role whose agents end at once, and not for a while
//! after somebody stopped an agent of that role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{AgentRun, AgentRuns, RunBackend, RunEnd, RunEvent, RunId, RunProgram, RunSpec, RunState};
use crate::agents;
use crate::checks::only_comity;
use crate::event::Event;
use crate::ids::{AgentId, Principal};
use crate::limits::{
    RUN_STAFF_AGAIN_MAX, RUN_STAFF_AGAIN_MIN, RUN_STAFF_HOLD, RUN_STAFF_LIFE_MIN, RUN_STAFF_PER_MINUTE,
};
use crate::projects::Project;
use crate::refusal::Refusal;
use crate::roles::DEFAULT_ROLE;
use crate::tasks::{self, Task};
use crate::time::{Millis, Timestamp};
use crate::world::World;

/// How agents are started for ready tasks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Staffing {
    pub program: RunProgram,
    pub backend: RunBackend,
    /// How long an agent without a task stays.
    pub idle_max: Millis,
}

/// What became of agents that were started for ready tasks.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StaffingHistory {
    /// Starts within the last minute.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    starts: Vec<Timestamp>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pauses: BTreeMap<Box<str>, StaffingPause>,
}

/// A role for which nobody is started for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StaffingPause {
    /// How many ended at once, in a row.
    failures: u32,
    until: Timestamp,
}

/// Starts agents for ready tasks, and ends those that had nothing to do for long.
pub(super) fn staff(world: &World, who: Principal, staffing: &Staffing) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let idle = idle(world, staffing.idle_max).filter(|(at, _)| *at <= world.now);
    let ends = idle.map(|(_, run)| Event::Run(RunEvent::EndWanted { run, force: false, again: false }));
    Ok(ends.chain(wanted(world, staffing)).collect())
}

/// When staffing will do something by time alone.
pub fn next_staffing(world: &World, staffing: &Staffing) -> Option<Timestamp> {
    let history = &world.runs.staffing;
    let of_minute = match history.starts.len() >= RUN_STAFF_PER_MINUTE {
        true => history.starts.first().map(|first| first.plus(Millis::minutes(1))),
        false => None,
    };
    let waits = tasks::without_anybody(world).filter(|task| !is_coming(world, task));
    let starts =
        waits.filter_map(|task| history.pauses.get(task.role()).map(|pause| pause.until).max(of_minute));
    let idle = idle(world, staffing.idle_max).map(|(at, _)| at);
    starts.chain(idle).filter(|at| *at > world.now).min()
}

fn wanted(world: &World, staffing: &Staffing) -> Vec<Event> {
    let history = &world.runs.staffing;
    let recent = history.starts.iter().filter(|start| world.now < start.plus(Millis::minutes(1))).count();
    let mut left = RUN_STAFF_PER_MINUTE.saturating_sub(recent);
    let mut events: Vec<Event> = Vec::new();
    let mut names: Vec<Box<str>> = Vec::new();
    for task in tasks::without_anybody(world) {
        let is_full = agents::check_limit_with(world, world.runs.awaited() + events.len()).is_err();
        if left == 0 || is_full {
            break;
        }
        let Some(cwd) = world.projects.get(&task.project).and_then(Project::top) else { continue };
        if is_coming(world, task) || history.is_paused(task.role(), world.now) {
            continue;
        }
        let name = free_name(world, task.role(), &names);
        let spec = RunSpec {
            name: name.clone(),
            program: staffing.program.clone(),
            role: Some(task.role().into()),
            team: task.brief.team.clone(),
            model: None,
            cwd: cwd.into(),
            project: Some(task.project),
            task: Some(task.name()),
            prompt: None,
            backend: staffing.backend,
            beside: None,
            plan: false,
            survives: false,
            text_commands: false,
            worktree: false,
            leader: None,
            staffed: true,
        };
        let run = RunId(world.runs.last.0 + 1 + events.len() as u64);
        events.push(Event::Run(RunEvent::Wanted { run, spec: Box::new(spec) }));
        names.push(name);
        left -= 1;
    }
    events
}

/// Whether an agent is being started for it.
fn is_coming(world: &World, task: &Task) -> bool {
    let comes = |run: &AgentRun| matches!(run.state, RunState::Due(_) | RunState::Starting(_));
    world.runs.active().any(|run| comes(run) && run.spec.task.as_ref() == Some(&task.name()))
}

/// Agents that were started for tasks and have none, and when each will have been idle for too long.
fn idle(world: &World, idle_max: Millis) -> impl Iterator<Item = (Timestamp, RunId)> {
    world.runs.active().filter(|run| run.spec.staffed).filter_map(move |run| {
        let RunState::Running { agent, .. } = run.state else { return None };
        let since = idle_since(world, agent)?;
        Some((since.plus(idle_max), run.id))
    })
}

fn idle_since(world: &World, agent: AgentId) -> Option<Timestamp> {
    let agent = world.agents.living(agent).ok()?;
    let has_work = world.tasks.owned_by(Principal::Agent(agent.id)).any(Task::is_taken);
    (!has_work).then(|| agent.seen.max(agent.joined))
}

/// The role, with a number if the name is taken.
fn free_name(world: &World, role: &str, taken: &[Box<str>]) -> Box<str> {
    let is_free = |name: &str| {
        agents::check_agent_name(world, name).is_ok()
            && !world.runs.active().any(|run| &*run.spec.name == name)
            && !taken.iter().any(|other| **other == *name)
    };
    let numbered = (2_u32..).map(|number| format!("{role}-{number}"));
    std::iter::once(role.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default().into()
}

impl StaffingHistory {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn is_paused(&self, role: &str, now: Timestamp) -> bool {
        self.pauses.get(role).is_some_and(|pause| now < pause.until)
    }

    fn fails(&mut self, role: &str, now: Timestamp) {
        let pause = self.pauses.entry(role.into()).or_default();
        let after =
            RUN_STAFF_AGAIN_MIN.0.saturating_mul(1 << pause.failures.min(16)).min(RUN_STAFF_AGAIN_MAX.0);
        pause.failures += 1;
        pause.until = pause.until.max(now.plus(Millis(after)));
    }
}

impl AgentRuns {
    pub(super) fn staffed(&mut self, now: Timestamp) {
        self.staffing.starts.retain(|start| now < start.plus(Millis::minutes(1)));
        self.staffing.starts.push(now);
    }

    /// Notes how a run that was started for a task ended, and how long it lasted.
    pub(super) fn staff_ended(&mut self, run: RunId, how: &RunEnd, now: Timestamp) {
        let Some(run) = self.get(run).filter(|run| run.spec.staffed) else { return };
        let role: Box<str> = run.spec.role.as_deref().unwrap_or(DEFAULT_ROLE).into();
        let is_brief = now.since(run.since) < RUN_STAFF_LIFE_MIN;
        match how {
            RunEnd::Stopped | RunEnd::StarterEnded => {}
            RunEnd::Completed if !is_brief => drop(self.staffing.pauses.remove(&role)),
            RunEnd::Completed | RunEnd::NotStarted(_) | RunEnd::GaveUp(_) | RunEnd::Crashed(_) => {
                self.staffing.fails(&role, now);
            }
        }
    }

    /// Somebody stopped its agent: it is not replaced at once.
    pub(super) fn staff_stopped(&mut self, run: RunId, now: Timestamp) {
        let Some(run) = self.get(run).filter(|run| run.spec.staffed) else { return };
        let role: Box<str> = run.spec.role.as_deref().unwrap_or(DEFAULT_ROLE).into();
        let pause = self.staffing.pauses.entry(role).or_default();
        pause.until = pause.until.max(now.plus(RUN_STAFF_HOLD));
    }
}
