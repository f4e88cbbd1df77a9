//! Shows one team.

use comity_core::Refusal;
use comity_core::teams::members;

use super::TeamView;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::teams::ListTeams;

/// Show one team: who leads it, who is in it, and what is waiting for them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowTeam {
    /// Name of the team
    pub name: String,
}

impl Operation for ShowTeam {
    type Output = TeamView;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<TeamView>, Failure> {
        let world = app.engine().world();
        if !world.teams.contains_key(self.name.as_str()) && members(&world, &self.name).next().is_none() {
            let problem = format!("there is no team {}", self.name);
            return Err(Refusal::NotFound {
                problem,
                hint: format!("see them with: {}", next_call::<ListTeams>([])),
            }
            .into());
        }
        Ok(Plan::Answer(TeamView::of(&self.name, &world)))
    }
}
