//! What can be asked about agents, and what can happen to them.

use serde::{Deserialize, Serialize};

use super::{Ending, Life, Process, Profile};
use crate::decide::AskResult;
use crate::event::{Event, Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, TokenHash};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::teams::leader_of;
use crate::world::World;

/// Asks about agents.
#[derive(Clone, PartialEq, Debug)]
pub enum AgentAsk {
    /// Registers an agent; the caller becomes its parent if the caller is an agent.
    Join {
        agent: AgentId,
        token: TokenHash,
        /// Its `parent` is ignored and set from the caller.
        profile: Box<Profile>,
    },
    /// Registers an agent that a person started without Comity: the limit on agents does not apply to it, and if its
    /// name is taken, it gets a number.
    Attach {
        agent: AgentId,
        token: TokenHash,
        profile: Box<Profile>,
    },
    /// Registers another agent of the program that the calling agent belongs to.
    AttachBeside {
        agent: AgentId,
        token: TokenHash,
        profile: Box<Profile>,
    },
    /// Renames an agent as its program was asked to.
    Name {
        agent: AgentId,
        name: Box<str>,
    },
    Limit {
        max: usize,
    },
    /// Gives a further process of a live agent a token of its own.
    AddToken {
        /// Proven by the kernel.
        agent: AgentId,
        token: TokenHash,
    },
    KnowProcess {
        agent: AgentId,
        process: Process,
    },
    Seen {
        agent: AgentId,
    },
    Idle {
        agent: AgentId,
        idle: bool,
    },
    Disconnect {
        agent: AgentId,
    },
    /// Ends an agent and all its descendants.
    End {
        agent: AgentId,
        ending: Ending,
        cause: Box<str>,
    },
}

/// What happened to agents.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentEvent {
    #[serde(rename = "agent_joined")]
    Joined { agent: AgentId, profile: Box<Profile>, token: TokenHash },
    #[serde(rename = "agent_named")]
    Named { agent: AgentId, name: Box<str> },
    #[serde(rename = "agents_limited")]
    Limited { max: usize },
    #[serde(rename = "agent_token_added")]
    TokenAdded { agent: AgentId, token: TokenHash },
    #[serde(rename = "agent_process_known")]
    ProcessKnown { agent: AgentId, process: Process },
    #[serde(rename = "agent_seen")]
    Seen { agent: AgentId },
    #[serde(rename = "agent_idled")]
    Idled { agent: AgentId, idle: bool },
    #[serde(rename = "agent_disconnected")]
    Disconnected { agent: AgentId },
    #[serde(rename = "agent_ended")]
    Ended { agent: AgentId, ending: Ending, cause: Box<str> },
}

impl FeatureAsk for AgentAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let who = asker.who;
        let living = |agent: &AgentId, event| world.agents.living(*agent).map(|_| vec![Event::Agent(event)]);
        let events = match self {
            AgentAsk::Join { agent, token, profile } => {
                super::check_limit(world)?;
                super::join(world, asker, *agent, *token, profile)?
            }
            AgentAsk::Attach { agent, token, profile } => {
                super::attach(world, asker, *agent, *token, profile)?
            }
            AgentAsk::AttachBeside { agent, token, profile } => {
                super::join_beside(world, asker, *agent, *token, profile)?
            }
            AgentAsk::Name { agent, name } => super::rename(world, who, *agent, name)?,
            AgentAsk::Limit { max } => super::limit(world, who, *max)?,
            AgentAsk::AddToken { agent, token } => super::add_token(world, *agent, *token)?,
            AgentAsk::KnowProcess { agent, process } => {
                living(agent, AgentEvent::ProcessKnown { agent: *agent, process: *process })?
            }
            AgentAsk::Seen { agent } => living(agent, AgentEvent::Seen { agent: *agent })?,
            AgentAsk::Idle { agent, idle } => match (&world.agents.living(*agent)?.life, idle) {
                (Life::Idle, true) | (Life::Running, false) => vec![],
                _ => living(agent, AgentEvent::Idled { agent: *agent, idle: *idle })?,
            },
            AgentAsk::Disconnect { agent } => living(agent, AgentEvent::Disconnected { agent: *agent })?,
            AgentAsk::End { agent, ending, cause } => super::end(world, who, *agent, *ending, cause)?,
        };
        Ok(events.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            AgentAsk::Limit { .. } => Some("change the limit on agents"),
            AgentAsk::End { .. } => Some("end an agent"),
            AgentAsk::Join { .. }
            | AgentAsk::Attach { .. }
            | AgentAsk::AttachBeside { .. }
            | AgentAsk::Name { .. }
            | AgentAsk::AddToken { .. }
            | AgentAsk::KnowProcess { .. }
            | AgentAsk::Seen { .. }
            | AgentAsk::Idle { .. }
            | AgentAsk::Disconnect { .. } => None,
        }
    }
}

event_types!(AgentEvent {
    AgentEvent::Joined { .. } => durable("agent_joined", "agent:joined"),
    AgentEvent::Named { .. } => durable("agent_named", "agent:named").housekeeping(),
    AgentEvent::Limited { .. } => durable("agents_limited", "agent:limit"),
    AgentEvent::TokenAdded { .. } => durable("agent_token_added", "agent:token_added").housekeeping(),
    AgentEvent::ProcessKnown { .. } => live("agent_process_known", "agent:process_known").housekeeping(),
    AgentEvent::Seen { .. } => live("agent_seen", "agent:seen").housekeeping(),
    AgentEvent::Idled { idle: true, .. } => live("agent_idle", "agent:idle"),
    AgentEvent::Idled { idle: false, .. } => live("agent_running", "agent:running").housekeeping(),
    AgentEvent::Disconnected { .. } => live("agent_disconnected", "agent:disconnected").housekeeping(),
    AgentEvent::Ended { ending: Ending::Failed, .. } => durable("agent_terminated", "agent:crashed"),
    AgentEvent::Ended { .. } => durable("agent_terminated", "agent:ended"),
});

impl FeatureEvent for AgentEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        super::apply::apply(world, record, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        let with =
            |agent: &AgentId, parent: Option<AgentId>| [Some(*agent), parent].into_iter().flatten().collect();
        match self {
            AgentEvent::Limited { .. } => vec![],
            AgentEvent::Joined { agent, profile, .. } => with(agent, profile.parent),
            AgentEvent::Named { agent, .. }
            | AgentEvent::TokenAdded { agent, .. }
            | AgentEvent::ProcessKnown { agent, .. }
            | AgentEvent::Seen { agent }
            | AgentEvent::Idled { agent, .. }
            | AgentEvent::Disconnected { agent } => vec![*agent],
            AgentEvent::Ended { agent, .. } => {
                let leader = |world: &World| {
                    let parent = world.agents.get(*agent)?.profile.parent;
                    leader_of(world, *agent).agent().or(parent)
                };
                with(agent, before.and_then(leader))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let name = |agent: &AgentId| telling.agent(*agent);
        match self {
            AgentEvent::Joined { profile, .. } => match &profile.role {
                Some(role) => format!("{} joined as {role}", profile.name),
                None => format!("{} joined", profile.name),
            },
            AgentEvent::Named { agent, name } => format!("{agent} is now called {name}"),
            AgentEvent::Limited { max } => format!("{} set the agent limit to {max}", telling.by()),
            AgentEvent::TokenAdded { agent, .. } => format!("{} connected another process", name(agent)),
            AgentEvent::ProcessKnown { agent, process } => {
                format!("{} is process {}", name(agent), process.pid)
            }
            AgentEvent::Seen { agent } => format!("{} is alive", name(agent)),
            AgentEvent::Idled { agent, idle: true } => format!("{} went idle", name(agent)),
            AgentEvent::Idled { agent, idle: false } => format!("{} went back to work", name(agent)),
            AgentEvent::Disconnected { agent } => format!("{} lost its connection", name(agent)),
            AgentEvent::Ended { agent, ending, cause } => {
                format!("{} {}: {cause}", name(agent), ending.word())
            }
        }
    }
}
