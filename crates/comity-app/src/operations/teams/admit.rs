//! Lets an agent into a team.

use std::fmt;

use comity_core::teams::TeamAsk;
use comity_core::{Ask, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Let an agent into a team, such as the one it asked for. For the team's leader, and for you.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Admit {
    /// Name of the agent
    pub agent: String,
    /// The team; the one it asked for if omitted
    pub team: Option<String>,
}

/// The agent is in the team.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Admitted {
    pub agent: String,
    pub team: String,
}

impl Operation for Admit {
    type Output = Admitted;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Admitted>, Failure> {
        let agent = app.engine().world().agents.find(&self.agent)?.id;
        let team = self.team.as_deref().map(Into::into);
        let name = self.agent;
        let finish = move |_: &[_], world: &World, _| {
            let team = world.agents.get(agent).and_then(|agent| agent.profile.team.as_deref());
            Admitted { agent: name, team: team.unwrap_or_default().to_owned() }
        };
        Ok(Plan::change(vec![Ask::Team(TeamAsk::Admit { agent, team })], finish))
    }
}

impl fmt::Display for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in the team {}", self.agent, self.team)
    }
}
