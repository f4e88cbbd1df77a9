//! Shows who is here.

use std::fmt;

use comity_core::agents::{Agent, Life};
use comity_core::{Millis, Principal, Timestamp, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Shows who is here, what for, and how many locks they hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAgents {
    /// Those that have ended too
    #[serde(default)]
    pub all: bool,
}

/// Who is here.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentList {
    /// By name.
    pub agents: Vec<AgentView>,
}

/// One agent, as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentView {
    /// Its id.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// starting, running, idle, completed, failed, terminated or exited.
    pub state: &'static str,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The name of the agent above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The model it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where it works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Since its last sign of life.
    pub seen_ms_ago: u64,
    /// Locks that it holds.
    pub locks: usize,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Whether this is the caller.
    pub you: bool,
}

impl Operation for ListAgents {
    type Output = AgentList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<AgentList>, Failure> {
        let now = app.engine().now();
        let world = app.engine().world();
        let shown = world.agents.iter().filter(|agent| self.all || agent.is_live());
        let mut agents: Vec<AgentView> = shown.map(|agent| view(agent, &world, now, caller)).collect();
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Plan::Answer(AgentList { agents }))
    }
}

fn view(agent: &Agent, world: &World, now: Timestamp, caller: &Caller) -> AgentView {
    let owned = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    let who = Principal::Agent(agent.id);
    AgentView {
        agent: agent.id.to_string(),
        name: agent.profile.name.to_string(),
        state: agent.life.word(),
        role: owned(&agent.profile.role),
        team: owned(&agent.profile.team),
        parent: agent.profile.parent.map(|parent| world.name_of(Principal::Agent(parent))),
        model: owned(&agent.profile.model),
        cwd: owned(&agent.profile.cwd),
        pid: agent.profile.process.map(|process| process.pid),
        seen_ms_ago: now.since(agent.seen).0,
        locks: world.locks.of(who).count(),
        cause: match &agent.life {
            Life::Ended { cause, .. } => Some(cause.to_string()),
            Life::Starting | Life::Running | Life::Idle => None,
        },
        you: caller.who == who,
    }
}

impl fmt::Display for AgentList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.agents.is_empty() {
            return f.write_str("no agent is here");
        }
        let lines: Vec<String> = self.agents.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for AgentView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = comity_core::display::visible;
        write!(f, "{}  {}", self.name, self.state)?;
        for (label, value) in
            [("", &self.role), ("team ", &self.team), ("below ", &self.parent), ("", &self.model)]
        {
            if let Some(value) = value {
                write!(f, "  {label}{}", shown(value))?;
            }
        }
        match self.locks {
            0 => {}
            1 => f.write_str("  1 lock")?,
            n => write!(f, "  {n} locks")?,
        }
        match &self.cause {
            Some(cause) => write!(f, "  ({})", shown(cause))?,
            None => write!(f, "  seen {} ago", Millis(self.seen_ms_ago))?,
        }
        if self.you { f.write_str("  (you)") } else { Ok(()) }
    }
}
