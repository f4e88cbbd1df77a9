//! Asks and events of runs.

use serde::{Deserialize, Serialize};

use super::{
    AgentRun, Reached, RunBackend, RunEnd, RunExit, RunId, RunSpec, RunState, Staffing, noted, rules,
    staffing, team,
};
use crate::agents::Process;
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal, TokenHash};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::time::Millis;
use crate::world::World;

/// Asks about runs.
#[derive(Clone, PartialEq, Debug)]
pub enum RunAsk {
    Want {
        spec: Box<RunSpec>,
    },
    WantTeam {
        leader: Box<RunSpec>,
        workers: Vec<RunSpec>,
    },
    /// Starts programs for ready tasks that nobody is free for, and ends those that are idle.
    Staff {
        staffing: Staffing,
    },
    /// Registers the agent of a program that is about to start.
    Start {
        run: RunId,
        agent: AgentId,
        token: TokenHash,
    },
    /// Tells that the program runs.
    Started {
        run: RunId,
        agent: AgentId,
        process: Process,
    },
    /// Tells that the program has ended, and that nothing of it is left.
    Exited {
        run: RunId,
        agent: AgentId,
        exit: RunExit,
    },
    /// Tells that a run ended with its server.
    Interrupt {
        run: RunId,
    },
    /// Ends the program, for good or to start it anew.
    End {
        run: RunId,
        force: bool,
        again: bool,
    },
    /// Starts a program again that is interrupted or over.
    Resume {
        run: RunId,
    },
    /// Reaches into a program that runs.
    Reach {
        run: RunId,
        how: Reached,
    },
    /// Tells that there was no pane for a program.
    FallBack {
        run: RunId,
        agent: AgentId,
        why: Box<str>,
    },
    /// Takes note of one that was given up.
    Note {
        run: RunId,
    },
    /// Tells what its client calls its conversation.
    KnowSession {
        agent: AgentId,
        session: Box<str>,
    },
}

/// What happened to runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RunEvent {
    Wanted {
        run: RunId,
        spec: Box<RunSpec>,
    },
    Starting {
        run: RunId,
        agent: AgentId,
        /// Whether it follows a crash.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        again: bool,
    },
    Started {
        run: RunId,
        agent: AgentId,
        process: Process,
    },
    EndWanted {
        run: RunId,
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        force: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        again: bool,
    },
    /// Its program has ended; what becomes of the run follows.
    Exited {
        run: RunId,
        agent: AgentId,
        exit: RunExit,
    },
    Retried {
        run: RunId,
        after: Millis,
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        crashed: bool,
    },
    Interrupted {
        run: RunId,
    },
    Resumed {
        run: RunId,
    },
    Reached {
        run: RunId,
        how: Reached,
    },
    /// Nothing is started for it any more.
    Over {
        run: RunId,
        how: RunEnd,
    },
    /// Somebody acknowledged its end.
    Noted {
        run: RunId,
    },
    /// Its client has a conversation that it can resume.
    SessionKnown {
        run: RunId,
        session: Box<str>,
    },
}

impl RunEvent {
    pub fn run(&self) -> RunId {
        match self {
            RunEvent::Wanted { run, .. }
            | RunEvent::Starting { run, .. }
            | RunEvent::Started { run, .. }
            | RunEvent::EndWanted { run, .. }
            | RunEvent::Exited { run, .. }
            | RunEvent::Retried { run, .. }
            | RunEvent::Interrupted { run }
            | RunEvent::Resumed { run }
            | RunEvent::Reached { run, .. }
            | RunEvent::Over { run, .. }
            | RunEvent::Noted { run }
            | RunEvent::FellBack { run, .. }
            | RunEvent::SessionKnown { run, .. } => *run,
        }
    }
}

impl FeatureAsk for RunAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let who = asker.who;
        let events = match self {
            RunAsk::Want { spec } => rules::want(world, asker, spec)?,
            RunAsk::WantTeam { leader, workers } => team::want(world, asker, leader, workers)?,
            RunAsk::Staff { staffing } => staffing::staff(world, who, staffing)?,
            RunAsk::Start { run, agent, token } => rules::start(world, who, *run, *agent, *token)?,
            RunAsk::Started { run, agent, process } => rules::started(world, who, *run, *agent, *process)?,
            RunAsk::Exited { run, agent, exit } => rules::exited(world, who, *run, *agent, exit)?,
            RunAsk::Interrupt { run } => rules::interrupt(world, who, *run)?,
            RunAsk::End { run, force, again } => rules::end(world, who, *run, *force, *again)?,
            RunAsk::Resume { run } => rules::resume(world, who, *run)?,
            RunAsk::Reach { run, how } => rules::reach(world, who, *run, *how)?,
            RunAsk::FallBack { run, agent, why } => noted::fall_back(world, who, *run, *agent, why)?,
            RunAsk::Note { run } => noted::note(world, who, *run)?,
            RunAsk::KnowSession { agent, session } => noted::know_session(world, who, *agent, session)?,
        };
        Ok(events.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            RunAsk::End { .. } => Some("stop an agent"),
            RunAsk::Reach { how: Reached::Interrupted, .. } => Some("interrupt an agent"),
            RunAsk::Reach { how: Reached::Attached, .. } => Some("attach to an agent"),
            // It decides who the agent is, and what it may do.
            RunAsk::Want { .. } | RunAsk::WantTeam { .. } | RunAsk::Resume { .. } => Some("start an agent"),
            RunAsk::Staff { .. }
            | RunAsk::FallBack { .. }
            | RunAsk::Note { .. }
            | RunAsk::KnowSession { .. }
            | RunAsk::Start { .. }
            | RunAsk::Started { .. }
            | RunAsk::Exited { .. }
            | RunAsk::Interrupt { .. } => None,
        }
    }

    fn is_work(&self) -> bool {
        matches!(
            self,
            RunAsk::Want { .. }
                | RunAsk::WantTeam { .. }
                | RunAsk::Note { .. }
                | RunAsk::End { .. }
                | RunAsk::Resume { .. }
                | RunAsk::Reach { .. }
        )
    }
}

event_types!(RunEvent {
    RunEvent::Wanted { .. } => durable("sub_agent_spawned", "run:wanted"),
    RunEvent::Starting { again: false, .. } => live("run_starting", "run:starting"),
    RunEvent::Starting { again: true, .. } => live("run_restarted", "agent:auto_restarted"),
    RunEvent::Started { .. } => live("run_started", "run:started"),
    RunEvent::EndWanted { .. } => durable("run_end_wanted", "run:end_wanted"),
    RunEvent::Exited { .. } => durable("run_exited", "run:exited"),
    RunEvent::Retried { .. } => durable("run_retried", "run:retried"),
    RunEvent::Interrupted { .. } => durable("run_interrupted", "run:interrupted"),
    RunEvent::Resumed { .. } => durable("run_resumed", "run:resumed"),
    RunEvent::Reached { how: Reached::Interrupted, .. } => live("turn_interrupted", "run:turn_interrupted"),
    RunEvent::Reached { how: Reached::Attached, .. } => live("run_attached", "run:attached"),
    RunEvent::Over { how: RunEnd::GaveUp(_), .. } => durable("run_over", "agent:restart_limit"),
    RunEvent::Over { .. } => durable("run_over", "run:over"),
    RunEvent::Noted { .. } => durable("run_noted", "run:noted"),
    RunEvent::FellBack { .. } => durable("run_fell_back", "run:fell_back"),
    RunEvent::SessionKnown { .. } => live("run_session_known", "run:session_known").housekeeping(),
});

impl FeatureEvent for RunEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        let now = world.now;
        match self {
            RunEvent::Wanted { run, spec } => {
                if spec.staffed {
                    world.runs.staffed(now);
                }
                world.runs.insert(AgentRun {
                    id: *run,
                    spec: (**spec).clone(),
                    by: record.by,
                    since: now,
                    state: RunState::Due(now),
                    crashes: 0,
                    last: None,
                    session: None,
                    noted: false,
                });
            }
            RunEvent::Starting { run, agent, .. } => world.runs.change(*run, |run| {
                (run.state, run.last) = (RunState::Starting(*agent), Some(*agent));
            }),
            RunEvent::Started { run, agent, process } => world.runs.change(*run, |run| {
                run.state = RunState::Running { agent: *agent, process: *process };
            }),
            RunEvent::EndWanted { run, force, again } => {
                if !again && record.by != Principal::System {
                    world.runs.staff_stopped(*run, now);
                }
                world.runs.change(*run, |run| {
                    if let Some(agent) = run.agent() {
                        run.state = RunState::Ending { agent, force: *force, again: *again };
                    }
                });
            }
            RunEvent::Exited { .. } | RunEvent::Reached { .. } => {}
            RunEvent::Retried { run, after, crashed } => world.runs.change(*run, |run| {
                run.crashes = if *crashed { run.crashes + 1 } else { 0 };
                run.state = RunState::Due(now.plus(*after));
            }),
            RunEvent::Interrupted { run } => {
                world.runs.change(*run, |run| run.state = RunState::Interrupted);
            }
            RunEvent::Resumed { run } => world.runs.change(*run, |run| {
                (run.state, run.crashes, run.noted) = (RunState::Due(now), 0, false);
            }),
            RunEvent::Noted { run } => world.runs.change(*run, |run| run.noted = true),
            RunEvent::FellBack { run, to, .. } => {
                world.runs.change(*run, |run| (run.spec.backend, run.spec.beside) = (*to, None));
            }
            RunEvent::SessionKnown { run, session } => {
                world.runs.change(*run, |run| run.session = Some(session.clone()));
            }
            RunEvent::Over { run, how } => {
                world.runs.staff_ended(*run, how, now);
                world.runs.over(*run, how.clone(), now);
            }
        }
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        let named = match self {
            RunEvent::Starting { agent, .. }
            | RunEvent::Started { agent, .. }
            | RunEvent::Exited { agent, .. } => Some(*agent),
            RunEvent::Wanted { .. }
            | RunEvent::EndWanted { .. }
            | RunEvent::Retried { .. }
            | RunEvent::Interrupted { .. }
            | RunEvent::Resumed { .. }
            | RunEvent::Reached { .. }
            | RunEvent::Noted { .. }
            | RunEvent::FellBack { .. }
            | RunEvent::SessionKnown { .. }
            | RunEvent::Over { .. } => None,
        };
        let run = before.and_then(|world| world.runs.get(self.run()));
        let known = run.into_iter().flat_map(|run| agents([run.by]).into_iter().chain(run.agent()));
        named.into_iter().chain(known).collect()
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        let name = telling
            .world
            .runs
            .get(self.run())
            .map_or_else(|| self.run().to_string(), |run| run.spec.name.to_string());
        match self {
            RunEvent::Wanted { spec, .. } if spec.staffed => {
                let task = spec.task.as_ref().map(|on| &*on.task).unwrap_or_default();
                format!(
                    "{} is wanted for {task}, which nobody is free for: {}",
                    spec.name,
                    spec.program.name()
                )
            }
            RunEvent::Wanted { spec, .. } => {
                let role = spec.role.as_deref().map(|role| format!(" as {role}")).unwrap_or_default();
                format!("{by} had {} started{role}: {}", spec.name, spec.program.name())
            }
            RunEvent::Starting { again: false, .. } => format!("{name} is being started"),
            RunEvent::Starting { again: true, .. } => format!("{name} is being started again"),
            RunEvent::Started { process, .. } => format!("{name} runs as process {}", process.pid),
            RunEvent::EndWanted { again: true, .. } => format!("{by} had {name} restarted"),
            RunEvent::EndWanted { force: true, .. } => format!("{by} had {name} stopped at once"),
            RunEvent::EndWanted { .. } => format!("{by} had {name} stopped"),
            RunEvent::Exited { exit, .. } => format!("the program of {name} ended: {exit}"),
            RunEvent::Retried { after, crashed: true, .. } => {
                format!("{name} crashed, and is started again in {after}")
            }
            RunEvent::Retried { .. } => format!("{name} is started again"),
            RunEvent::Interrupted { .. } => format!("{name} ended with its server"),
            RunEvent::Resumed { .. } => format!("{by} had {name} started again"),
            RunEvent::Reached { how: Reached::Interrupted, .. } => format!("{by} interrupted {name}"),
            RunEvent::Reached { how: Reached::Attached, .. } => format!("{by} attached to {name}"),
            RunEvent::Over { how, .. } => format!("{name}: {how}"),
            RunEvent::Noted { .. } => format!("{by} took note of the end of {name}"),
            RunEvent::SessionKnown { .. } => format!("{name} has a conversation that it can resume"),
        }
    }
}
