//! Deletes a team.

use std::fmt;

use comity_core::Ask;
use comity_core::teams::TeamAsk;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Delete a team you lead, once nobody else is in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteTeam {
    /// Name of the team
    #[serde(alias = "team_name")]
    pub name: String,
}

/// The team that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedTeam {
    pub name: String,
}

impl Operation for DeleteTeam {
    type Output = DeletedTeam;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<DeletedTeam>, Failure> {
        let asks = vec![Ask::Team(TeamAsk::Delete { name: self.name.as_str().into() })];
        Ok(Plan::change(asks, move |_, _, _| DeletedTeam { name: self.name }))
    }
}

impl fmt::Display for DeletedTeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deleted the team {}", self.name)
    }
}
