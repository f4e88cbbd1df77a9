//! Connects a process to the agent program that it belongs to.

use std::fmt;

use clap::Args;
use comity_core::agents::Profile;
use comity_core::{Ask, Principal, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::processes;

/// Connects a process of an agent program to its agent, which is registered if it is new: what comity mcp does at its start.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// The name it would like, such as claude; a number is added if somebody has it
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The agent program's process: an ancestor of the caller
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The session id that the program gave itself
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The agent that the process belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Attached {
    /// Its id.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// A token for this process.
    pub token: String,
    /// Whether the agent was registered just now.
    pub new: bool,
}

impl Operation for Attach {
    const NAME: &'static str = "agent_attach";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::Internal;
    const ROUTE: Route = Route { method: "POST", path: "/api/agents/attach" };
    const COMMAND: &'static [&'static str] = &["agent", "attach"];
    type Output = Attached;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Attached>, Failure> {
        let (new_agent, token) = app.new_identity(caller)?;
        let world = app.engine().world();
        let (asks, agent, name) = match caller.who {
            // The door has found the agent by its token or by the process tree: one more process of the same.
            Principal::Agent(agent) => {
                let name = world.name_of(caller.who);
                (vec![Ask::AddToken { agent, token: token.hash() }], agent, name)
            }
            Principal::Human | Principal::System => {
                let agent = new_agent;
                let name = free_name(&world, &self.name);
                // Only an ancestor of the caller can be the program that it belongs to.
                let process = self.pid.and_then(|pid| {
                    caller.process.filter(|caller| processes::is_ancestor(pid, caller.pid))?;
                    processes::identify(pid)
                });
                let profile = Box::new(Profile {
                    name: name.as_str().into(),
                    cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
                    process,
                    session: self.session.as_deref().map(Into::into),
                    ..Profile::default()
                });
                (vec![Ask::Attach { agent, token: token.hash(), profile }], agent, name)
            }
        };
        let new = agent == new_agent;
        let finish = Box::new(move |_: &[_], _: &_, _| Attached {
            new,
            agent: agent.to_string(),
            name,
            token: token.reveal().to_owned(),
        });
        Ok(Plan::Change { asks, finish })
    }
}

/// The wished name, with a number if somebody has it.
pub(crate) fn free_name(world: &World, wished: &str) -> String {
    let plain: String = wished
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .skip_while(|c| !c.is_ascii_alphanumeric())
        .take(40)
        .collect();
    let plain = if plain.is_empty() { "agent".to_owned() } else { plain };
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.clone())
        .chain(numbered)
        .find(|name| world.agents.find(name).is_err())
        .unwrap_or(plain)
}

impl fmt::Display for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.agent)
    }
}
