//! Registers an agent.

use std::fmt;

use clap::Args;
use comity_core::Ask;
use comity_core::agents::{Process, Profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Registers an agent and prints its id and its secret token. An agent that calls this becomes the new one's parent.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// A name that no other live agent has
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it is for: lead, developer, reviewer ...
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The team it works in
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The model it runs on
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its process: watched, and its end is the agent's end
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The session id that its program gave itself
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The new agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Joined {
    /// Its id.
    pub agent: String,
    /// Its name.
    pub name: String,
    /// Its secret: set COMITY_TOKEN to it. It is not shown again.
    pub token: String,
}

impl Operation for Join {
    const NAME: &'static str = "agent_join";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/agents" };
    const COMMAND: &'static [&'static str] = &["agent", "join"];
    type Output = Joined;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Joined>, Failure> {
        let process = self.pid.map(known_process).transpose()?;
        let (agent, token) = app.new_identity(caller)?;
        let boxed = |text: &Option<String>| text.as_deref().map(Into::into);
        let profile = Box::new(Profile {
            name: self.name.as_str().into(),
            role: boxed(&self.role),
            team: boxed(&self.team),
            parent: None,
            model: boxed(&self.model),
            cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
            process,
            session: boxed(&self.session),
        });
        let asks = vec![Ask::Join { agent, token: token.hash(), profile }];
        let name = self.name;
        let finish = Box::new(move |_: &[_], _: &_, _| Joined {
            agent: agent.to_string(),
            name,
            token: token.reveal().to_owned(),
        });
        Ok(Plan::Change { asks, finish })
    }
}

/// The process with this number, if it is there.
pub(super) fn known_process(pid: u32) -> Result<Process, Failure> {
    crate::processes::identify(pid).ok_or_else(|| {
        let hint = "give the number of a process that runs, or leave it out";
        comity_core::Refusal::bad_input(format!("there is no process {pid}"), hint).into()
    })
}

impl fmt::Display for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Joined { agent, name, token } = self;
        write!(f, "{name} is here as {agent}\nlet it call with: export COMITY_TOKEN={token}")
    }
}
