//! The rules of runs: who may start and stop programs, and what follows from their ends.

use super::{
    AgentRun, AgentRuns, Reached, RunBackend, RunEnd, RunEvent, RunExit, RunId, RunProgram, RunSpec,
    RunState, team,
};
use crate::agents::{self, AgentEvent, Ending, Life, Process, Profile};
use crate::calls;
use crate::checks::only_comity;
use crate::event::Event;
use crate::features::FollowUp;
use crate::ids::{AgentId, Principal, TokenHash};
use crate::limits::{
    PROFILE_BYTES_MAX, RUN_RESTART_AFTER, RUN_RESTARTS_MAX, RUN_TEXT_BYTES_MAX, RUNS_OVER_MAX,
};
use crate::next_call::call;
use crate::people::Asker;
use crate::permissions::{PermissionEvent, mode_of_role};
use crate::refusal::Refusal;
use crate::roles::{Mode, Right, may};
use crate::tasks::{self, TaskState};
use crate::teams::leads;
use crate::time::{Millis, Timestamp};
use crate::worktrees;
use crate::world::World;

/// What follows when an agent ends that ran in a run, or had started one.
pub(crate) const FOLLOW_UP: FollowUp = FollowUp {
    follows: |event| matches!(event, Event::Agent(AgentEvent::Ended { .. }) | Event::Run(_)),
    next: |world| {
        world.runs.active().find_map(|run| left_alone(world, run)).map(|event| vec![Event::Run(event)])
    },
};

pub(super) fn want(world: &World, asker: &Asker, spec: &RunSpec) -> Result<Vec<Event>, Refusal> {
    check_wanted(world, asker, spec)?;
    agents::check_limit_with(world, world.runs.awaited())?;
    let run = RunId(world.runs.last.0 + 1);
    let spec = Box::new(team::led_by_run_of(world, asker.who, spec));
    Ok(vec![Event::Run(RunEvent::Wanted { run, spec })])
}

pub(super) fn check_wanted(world: &World, asker: &Asker, spec: &RunSpec) -> Result<(), Refusal> {
    may(world, asker.who, Right::StartAgents)?;
    check_spec(spec)?;
    may_run(world, asker.who, &spec.program)?;
    spec.role.as_deref().map_or(Ok(()), |role| world.roles.must_know(role))?;
    agents::check_agent_name(world, &spec.name)?;
    if let Some(run) = world.runs.active().find(|run| run.spec.name == spec.name) {
        return Err(Refusal::bad_input(
            format!("{} is {} already, as {}", spec.name, run.state, run.id),
            "choose another name",
        ));
    }
    if !agents::may_bring_into(world, asker, spec.team.as_deref()) {
        return Err(Refusal::NotAllowed {
            problem: format!("the team {} is led by somebody else", spec.team.as_deref().unwrap_or_default()),
            hint: "leave the team out, or ask its leader".into(),
        });
    }
    match &spec.task {
        Some(on) => tasks::must_be_open(world, on),
        None => Ok(()),
    }
}

/// Clients ask before they write. A command asks nobody, so an agent starts none that a person has not started before.
fn may_run(world: &World, who: Principal, program: &RunProgram) -> Result<(), Refusal> {
    let is_known = || world.runs.iter().any(|run| run.by == Principal::Human && run.spec.program == *program);
    match (who, program) {
        (Principal::Agent(_), RunProgram::Command(_)) if !is_known() => Err(Refusal::NotAllowed {
            problem: "an agent may start clients by name, and only those commands that a person has started"
                .into(),
            hint: "name a client, such as claude or codex, or ask the person to start the command".into(),
        }),
        (
            Principal::Agent(_) | Principal::Human | Principal::System | Principal::Nobody,
            RunProgram::Client(_) | RunProgram::Command(_),
        ) => Ok(()),
    }
}

fn check_spec(spec: &RunSpec) -> Result<(), Refusal> {
    let is_empty = match &spec.program {
        RunProgram::Client(name) => name.is_empty(),
        RunProgram::Command(words) => words.first().is_none_or(|word| word.is_empty()),
    };
    if is_empty {
        return Err(Refusal::bad_input("there is no program to start", "name a client or a command"));
    }
    if spec.text_commands && (spec.survives || spec.backend != RunBackend::Process) {
        return Err(Refusal::bad_input(
            "commands are read only from the output of a program that the server runs itself",
            "use the backend process, and do not let it survive",
        ));
    }
    if spec.leader.is_some() || spec.staffed {
        return Err(Refusal::bad_input("only Comity says who leads it", "leave that out"));
    }
    let words = match &spec.program {
        RunProgram::Client(name) => name.len(),
        RunProgram::Command(words) => words.iter().map(|word| word.len() + 1).sum(),
    };
    let texts = [
        ("command", words, RUN_TEXT_BYTES_MAX),
        ("prompt", spec.prompt.as_deref().map_or(0, str::len), RUN_TEXT_BYTES_MAX),
        ("directory", spec.cwd.len(), PROFILE_BYTES_MAX),
        ("model", spec.model.as_deref().map_or(0, str::len), PROFILE_BYTES_MAX),
    ];
    match texts.into_iter().find(|(_, bytes, max)| bytes > max) {
        Some((what, _, max)) => {
            Err(Refusal::bad_input(format!("the {what} is longer than {max} bytes"), "shorten it"))
        }
        None => Ok(()),
    }
}

/// Registers the agent of a due run, below whoever wanted it, and gives it the run's task.
pub(super) fn start(
    world: &World,
    who: Principal,
    run: RunId,
    agent: AgentId,
    token: TokenHash,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let run = known(world, run)?;
    match run.state {
        RunState::Due(at) if at <= world.now => {}
        _ => return Err(stale(run)),
    }
    let above = team::above(world, run).ok_or_else(|| stale(run))?;
    if team::waits_for_a_plan(world, run) {
        return Err(stale(run));
    }
    agents::check_limit(world)?;
    let spec = &run.spec;
    let profile = Profile {
        name: spec.name.clone(),
        role: spec.role.clone(),
        team: spec.team.clone(),
        model: spec.model.clone(),
        cwd: Some(spec.cwd.clone()),
        ..Profile::default()
    };
    let mut events = agents::join_below(world, above, agent, token, &profile)?;
    if spec.plan && mode_of_role(world, spec.role.as_deref()) != Mode::Plan {
        let set = PermissionEvent::ModeSet { agent, mode: Mode::Plan, by: run.by };
        events.push(Event::Permission(set));
    }
    events.push(Event::Run(RunEvent::Starting { run: run.id, agent, again: run.crashes > 0 }));
    let task = spec.task.as_ref().and_then(|on| tasks::given_to(world, on, agent));
    events.extend(task.map(Event::Task));
    events.extend(run.last.into_iter().flat_map(|last| worktrees::passed_on(world, last, agent)));
    Ok(events)
}

pub(super) fn started(
    world: &World,
    who: Principal,
    run: RunId,
    agent: AgentId,
    process: Process,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let run = known(world, run)?;
    if run.agent() != Some(agent) {
        return Err(stale(run));
    }
    let mut events = Vec::new();
    if world.agents.living(agent).is_ok() {
        events.push(Event::Agent(AgentEvent::ProcessKnown { agent, process }));
    }
    // If it is already to end, it is ended all the same.
    if run.state == RunState::Starting(agent) {
        events.push(Event::Run(RunEvent::Started { run: run.id, agent, process }));
    }
    Ok(events)
}

/// A program has ended: so does its agent, unless it has already, and the run is over or goes on.
pub(super) fn exited(
    world: &World,
    who: Principal,
    run: RunId,
    agent: AgentId,
    exit: &RunExit,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let run = known(world, run)?;
    // A repeated report, or one about an earlier start.
    if run.agent() != Some(agent) {
        return Ok(vec![]);
    }
    let next = match (&run.state, exit) {
        (RunState::Ending { again: true, .. }, _) => AfterExit::Again,
        (RunState::Ending { .. }, _) => AfterExit::Over(RunEnd::Stopped),
        (_, RunExit::Code(0)) => AfterExit::Over(RunEnd::Completed),
        (_, RunExit::NotStarted(why)) => AfterExit::Over(RunEnd::NotStarted(why.clone())),
        (_, _) if run.crashes >= RUN_RESTARTS_MAX => AfterExit::Over(RunEnd::GaveUp(exit.clone())),
        (_, _) if !has_work(world, run, agent) => AfterExit::Over(RunEnd::Crashed(exit.clone())),
        (_, _) => AfterExit::Retry,
    };
    let (ending, cause) = match &next {
        AfterExit::Over(RunEnd::Completed) => (Ending::Completed, "its program ended".to_owned()),
        AfterExit::Over(RunEnd::Stopped) | AfterExit::Again => {
            (Ending::Terminated, "it was stopped".to_owned())
        }
        AfterExit::Over(_) | AfterExit::Retry => (Ending::Failed, format!("its program crashed: {exit}")),
    };
    let mut events = Vec::new();
    if world.agents.living(agent).is_ok() {
        events.extend(agents::ending_events(world, agent, ending, &cause));
    }
    let id = run.id;
    events.push(Event::Run(RunEvent::Exited { run: id, agent, exit: exit.clone() }));
    events.push(Event::Run(match next {
        AfterExit::Over(how) => RunEvent::Over { run: id, how },
        AfterExit::Retry => RunEvent::Retried { run: id, after: RUN_RESTART_AFTER, crashed: true },
        AfterExit::Again => RunEvent::Retried { run: id, after: Millis(0), crashed: false },
    }));
    Ok(events)
}

/// Whether there is a reason to restart: an unfinished task, or, without a task, the prompt.
fn has_work(world: &World, run: &AgentRun, agent: AgentId) -> bool {
    let Some(on) = &run.spec.task else { return true };
    world.tasks.find(on).is_ok_and(|task| match task.state {
        TaskState::Open { .. } | TaskState::Running { .. } | TaskState::Paused { .. } => {
            task.state.owner().is_none_or(|owner| owner == Principal::Agent(agent))
        }
        TaskState::InReview { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Skipped { .. }
        | TaskState::Cancelled { .. } => false,
    })
}

enum AfterExit {
    Retry,
    Again,
    Over(RunEnd),
}

/// The server before this one ended, and the program with it.
pub(super) fn interrupt(world: &World, who: Principal, run: RunId) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    let run = known(world, run)?;
    let id = run.id;
    let next = match run.state {
        RunState::Over { .. } | RunState::Interrupted => return Ok(vec![]),
        RunState::Ending { again: false, .. } => RunEvent::Over { run: id, how: RunEnd::Stopped },
        RunState::Due(_) | RunState::Starting(_) | RunState::Running { .. } | RunState::Ending { .. } => {
            RunEvent::Interrupted { run: id }
        }
    };
    let ended = run.agent().filter(|agent| world.agents.living(*agent).is_ok());
    let ended = ended
        .map(|agent| agents::ending_events(world, agent, Ending::Terminated, "it ended with its server"));
    Ok(ended.into_iter().flatten().chain([Event::Run(next)]).collect())
}

pub(super) fn end(
    world: &World,
    who: Principal,
    run: RunId,
    force: bool,
    again: bool,
) -> Result<Vec<Event>, Refusal> {
    let run = known(world, run)?;
    may_steer(world, who, run)?;
    let id = run.id;
    let event = match &run.state {
        RunState::Over { .. } if again => return resume(world, who, id),
        RunState::Interrupted if again => return resume(world, who, id),
        RunState::Due(_) if again => return Ok(vec![]),
        RunState::Over { .. } => return Ok(vec![]),
        RunState::Due(_) | RunState::Interrupted => RunEvent::Over { run: id, how: RunEnd::Stopped },
        RunState::Ending { force: was, again: before, .. } if *was >= force && *before == again => {
            return Ok(vec![]);
        }
        RunState::Starting(_) | RunState::Running { .. } | RunState::Ending { .. } => {
            RunEvent::EndWanted { run: id, force, again }
        }
    };
    Ok(vec![Event::Run(event)])
}

pub(super) fn resume(world: &World, who: Principal, run: RunId) -> Result<Vec<Event>, Refusal> {
    let run = known(world, run)?;
    may_steer(world, who, run)?;
    if !matches!(run.state, RunState::Interrupted | RunState::Over { .. }) {
        return Ok(vec![]);
    }
    let name = &run.spec.name;
    let other = world.runs.active().find(|other| other.id != run.id && other.spec.name == *name);
    if other.is_some() {
        return Err(Refusal::bad_input(format!("another {name} is running"), "stop that one first"));
    }
    agents::check_limit_with(world, world.runs.awaited())?;
    Ok(vec![Event::Run(RunEvent::Resumed { run: run.id })])
}

pub(super) fn reach(world: &World, who: Principal, run: RunId, how: Reached) -> Result<Vec<Event>, Refusal> {
    let run = known(world, run)?;
    may_steer(world, who, run)?;
    match run.state {
        RunState::Running { .. } => Ok(vec![Event::Run(RunEvent::Reached { run: run.id, how })]),
        _ => Err(Refusal::bad_input(
            format!("{} isn't running: it is {}", run.spec.name, run.state),
            format!("start it with: {}", call(calls::RUN_RESTART, [("agent", (*run.spec.name).into())])),
        )),
    }
}

/// What becomes of a run whose agent has ended other than by its program, or whose starter has.
fn left_alone(world: &World, run: &AgentRun) -> Option<RunEvent> {
    let id = run.id;
    match run.state {
        RunState::Starting(agent) | RunState::Running { agent, .. } => {
            let over = match &world.agents.get(agent).map(|agent| &agent.life) {
                // Its process died; the end of its program is reported, too, and decides.
                Some(Life::Ended { ending: Ending::Failed, .. }) => false,
                Some(Life::Ended { .. }) | None => true,
                Some(Life::Starting | Life::Running | Life::Idle) => false,
            };
            let again = team::follows_its_leader(world, run);
            over.then_some(RunEvent::EndWanted { run: id, force: false, again })
        }
        RunState::Due(_) | RunState::Interrupted => {
            team::is_left(world, run).then_some(RunEvent::Over { run: id, how: RunEnd::StarterEnded })
        }
        RunState::Ending { .. } | RunState::Over { .. } => None,
    }
}

/// The human, whoever started the run, anybody above that one, and the leader of its agent.
pub fn may_steer(world: &World, who: Principal, run: &AgentRun) -> Result<(), Refusal> {
    let is_above = |who: AgentId| run.by.agent().is_some_and(|by| world.agents.is_ancestor(who, by));
    let leads_it = || {
        run.agent().is_some_and(|agent| leads(world, who, agent)) && may(world, who, Right::EndAgents).is_ok()
    };
    let may = match who {
        Principal::Human | Principal::System => true,
        Principal::Agent(agent) => {
            who == run.by || team::above(world, run) == Some(who) || is_above(agent) || leads_it()
        }
        Principal::Nobody => false,
    };
    match may {
        true => Ok(()),
        false => Err(Refusal::NotAllowed {
            problem: format!("{} was started by {}", run.spec.name, world.name_of(run.by)),
            hint: format!("ask {}", world.name_of(run.by)),
        }),
    }
}

pub(super) fn known(world: &World, run: RunId) -> Result<&AgentRun, Refusal> {
    world.runs.get(run).ok_or_else(|| Refusal::NotFound {
        problem: format!("there is no {run}"),
        hint: format!("see what Comity has started with: {}", call(calls::RUN_LIST, [])),
    })
}

fn stale(run: &AgentRun) -> Refusal {
    Refusal::bad_input(format!("{} is {}", run.spec.name, run.state), "nothing is to be done")
}

impl AgentRuns {
    pub(super) fn over(&mut self, run: RunId, how: RunEnd, at: Timestamp) {
        if let Some(mut run) = self.get(run).cloned() {
            run.state = RunState::Over { how, at };
            self.insert(run);
        }
    }
}

/// Names of active runs are unique, agents of running ones are known, and crashes within bounds.
pub(crate) fn check(world: &World) -> Result<(), String> {
    let mut names = std::collections::BTreeSet::new();
    for run in world.runs.iter() {
        let id = run.id;
        if !run.is_over() && !names.insert(&run.spec.name) {
            return Err(format!("two runs are called {}", run.spec.name));
        }
        if run.crashes > RUN_RESTARTS_MAX {
            return Err(format!("{id} was started again {} times", run.crashes));
        }
        if let Some(agent) = run.agent().and_then(|agent| world.agents.get(agent))
            && agent.is_live()
            && run.spec.leader.is_none()
            && agent.profile.parent != run.by.agent()
        {
            return Err(format!("the agent of {id} is not below who wanted it"));
        }
        if let Some(left) = left_alone(world, run) {
            return Err(format!("{id} is left alone: {left:?}"));
        }
    }
    match world.runs.iter().filter(|run| run.is_over()).count() > RUNS_OVER_MAX {
        true => Err("too many runs that are over are kept".into()),
        false => Ok(()),
    }
}
