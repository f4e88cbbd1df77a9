//! Teams: make, end, look.

mod admit;
mod create;
mod delete;
mod list;
mod show;

use std::fmt;

use comity_core::agents::Agent;
use comity_core::calls;
use comity_core::display::visible;
use comity_core::teams::members;
use comity_core::{Principal, World};
use schemars::JsonSchema;
use serde::Serialize;

use crate::catalog::{CatalogEntry, DELETE, GET, Group, POST};
pub use admit::Admit;
pub use create::CreateTeam;
pub use delete::DeleteTeam;
pub use list::ListTeams;
pub use show::ShowTeam;

pub(crate) const GROUPS: &[Group] = &[("team", "A leader and its workers")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<CreateTeam>(calls::TEAM_CREATE, "team create <name>",        POST,   "/api/teams")       .changes().tool("TeamCreate").also(&["team add"]),
    CatalogEntry::of::<Admit>(     "team_admit",       "team admit <agent> <team>", POST,   "/api/teams/admit") .changes(),
    CatalogEntry::of::<DeleteTeam>(calls::TEAM_DELETE, "team delete <name>",        DELETE, "/api/teams/{name}").removes().tool("TeamDelete").also(&["team rm", "team remove"]),
    CatalogEntry::of::<ListTeams>( "teams",            "team list",                 GET,    "/api/teams").also(&["team ls"]),
    CatalogEntry::of::<ShowTeam>(  "team",             "team show <name>",          GET,    "/api/teams/{name}").also(&["team get"]),
];

/// One team, as it is shown.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TeamView {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lead: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    pub members: Vec<MemberView>,
}

/// One agent of a team.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemberView {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// starting, running or idle.
    pub state: &'static str,
    /// Letters that wait for it.
    pub mail: usize,
    pub locks: usize,
}

impl TeamView {
    fn of(name: &str, world: &World) -> TeamView {
        let team = world.teams.get(name);
        TeamView {
            name: name.to_owned(),
            lead: team.map(|team| world.name_of(team.lead)),
            purpose: team.and_then(|team| team.purpose.as_deref()).map(str::to_owned),
            members: members(world, name).map(|agent| MemberView::of(agent, world)).collect(),
        }
    }
}

impl MemberView {
    fn of(agent: &Agent, world: &World) -> MemberView {
        let who = Principal::Agent(agent.id);
        MemberView {
            name: agent.profile.name.to_string(),
            role: agent.profile.role.as_deref().map(str::to_owned),
            state: agent.life.word(),
            mail: world.mail.of(who).map_or(0, |mailbox| mailbox.letters()),
            locks: world.locks.of(who).count(),
        }
    }
}

impl fmt::Display for TeamView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(lead) = &self.lead {
            write!(f, "  led by {lead}")?;
        }
        if let Some(purpose) = &self.purpose {
            write!(f, "  {}", visible(purpose))?;
        }
        if self.members.is_empty() {
            f.write_str("\n  nobody is in it")?;
        }
        self.members.iter().try_for_each(|member| write!(f, "\n  {member}"))
    }
}

impl fmt::Display for MemberView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.name, self.state)?;
        if let Some(role) = &self.role {
            write!(f, "  {role}")?;
        }
        for (count, one, many) in [(self.mail, "letter", "letters"), (self.locks, "lock", "locks")] {
            match count {
                0 => {}
                1 => write!(f, "  1 {one}")?,
                n => write!(f, "  {n} {many}")?,
            }
        }
        Ok(())
    }
}
