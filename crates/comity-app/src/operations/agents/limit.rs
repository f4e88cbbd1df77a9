//! Shows or sets how many agents may be here.

use std::fmt;

use comity_core::agents::AgentAsk;
use comity_core::{Ask, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Show or set how many agents may be here at a time, from 1 to 20. Only people set it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentLimit {
    /// How many; shown if omitted
    pub max: Option<usize>,
}

/// The limit on agents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Limit {
    /// How many may be here; nobody is counted, if there is none.
    pub max: Option<usize>,
    pub agents: usize,
}

impl Operation for AgentLimit {
    type Output = Limit;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Limit>, Failure> {
        match self.max {
            None => Ok(Plan::Answer(Limit::of(&app.engine().world()))),
            Some(max) => {
                Ok(Plan::change(vec![Ask::Agent(AgentAsk::Limit { max })], |_, world, _| Limit::of(world)))
            }
        }
    }
}

impl Limit {
    fn of(world: &World) -> Limit {
        Limit { max: world.agents.limit.max(), agents: world.agents.live().count() }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max {
            Some(max) => write!(f, "{} of {max} agents are here", self.agents),
            None => write!(f, "{} agents are here, without a limit", self.agents),
        }
    }
}
