//! Creates a team.

use comity_core::redact::redact;
use comity_core::teams::TeamAsk;
use comity_core::{Ask, Event, World};

use super::TeamView;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Create a team that you lead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTeam {
    /// What to call the team
    #[serde(alias = "team_name")]
    pub name: String,
    /// What it is for
    #[serde(alias = "description")]
    pub purpose: Option<String>,
}

impl Operation for CreateTeam {
    type Output = TeamView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<TeamView>, Failure> {
        let purpose = self.purpose.map(|purpose| redact(purpose.trim()).into());
        let ask = TeamAsk::Create { name: self.name.as_str().into(), purpose };
        let finish = move |_: &[Event], world: &World, _| TeamView::of(&self.name, world);
        Ok(Plan::change(vec![Ask::Team(ask)], finish))
    }
}
