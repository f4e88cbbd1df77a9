//! Shows one team.

use clap::Args;
use comity_core::Refusal;
use comity_core::teams::members;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TeamView;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Shows one team: who leads it, who is in it, and what waits for them.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct ShowTeam {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: String,
}

impl Operation for ShowTeam {
    const NAME: &'static str = "team";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "GET", path: "/api/teams/{name}" };
    const COMMAND: &'static [&'static str] = &["team", "show"];
    type Output = TeamView;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<TeamView>, Failure> {
        let world = app.engine().world();
        if !world.teams.contains_key(self.name.as_str()) && members(&world, &self.name).next().is_none() {
            let problem = format!("there is no team {}", self.name);
            return Err(Refusal::NotFound { problem, hint: "see them with: comity team list".into() }.into());
        }
        Ok(Plan::Answer(TeamView::of(&self.name, &world)))
    }
}
