//! Makes a team.

use clap::Args;
use comity_core::redact::redact;
use comity_core::teams::TeamAsk;
use comity_core::{Ask, Event, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TeamView;
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};

/// Makes a team that you lead.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct CreateTeam {
    /// Its name
    #[arg(value_name = "NAME")]
    #[serde(alias = "team_name")]
    pub name: String,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "description")]
    pub purpose: Option<String>,
}

impl Operation for CreateTeam {
    const NAME: &'static str = "team_create";
    const TOOL: &'static str = "TeamCreate";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "POST", path: "/api/teams" };
    const COMMAND: &'static [&'static str] = &["team", "create"];
    type Output = TeamView;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<TeamView>, Failure> {
        let purpose = self.purpose.map(|purpose| redact(purpose.trim()).into());
        let ask = TeamAsk::Create { name: self.name.as_str().into(), purpose };
        let finish = Box::new(move |_: &[Event], world: &World, _| TeamView::of(&self.name, world));
        Ok(Plan::Change { asks: vec![Ask::Team(ask)], finish })
    }
}
