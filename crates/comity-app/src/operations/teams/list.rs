//! Shows the teams.

use std::collections::BTreeSet;
use std::fmt;

use comity_core::display::visible;
use comity_core::table::table;

use super::TeamView;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::teams::CreateTeam;

/// List the teams, who leads them and who is in them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTeams {}

/// Teams with their leaders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TeamList {
    /// By name.
    pub teams: Vec<TeamView>,
}

impl Operation for ListTeams {
    type Output = TeamList;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<TeamList>, Failure> {
        let world = app.engine().world();
        // Agents may be in a team that nobody created.
        let joined = world.agents.live().filter_map(|agent| agent.profile.team.as_deref());
        let names: BTreeSet<&str> = joined.chain(world.teams.keys().map(|name| &**name)).collect();
        let teams = names.into_iter().map(|name| TeamView::of(name, &world)).collect();
        Ok(Plan::Answer(TeamList { teams }))
    }
}

impl fmt::Display for TeamList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.teams.is_empty() {
            return f.write_str(&format!(
                "there is no team; make one with: {}",
                next_call::<CreateTeam>([("name", "NAME".into())])
            ));
        }
        let row = |team: &TeamView| {
            let members: Vec<&str> = team.members.iter().map(|member| &*member.name).collect();
            let purpose = team.purpose.as_deref().map(visible).unwrap_or_default().into_owned();
            vec![team.name.clone(), team.lead.clone().unwrap_or_default(), members.join(", "), purpose]
        };
        let rows: Vec<Vec<String>> = self.teams.iter().map(row).collect();
        f.write_str(&table(&["TEAM", "LEADER", "MEMBERS", "PURPOSE"], &rows))
    }
}
