//! What the model makes of programs that Comity runs.

use std::collections::BTreeSet;

use comity_core::limits::{RUN_RESTART_AFTER, RUN_RESTARTS_MAX, RUN_STAFF_PER_MINUTE};
use comity_core::runs::{AgentRun, RunEnd, RunEvent, RunId, RunProgram, RunSpec, RunState};
use comity_core::{AgentId, Millis, Principal, Record, Timestamp, World};

use super::{Found, Oracle};

/// A run as the model sees it.
#[derive(Debug)]
pub(crate) struct ModelRun {
    pub(crate) name: Box<str>,
    pub(crate) by: Principal,
    program: RunProgram,
    pub(crate) phase: RunPhase,
    crashes: u32,
    task: Option<Box<str>>,
    leader: Option<RunId>,
    staffed: bool,
    falls: u32,
    wanted_at: Timestamp,
    /// The agents of its starts.
    agents: Vec<AgentId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunPhase {
    Due(Timestamp),
    Starting(AgentId),
    Running(AgentId),
    /// Its program is to end, by force or not.
    Ending(AgentId, bool),
    Interrupted,
    Over,
}

impl RunPhase {
    pub(crate) fn agent(self) -> Option<AgentId> {
        match self {
            RunPhase::Starting(agent) | RunPhase::Running(agent) | RunPhase::Ending(agent, _) => Some(agent),
            RunPhase::Due(_) | RunPhase::Interrupted | RunPhase::Over => None,
        }
    }

    fn of(run: &AgentRun) -> RunPhase {
        match run.state {
            RunState::Due(at) => RunPhase::Due(at),
            RunState::Starting(agent) => RunPhase::Starting(agent),
            RunState::Running { agent, .. } => RunPhase::Running(agent),
            RunState::Ending { agent, force, .. } => RunPhase::Ending(agent, force),
            RunState::Interrupted => RunPhase::Interrupted,
            RunState::Over { .. } => RunPhase::Over,
        }
    }
}

impl Oracle {
    pub(super) fn observe_run(&mut self, record: &Record, event: &RunEvent) -> Found {
        let now = self.now;
        match event {
            RunEvent::Wanted { run, spec } => {
                let is_next = self.runs.keys().next_back().is_none_or(|last| last < run);
                let mut active = self.runs.values().filter(|run| run.phase != RunPhase::Over);
                if !is_next || active.any(|other| other.name == spec.name) {
                    return Err(format!("{run} is wanted as {}, which is taken", spec.name));
                }
                let may_want = match record.by {
                    Principal::Human => !spec.staffed,
                    Principal::Agent(agent) => self.is_lead(agent) && !spec.staffed,
                    Principal::System => spec.staffed,
                    Principal::Nobody => false,
                };
                let is_known = |command: &RunProgram| {
                    self.runs.values().any(|run| run.by == Principal::Human && run.program == *command)
                };
                let is_free = matches!(record.by, Principal::Agent(_))
                    && matches!(spec.program, RunProgram::Command(_))
                    && !is_known(&spec.program);
                if !may_want || is_free {
                    return Err(format!("{} may not have a program started", record.by));
                }
                if spec.staffed {
                    self.check_staffing(spec, now)?;
                }
                let (name, by) = (spec.name.clone(), record.by);
                let (phase, task) = (RunPhase::Due(now), spec.task.as_ref().map(|on| on.task.clone()));
                let (leader, staffed, agents) = (spec.leader, spec.staffed, Vec::new());
                let program = spec.program.clone();
                let model = ModelRun {
                    name,
                    by,
                    program,
                    phase,
                    crashes: 0,
                    task,
                    leader,
                    staffed,
                    falls: 0,
                    wanted_at: now,
                    agents,
                };
                self.runs.insert(*run, model);
                Ok(())
            }
            RunEvent::Starting { run, agent, again } => {
                let (name, parent) =
                    self.kin.get(agent).map(|kin| (kin.name.clone(), kin.parent)).unwrap_or_default();
                let above = self.above_run(*run)?;
                let model = self.model(*run)?;
                let is_due = matches!(model.phase, RunPhase::Due(at) if at <= now);
                if !is_due || *again != (model.crashes > 0) {
                    return Err(format!("{run} starts, and is {:?}", model.phase));
                }
                if name != model.name || parent != above {
                    return Err(format!("{agent} is not the agent that {run} is to be"));
                }
                model.phase = RunPhase::Starting(*agent);
                model.agents.push(*agent);
                Ok(())
            }
            RunEvent::Started { run, agent, .. } => {
                let model = self.model(*run)?;
                if model.phase != RunPhase::Starting(*agent) {
                    return Err(format!("{run} has started, and is {:?}", model.phase));
                }
                model.phase = RunPhase::Running(*agent);
                Ok(())
            }
            RunEvent::EndWanted { run, force, .. } => {
                let model = self.model(*run)?;
                let agent = model.phase.agent().ok_or_else(|| format!("{run} ends, and nothing runs"))?;
                model.phase = RunPhase::Ending(agent, *force);
                Ok(())
            }
            RunEvent::Exited { run, agent, .. } => {
                if self.model(*run)?.phase.agent() != Some(*agent) {
                    return Err(format!("{agent} of {run} exited a second time"));
                }
                self.run_ended.remove(agent);
                match self.is_alive(Principal::Agent(*agent)) {
                    true => Err(format!("{agent} lives on without its program")),
                    false => Ok(()),
                }
            }
            RunEvent::Retried { run, after, crashed } => {
                let model = self.model(*run)?;
                model.crashes = if *crashed { model.crashes + 1 } else { 0 };
                if model.crashes > RUN_RESTARTS_MAX || (*crashed && *after != RUN_RESTART_AFTER) {
                    return Err(format!("{run} comes back for the {}th time after {after}", model.crashes));
                }
                model.phase = RunPhase::Due(now.plus(*after));
                Ok(())
            }
            RunEvent::Interrupted { run } => {
                let model = self.model(*run)?;
                if let Some(agent) = model.phase.agent() {
                    self.run_ended.remove(&agent);
                }
                self.model(*run)?.phase = RunPhase::Interrupted;
                Ok(())
            }
            RunEvent::Resumed { run } => {
                let model = self.model(*run)?;
                if !matches!(model.phase, RunPhase::Interrupted | RunPhase::Over) {
                    return Err(format!("{run} is resumed, and is {:?}", model.phase));
                }
                (model.phase, model.crashes) = (RunPhase::Due(now), 0);
                Ok(())
            }
            RunEvent::Reached { run, .. } => match self.model(*run)?.phase {
                RunPhase::Running(_) => Ok(()),
                phase => Err(format!("{run} is reached, and is {phase:?}")),
            },
            RunEvent::Over { run, how } => {
                let model = self.model(*run)?;
                if model.phase == RunPhase::Over {
                    return Err(format!("{run} is over twice"));
                }
                if matches!(how, RunEnd::GaveUp(_)) && model.crashes < RUN_RESTARTS_MAX {
                    return Err(format!("{run} is given up after {} crashes", model.crashes));
                }
                if let Some(agent) = model.phase.agent() {
                    self.run_ended.remove(&agent);
                }
                self.model(*run)?.phase = RunPhase::Over;
                Ok(())
            }
            RunEvent::FellBack { run, .. } => {
                let model = self.model(*run)?;
                model.falls += 1;
                // From the user's window to a session of our own, and from there to no pane at all.
                match model.phase.agent().is_some() && model.falls <= 2 {
                    true => Ok(()),
                    false => Err(format!("{run} runs in another way for the {}th time", model.falls)),
                }
            }
            RunEvent::SessionKnown { run, session } => {
                let has_agent = self.model(*run)?.phase.agent().is_some();
                if has_agent { Ok(()) } else { Err(format!("{run} has the session {session} and no agent")) }
            }
            RunEvent::Noted { run } => match self.model(*run)?.phase {
                RunPhase::Over => Ok(()),
                phase => Err(format!("somebody took note of the end of {run}, which is {phase:?}")),
            },
        }
    }

    /// Who is to be above the agent of a run: whoever wanted it, or the agent that its leader's run has.
    fn above_run(&self, run: RunId) -> Result<Option<AgentId>, String> {
        let model = self.runs.get(&run).ok_or_else(|| format!("{run} is unknown"))?;
        let Some(leader) = model.leader else { return Ok(model.by.agent()) };
        match self.runs.get(&leader).map(|leader| leader.phase) {
            Some(RunPhase::Running(agent)) if self.is_alive(Principal::Agent(agent)) => Ok(Some(agent)),
            phase => Err(format!("{run} starts, and its leader is {phase:?}")),
        }
    }

    /// Nobody else is on the way for the task, and not too many were started for tasks in the last minute.
    fn check_staffing(&self, spec: &RunSpec, now: Timestamp) -> Found {
        let task = spec.task.as_ref().map(|on| &on.task);
        let comes = |run: &&ModelRun| matches!(run.phase, RunPhase::Due(_) | RunPhase::Starting(_));
        if task.is_none() || self.runs.values().filter(comes).any(|run| run.task.as_ref() == task) {
            return Err(format!("{} is started for {task:?}", spec.name));
        }
        let is_recent = |run: &&ModelRun| run.staffed && now < run.wanted_at.plus(Millis::minutes(1));
        match self.runs.values().filter(is_recent).count() {
            recent if recent < RUN_STAFF_PER_MINUTE => Ok(()),
            recent => Err(format!("{recent} agents were started for tasks within a minute")),
        }
    }

    /// Whether an agent was started in the place of another one.
    pub(super) fn comes_after(&self, agent: AgentId, before: AgentId) -> bool {
        let place = |run: &ModelRun, agent| run.agents.iter().position(|other| *other == agent);
        // The start itself is told after what it passes on.
        self.runs.values().any(|run| place(run, before) < place(run, agent) && place(run, before).is_some())
    }

    fn model(&mut self, run: RunId) -> Result<&mut ModelRun, String> {
        self.runs.get_mut(&run).ok_or_else(|| format!("{run} is unknown"))
    }

    /// Whether an agent is being started for this task.
    pub(super) fn was_started_for(&self, who: Principal, task: &str) -> bool {
        let is_it = |run: &ModelRun| {
            matches!(run.phase, RunPhase::Starting(agent) if Principal::Agent(agent) == who)
                && run.task.as_deref() == Some(task)
        };
        self.runs.values().any(is_it)
    }

    /// Whether an agent is the program of a run.
    pub(super) fn is_run(&self, agent: AgentId) -> bool {
        self.runs.values().any(|run| run.phase.agent() == Some(agent))
    }

    /// Of what Comity itself has ended it must say why; whoever is gone has no program that goes on.
    pub(super) fn agrees_on_runs(&self, world: &World) -> Found {
        if let Some(agent) = self.run_ended.first() {
            return Err(format!("Comity ended {agent}, and its program goes on"));
        }
        let known: BTreeSet<RunId> = world.runs.iter().map(|run| run.id).collect();
        for (id, model) in &self.runs {
            match world.runs.get(*id) {
                Some(run) if RunPhase::of(run) == model.phase && run.crashes == model.crashes => {}
                None if model.phase == RunPhase::Over => {}
                other => return Err(format!("{id} is {other:?}, not {model:?}")),
            }
            let is_waiting = matches!(model.phase, RunPhase::Due(_) | RunPhase::Interrupted);
            let is_led = match model.leader {
                Some(leader) => self.runs.get(&leader).is_some_and(|leader| leader.phase != RunPhase::Over),
                None => self.is_alive(model.by),
            };
            if is_waiting && !is_led {
                return Err(format!("{id} waits, and whoever wanted it has ended"));
            }
        }
        match known.iter().find(|id| !self.runs.contains_key(id)) {
            Some(id) => Err(format!("{id} comes from nowhere")),
            None => Ok(()),
        }
    }
}
